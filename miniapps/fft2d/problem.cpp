#include "miniapps/fft2d/problem.hpp"

#include <algorithm>
#include <cmath>

namespace steelyard::fft2d {

double transform_flops(const Problem& problem) {
  const double flops = 5.0 * problem.points() * std::log2(std::max(1.0, problem.points()));
  return problem.real ? flops / 2.0 : flops;
}

}  // namespace steelyard::fft2d
