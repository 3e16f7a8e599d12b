// A program of somebody else's, which only wants to know how long work takes.

#include "models/kinds/constant_model.hpp"

int main() { return steelyard::models::ConstantModel(10.0).time_s(20.0) == 2.0 ? 0 : 1; }
