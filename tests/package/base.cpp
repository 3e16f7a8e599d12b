// A program of somebody else's, which reads and writes the suite's files.

#include <vector>

#include "core/base/statistics.hpp"

int main() { return steelyard::median(std::vector<double>{3.0, 1.0, 2.0}) == 2.0 ? 0 : 1; }
