// A program of somebody else's, which only wants to distribute work: it sees the installed headers and libraries.

#include <cstdio>
#include <vector>

#include "models/kinds/constant_model.hpp"
#include "partition/algorithms.hpp"

int main() {
  const steelyard::models::ConstantModel slow(10.0);
  const steelyard::models::ConstantModel fast(30.0);
  const std::vector<const steelyard::models::SpeedModel*> models{&slow, &fast};
  const auto distribution = steelyard::partition::find_algorithm("geometric").distribute(400, models);
  std::printf("%lld %lld\n", static_cast<long long>(distribution.units[0]),
              static_cast<long long>(distribution.units[1]));
  return distribution.units == std::vector<std::int64_t>{100, 300} ? 0 : 1;
}
