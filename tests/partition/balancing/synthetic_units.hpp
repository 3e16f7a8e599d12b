#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/base/statistics.hpp"
#include "models/speed_model.hpp"
#include "partition/algorithms.hpp"
#include "partition/balancing/calibration.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::tests {

/// A speed function given as a formula: the truth that balancing only sees measurements of.
class TrueSpeed : public models::SpeedModel {
 public:
  explicit TrueSpeed(std::function<double(double units)> speed) : SpeedModel(infinity), speed_(std::move(speed)) {}
  std::string kind() const override { return "truth"; }

 private:
  double fitted_speed(double units) const override { return speed_(units); }
  std::function<double(double)> speed_;
};

/// A random speed, over orders of magnitude, whose time grows with size: constant, as of a GPU that large sizes fill,
/// or as of a CPU whose cache small sizes fit.
inline std::unique_ptr<TrueSpeed> random_truth(Random& random, double most_units) {
  const double a = std::exp(uniform(random, 3.0, 7.0));
  const double b = uniform(random, 0.05, 0.5) * most_units;
  const double drop = uniform(random, 0.2, 2.0);
  switch (whole(random, 0, 2)) {
    case 0:
      return std::make_unique<TrueSpeed>([a](double) { return a; });
    case 1:
      return std::make_unique<TrueSpeed>([a, b](double x) { return x > 0 ? a * -std::expm1(-x / b) : a * 1e-9; });
    default:
      return std::make_unique<TrueSpeed>([a, b, drop](double x) { return a / (1.0 + drop * x / (x + b)); });
  }
}

/// Units with a true speed each, measured with noise: each point is the mean of several runs, with their interval.
struct SyntheticUnits : Units {
  double noise = 0.0;  ///< standard deviation of a run, as a share of its time
  int runs = 5;
  mutable Random random{7};
  mutable int measurements = 0;

  double run_s(std::size_t unit, std::int64_t units) const {
    const double exact_s = models[unit]->time_s(static_cast<double>(units));
    if (noise == 0.0) return exact_s;
    return exact_s * std::max(0.2, std::normal_distribution<double>(1.0, noise)(random));
  }

  models::MeasuredPoint point(std::size_t unit, std::int64_t units) const {
    if (units == 0) return {};
    std::vector<double> times_s;
    for (int run = 0; run < runs; ++run) times_s.push_back(run_s(unit, units));
    return {static_cast<double>(units), mean(times_s), runs,
            noise > 0.0 && runs > 1 ? confidence_half_width(times_s, 0.95) : 0.0};
  }

  partition::Measure measure() const {
    return [this](std::span<const std::int64_t> units) {
      ++measurements;
      std::vector<models::MeasuredPoint> points;
      for (std::size_t i = 0; i < units.size(); ++i) points.push_back(point(i, units[i]));
      return points;
    };
  }

  /// Without noise.
  double makespan_s(const std::vector<std::int64_t>& units) const {
    return partition::predict(units, models).makespan_s();
  }
  double least_makespan_s(std::int64_t total) const { return partition::geometric(total, models).makespan_s(); }
  /// The longest that one computation unit more takes on any of them, where the best distribution lies.
  double granularity_s(std::int64_t total) const {
    const std::vector<std::int64_t> best = partition::geometric(total, models).units;
    double longest_s = 0.0;
    for (std::size_t i = 0; i < best.size(); ++i) {
      const auto units = static_cast<double>(best[i]);
      longest_s = std::max(longest_s, models[i]->time_s(units + 1.0) - models[i]->time_s(units));
    }
    return longest_s;
  }
};

inline SyntheticUnits constant_units(const std::vector<double>& speeds) {
  SyntheticUnits units;
  for (const double speed : speeds) units.add(std::make_unique<models::ConstantModel>(speed));
  return units;
}

inline SyntheticUnits random_units(Random& random, int count, std::int64_t total) {
  SyntheticUnits units;
  for (int i = 0; i < count; ++i) units.add(random_truth(random, static_cast<double>(total)));
  return units;
}

/// Caches: the time grows faster than the size, by up to a factor of three.
inline SyntheticUnits cached_units(Random& random, int count, double total) {
  SyntheticUnits units;
  for (int i = 0; i < count; ++i) {
    const double a = std::exp(uniform(random, 3.0, 6.0)), drop = uniform(random, 0.0, 2.0);
    const double b = uniform(random, 0.05, 0.5) * total;
    units.add(std::make_unique<TrueSpeed>([=](double x) { return a / (1.0 + drop * x / (x + b)); }));
  }
  return units;
}

}  // namespace steelyard::tests
