#include "core/base/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"

namespace steelyard {

double percentage_difference(double a, double b) {
  if (!(std::isfinite(a) && std::isfinite(b) && a >= 0.0 && b >= 0.0 && a + b > 0.0)) {
    throw InvalidArgument(
        fmt::format("percentage difference of {} and {} (expected finite values >= 0, not both 0)", a, b));
  }
  // Halved first where the sum of large values could overflow; small ones would lose their last bit by it.
  const double scale = std::max(a, b) > 1.0 ? 0.5 : 1.0;
  return 200.0 * (std::abs(scale * a - scale * b) / (scale * a + scale * b));
}

double proportional_error(double measured, double estimated) {
  if (!(std::isfinite(measured) && std::isfinite(estimated) && measured > 0.0 && estimated > 0.0)) {
    throw InvalidArgument(
        fmt::format("proportional error of {} and {} (expected finite values > 0)", measured, estimated));
  }
  return std::max(measured, estimated) / std::min(measured, estimated);
}

std::string accuracy_text(double measured, double estimated) {
  const double mu = proportional_error(measured, estimated);
  return fmt::format("difference {:.1f} %, mu {:.2f}", percentage_difference(measured, estimated), mu);
}

}  // namespace steelyard
