#include "models/largest_size.hpp"

#include <cmath>
#include <vector>

#include "models/speed_model.hpp"

namespace steelyard::models {
namespace {

constexpr int parts = 32;
constexpr int most_bisections = 200;

/// Between a size that takes at most `time_s` and a larger one that takes longer.
double bisect(const SpeedModel& model, double time_s, double within, double beyond) {
  for (int i = 0; i < most_bisections; ++i) {
    const double middle = 0.5 * (within + beyond);
    if (!(middle > within && middle < beyond)) break;
    (model.time_s(middle) <= time_s ? within : beyond) = middle;
  }
  return within;
}

}  // namespace

double largest_size_within(const SpeedModel& model, double time_s, std::span<const double> breakpoints) {
  if (!(time_s > 0.0)) return 0.0;
  const double limit = model.max_units();
  if (std::isinf(time_s)) return limit;
  std::vector<double> ends{0.0};
  for (const double size : breakpoints) {
    if (size < limit) ends.push_back(size);
  }
  if (std::isfinite(limit)) {
    ends.push_back(limit);
    if (model.time_s(limit) <= time_s) return limit;
  } else if (model.time_s(ends.back()) <= time_s) {
    double beyond = ends.back() > 0.0 ? 2.0 * ends.back() : 1.0;
    double within = ends.back();
    while (model.time_s(beyond) <= time_s) {
      within = beyond;
      beyond *= 2.0;
      if (std::isinf(beyond)) return within;
    }
    return bisect(model, time_s, within, beyond);
  }
  for (std::size_t i = ends.size() - 1; i > 0; --i) {
    double beyond = ends[i];
    for (int part = parts - 1; part >= 0; --part) {
      const double within =
          part == 0 ? ends[i - 1] : std::lerp(ends[i - 1], ends[i], static_cast<double>(part) / parts);
      if (model.time_s(within) <= time_s) return bisect(model, time_s, within, beyond);
      beyond = within;
    }
  }
  return 0.0;
}

}  // namespace steelyard::models
