// A program of somebody else's, which only wants to distribute work: it sees the installed headers and libraries.
#include <vector>

#include "steelyard/core/base/statistics.hpp"
#include "steelyard/models/kinds/model_kinds.hpp"
#include "steelyard/partition/algorithms.hpp"

int main() {
  const steelyard::models::ConstantModel slow(10.0), fast(30.0);
  const std::vector<const steelyard::models::SpeedModel*> models{&slow, &fast};
  const auto distribution = steelyard::partition::find_algorithm("geometric").distribute(400, models);
  const double median = steelyard::median(std::vector<double>{3.0, 1.0, 2.0});
  return distribution.units == std::vector<std::int64_t>{100, 300} && median == 2.0 ? 0 : 1;
}
