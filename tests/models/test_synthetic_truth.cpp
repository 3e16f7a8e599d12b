// Points drawn from known speed functions with noise: what the models make of them, against the truth.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "core/base/statistics.hpp"
#include "models/kinds/model_kinds.hpp"
#include "models/size_selection.hpp"

namespace steelyard::test_synthetic_truth {

using namespace steelyard::models;

namespace {

using Speed = std::function<double(double units)>;
constexpr double noise = 0.05;
constexpr double smallest = 10.0;
constexpr double largest = 10000.0;

struct Truth {
  std::string kind;  ///< that can represent it
  Speed speed;
};

double ramp(double units) { return units < 3000.0 ? 400.0 : units < 5000.0 ? 400.0 - 0.1 * (units - 3000.0) : 200.0; }
double smooth(double units) { return 300.0 - 100.0 * std::tanh(std::log(units / 1500.0)); }

double sine_plateau(double units) { return units <= 4000.0 ? 900.0 * std::sin(units / 1800.0) : 480.0; }

double cubic(double units) {
  const double u = units / largest;
  return 200.0 + 900.0 * u - 1500.0 * u * u + 700.0 * u * u * u;
}

/// Runs of one size, each with its own noise, until Student's interval at 95 % is within `precision` of the mean.
MeasuredPoint measure(std::mt19937_64& random, const Speed& speed, double units, double precision) {
  std::normal_distribution<double> error(1.0, noise);
  std::vector<double> times;
  double half_width = 0.0;
  do {
    times.push_back(units / speed(units) * std::max(0.5, error(random)));
    half_width = times.size() > 2 ? confidence_half_width(times, 0.95) : times.front();
  } while (times.size() < 5 || half_width > precision * mean(times));
  return {units, mean(times), static_cast<int>(times.size()), half_width};
}

/// Share of the sizes from the first to the last point where the model's speed is within 2 % of the truth.
double share_within(const SpeedModel& model, const Speed& speed) {
  int within = 0;
  constexpr int sizes = 5000;
  for (int i = 0; i < sizes; ++i) {
    const double units = std::lerp(model.points().front().units, model.points().back().units, (i + 0.5) / sizes);
    within += std::abs(model.speed(units) / speed(units) - 1.0) <= 0.02 ? 1 : 0;
  }
  return static_cast<double>(within) / sizes;
}

}  // namespace

TEST_CASE("kinds that smooth find the truth within 2 % at 95 % of the sizes in single runs with 5 % noise") {
  const Truth truth = GENERATE(Truth{"constant", [](double) { return 250.0; }}, Truth{"polynomial", cubic},
                               Truth{"saturating", [](double x) { return 500.0 * -std::expm1(-x / 1200.0); }},
                               Truth{"sine_plateau", sine_plateau});
  std::mt19937_64 random(42);
  std::normal_distribution<double> error(1.0, noise);
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<MeasuredPoint> points;
    for (const std::int64_t size : linear_sizes(50, static_cast<std::int64_t>(largest), 400)) {
      const auto units = static_cast<double>(size);
      points.push_back({units, units / truth.speed(units) * std::max(0.5, error(random)), 1, 0.0});
    }
    const SpeedModelPtr model =
        find_model_kind(truth.kind).build(points, std::numeric_limits<double>::infinity(), FitOptions{});
    INFO(truth.kind << ", trial " << trial << ": " << share_within(*model, truth.speed));
    CHECK(share_within(*model, truth.speed) >= 0.95);
  }
}

TEST_CASE("kinds that pass through the points find it from measurements repeated until 1 % precise") {
  const Truth truth = GENERATE(Truth{"piecewise_linear", ramp}, Truth{"piecewise_linear", smooth}, Truth{"akima", ramp},
                               Truth{"akima", smooth}, Truth{"akima", cubic});
  std::mt19937_64 random(43);
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<MeasuredPoint> points;
    for (const std::int64_t size :
         geometric_sizes(static_cast<std::int64_t>(smallest), static_cast<std::int64_t>(largest), 60)) {
      points.push_back(measure(random, truth.speed, static_cast<double>(size), 0.01));
    }
    const SpeedModelPtr model =
        find_model_kind(truth.kind).build(points, std::numeric_limits<double>::infinity(), FitOptions{});
    INFO(truth.kind << ", trial " << trial << ": " << share_within(*model, truth.speed));
    CHECK(share_within(*model, truth.speed) >= 0.95);
  }
}

TEST_CASE("a table of measurements repeated until 1 % precise is within 2 % of the truth at 95 % of its sizes") {
  std::mt19937_64 random(44);
  std::vector<MeasuredPoint> points;
  for (const std::int64_t size : linear_sizes(10, 10000, 1000)) {
    points.push_back(measure(random, smooth, static_cast<double>(size), 0.01));
  }
  const SpeedModelPtr table = find_model_kind("table").build(points, largest, FitOptions{});
  int within = 0;
  for (const MeasuredPoint& point : points) {
    within += std::abs(table->speed(point.units) / smooth(point.units) - 1.0) <= 0.02 ? 1 : 0;
  }
  INFO(within << " of " << points.size());
  CHECK(within >= 950);
}

}  // namespace steelyard::test_synthetic_truth
