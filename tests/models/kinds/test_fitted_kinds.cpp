// Kinds whose parameters are fitted to all points: constant, saturating, sine and plateau, polynomial and shrunk.
#include <stdexcept>

#include "core/base/statistics.hpp"
#include "models/kinds/model_kinds.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_fitted_kinds {

using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr int measured_sizes = 40;

double parameter(const SpeedModel& model, const std::string& name) {
  for (const auto& [known, value] : model.parameters()) {
    if (known == name) return value;
  }
  throw std::out_of_range(name);
}

double saturating(double a, double b, double units) { return -a * std::expm1(-b * units); }

/// Sizes of equal ratio over what b x says most about: from 0.05 or so to 3 or so.
Points saturating_points(Random& random, double a, double b, int count, double noise = 0.0) {
  std::normal_distribution<double> error;
  Points points;
  const double first = uniform(random, 0.02, 0.1) / b;
  const double last = uniform(random, 2.0, 6.0) / b;
  for (int i = 0; i < count; ++i) {
    const double units = first * std::pow(last / first, static_cast<double>(i) / (count - 1));
    points.push_back({units, units / saturating(a, b, units) * (noise > 0.0 ? 1.0 + noise * error(random) : 1.0)});
  }
  return points;
}

struct Truth {
  double a, b, c, d;
  double speed(double units) const { return units <= c ? a * std::sin(units / b) : d; }
};

/// Angles at c from a quarter of a half wave to nearly all of it; a plateau that is clearly off the sine's end.
Truth random_truth(Random& random) {
  Truth truth{};
  truth.a = std::exp(uniform(random, -10.0, 20.0));
  truth.b = std::exp(uniform(random, -5.0, 15.0));
  truth.c = truth.b * uniform(random, 0.8, 2.7);
  const double end = truth.a * std::sin(truth.c / truth.b);
  truth.d = end * (whole(random, 0, 1) == 0 ? uniform(random, 0.3, 0.7) : uniform(random, 1.4, 2.0));
  return truth;
}

/// Equal steps up to twice c or so, at least five of them on the sine.
Points points_of(Random& random, const Truth& truth, int count) {
  const double last = truth.c * uniform(random, 1.3, 2.0);
  Points points;
  for (int i = 1; i <= count; ++i) {
    const double units = last * i / count;
    points.push_back({units, units / truth.speed(units)});
  }
  return points;
}

/// What the deviation of point i is relative to: its own speed, or where that is less than half of it, the median of as
/// many neighbours on either side.
long double weighted_by(const Points& points, std::size_t i) {
  const std::size_t beside = std::min({std::size_t{2}, i, points.size() - 1 - i});
  std::vector<double> speeds;
  for (std::size_t k = i - beside; k <= i + beside; ++k) speeds.push_back(points[k].speed());
  const double own = points[i].speed();
  return own < 0.5 * median(speeds) ? median(speeds) : own;
}

/// Weighted least squares of a polynomial in u from -1 to 1 by the normal equations, and its value at one more u.
long double fitted(const Points& points, int degree, double first, double last, double units) {
  const auto size = static_cast<std::size_t>(degree) + 1;
  const auto position = [&](double x) { return 2.0L * (x - first) / (last - first) - 1.0L; };
  std::vector<std::vector<long double>> rows(size, std::vector<long double>(size + 1, 0.0L));
  for (std::size_t point = 0; point < points.size(); ++point) {
    const long double weight = 1.0L / std::pow(weighted_by(points, point), 2.0L);
    std::vector<long double> powers{1.0L};
    while (powers.size() < size) powers.push_back(powers.back() * position(points[point].units));
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) rows[i][j] += powers[i] * powers[j] * weight;
      rows[i][size] += powers[i] * points[point].speed() * weight;
    }
  }
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t i = 0; i < size; ++i) {
      if (i == k) continue;
      const long double factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j <= size; ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  long double value = 0.0L;
  for (std::size_t k = 0; k < size; ++k) value += rows[k][size] / rows[k][k] * std::pow(position(units), k);
  return value;
}

/// Sum of the squared relative deviations of points left out, by fitting again without each.
double left_out_squares(const Points& points, int degree) {
  double sum = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Points others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const long double found = fitted(others, degree, points.front().units, points.back().units, points[i].units);
    const double deviation = static_cast<double>(found) / points[i].speed() - 1.0;
    sum += deviation * deviation;
  }
  return sum;
}

/// Points of a smooth speed, measured with normal deviations of this size as shares of the speed, which is what the
/// intervals say.
Points measured(Random& random, double noise) {
  std::normal_distribution<double> normal;
  Points points;
  for (int i = 1; i <= measured_sizes; ++i) {
    const double units = 10.0 * i;
    const double time_s = units / ((100.0 + 0.1 * units) * (1.0 + noise * normal(random)));
    points.push_back({units, time_s, 10, 1.96 * noise * time_s});
  }
  return points;
}

}  // namespace

TEST_CASE("a constant model has the speed of all the work over all the time, at every size up to its limit") {
  Random random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const Points points = random_points(random, whole(random, 1, 10), 100.0);
    double units = 0.0, time_s = 0.0;
    for (const MeasuredPoint& point : points) {
      units += point.units;
      time_s += point.time_s;
    }
    const ConstantModel of_points(points, 35.0), given(units / time_s, 35.0);
    for (const double size : {0.0, 1e-9, 20.0, 35.0}) {
      REQUIRE_THAT(of_points.speed(size), WithinRel(units / time_s, 1e-14));
      REQUIRE_THAT(given.time_s(size), WithinRel(of_points.time_s(size), 1e-14));
    }
    REQUIRE((of_points.max_units() == 35.0 && given.max_units() == 35.0));
  }
  for (const double bad : {0.0, -3.5, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CHECK_THROWS_AS(ConstantModel(bad), InvalidArgument);
  }
}

TEST_CASE("both parameters of a saturating speed are found without noise, whatever the scale") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const double a = std::exp(uniform(random, -20.0, 30.0));
    const double b = std::exp(uniform(random, -25.0, 5.0));
    const Points points = saturating_points(random, a, b, whole(random, 2, 40));
    const SaturatingModel model(points);
    INFO(points.size() << " points, a " << a << ", b " << b);
    REQUIRE_THAT(parameter(model, "a"), WithinRel(a, 1e-5));
    REQUIRE_THAT(parameter(model, "b"), WithinRel(b, 1e-5));
    REQUIRE(model.fit_error().largest < 1e-6);
  }
}

TEST_CASE("one point, equal speeds and falling ones make a constant") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    Points points = random_points(random, whole(random, 1, 20), 500.0);
    for (MeasuredPoint& point : points)
      point.time_s = point.units / (trial % 2 == 0 ? 250.0 : 500.0 - 0.2 * point.units);
    const SaturatingModel model(points);
    const double speed = model.speed(points.front().units);
    for (const double units : {points.back().units, 1e6}) REQUIRE_THAT(model.speed(units), WithinRel(speed, 1e-6));
    REQUIRE(speed <= points.front().speed() * (1.0 + 1e-9));
    REQUIRE(speed >= points.back().speed() * (1.0 - 1e-9));
  }
}

TEST_CASE("speeds in proportion to the size, or steeper, make a line through the origin up to the last point") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    Points points = random_points(random, whole(random, 2, 20), 500.0);
    for (MeasuredPoint& point : points) point.time_s = 0.25;
    const SaturatingModel model(points);
    REQUIRE(model.fit_error().largest < 1e-3);
    const double last = points.back().units;
    REQUIRE_THAT(model.speed(0.5 * last), WithinRel(0.5 * model.speed(last), 1e-3));
    for (MeasuredPoint& point : points) point.time_s = 1.0 / point.units;
    const SaturatingModel steeper(points);
    REQUIRE_THAT(steeper.speed(0.5 * last), WithinRel(0.5 * steeper.speed(last), 1e-3));
    // Even then more work takes more time, so that a share of it can be found.
    REQUIRE(steeper.time_s(1.01 * last) > steeper.time_s(last));
  }
}

TEST_CASE("no other parameters fit the points better by more than rounding") {
  Random random(6);
  for (int trial = 0; trial < 100; ++trial) {
    const Points points = saturating_points(random, 100.0, 0.01, 20, 0.2);
    const SaturatingModel model(points);
    const auto squares = [&](double a, double b) {
      double sum = 0.0;
      for (const MeasuredPoint& point : points) {
        const double deviation = saturating(a, b, point.units) / point.speed() - 1.0;
        sum += deviation * deviation;
      }
      return sum;
    };
    const double least = squares(parameter(model, "a"), parameter(model, "b"));
    for (int i = 0; i < 300; ++i) {
      const double spread = i % 2 == 0 ? 0.01 : 2.0;
      const double a = parameter(model, "a") * std::exp(uniform(random, -spread, spread));
      const double b = parameter(model, "b") * std::exp(uniform(random, -spread, spread));
      REQUIRE(squares(a, b) >= least * (1.0 - 1e-6));
    }
  }
}

TEST_CASE("all four parameters are found without noise, whatever the scale") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Truth truth = random_truth(random);
    const Points points = points_of(random, truth, whole(random, 12, 60));
    const SinePlateauModel model(points);
    INFO("trial " << trial << ": " << points.size() << " points, c/b " << truth.c / truth.b << ", d/a "
                  << truth.d / truth.a);
    // The last measured size on the sine is the best that c can be known.
    const auto beyond = std::ranges::upper_bound(points, truth.c, {}, &MeasuredPoint::units);
    REQUIRE(parameter(model, "c") == std::prev(beyond)->units);
    REQUIRE_THAT(parameter(model, "a"), WithinRel(truth.a, 1e-5));
    REQUIRE_THAT(parameter(model, "b"), WithinRel(truth.b, 1e-5));
    REQUIRE_THAT(parameter(model, "d"), WithinRel(truth.d, 1e-9));
    REQUIRE(model.fit_error().largest < 1e-5);
  }
}

TEST_CASE("one or two points, and equal speeds, make a sine and plateau a constant") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    Points points = random_points(random, whole(random, 1, 2), 500.0);
    const auto [least, most] = std::minmax({points.front().speed(), points.back().speed()});
    const SinePlateauModel few(points);
    for (const double units : {0.0, 1e-6, 100.0, 1e6}) REQUIRE(few.speed(units) == few.speed(1.0));
    REQUIRE((few.speed(1.0) >= least * (1.0 - 1e-12) && few.speed(1.0) <= most * (1.0 + 1e-12)));
    points = random_points(random, whole(random, 1, 20), 500.0);
    // Some close together, so that the top of a sine is nearly as flat as they are.
    for (MeasuredPoint& point : points) {
      if (trial % 2 == 0) point.units += 1e6;
      point.time_s = point.units / 250.0;
    }
    const SinePlateauModel equal(points);
    for (const double units : {0.0, 1e-6, 100.0, 1e7}) REQUIRE_THAT(equal.speed(units), WithinRel(250.0, 1e-9));
  }
}

TEST_CASE("noise about one speed is seldom taken for a sine, nor noise about a sine for a plateau") {
  Random random(9);
  std::normal_distribution<double> noise(1.0, 0.05);
  const double first = GENERATE(0.0, 2000.0);
  const int count = GENERATE(10, 100);
  int sines = 0, plateaus = 0;
  constexpr int trials = 50;
  for (int trial = 0; trial < trials; ++trial) {
    Points flat, curved;
    for (int i = 1; i <= count; ++i) {
      const double units = first + 10000.0 * i / count;
      flat.push_back({units, units / 200.0 * noise(random)});
      curved.push_back({units, units / (200.0 * std::sin(units / 5000.0)) * noise(random)});
    }
    sines += parameter(SinePlateauModel(flat), "c") > 0.0 ? 1 : 0;
    plateaus += parameter(SinePlateauModel(curved), "c") < curved.back().units ? 1 : 0;
  }
  INFO("of " << count << " points from " << first << " on: " << sines << " sines and " << plateaus << " plateaus");
  CHECK(sines <= (count < 100 ? 0.35 : 0.1) * trials);
  CHECK(plateaus <= (count < 100 ? 0.6 : 0.15) * trials);
}

TEST_CASE("a polynomial has the least squares of the relative deviations, by the normal equations, within its bounds") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    // Some speeds are a polynomial themselves, which is then reproduced.
    Points points = random_points(random, whole(random, 1, 20), 500.0);
    const double noise = trial % 3 == 0 ? 0.0 : trial % 3 == 1 ? 0.1 : 1.0;
    for (MeasuredPoint& point : points) {
      const double u = point.units / 1000.0;
      point.time_s = point.units / ((300.0 + 60.0 * u - 200.0 * u * u) * std::exp(noise * uniform(random, -1.0, 1.0)));
    }
    const PolynomialModel model(points);
    const int degree = model.degree();
    REQUIRE(degree < static_cast<int>(points.size()));
    const auto [slowest, fastest] = std::ranges::minmax_element(points, {}, &MeasuredPoint::speed);
    const double first = points.front().units, last = points.back().units;
    for (int i = 0; i < 30; ++i) {
      const double units = i == 0 ? 0.0 : uniform(random, 0.0, 1200.0), inside = std::clamp(units, first, last);
      const double expected =
          last > first ? static_cast<double>(fitted(points, degree, first, last, inside)) : points.front().speed();
      REQUIRE_THAT(model.speed(units), WithinRel(std::clamp(expected, slowest->speed(), fastest->speed()), 1e-9));
    }
  }
}

TEST_CASE(
    "the chosen degree is the lowest that predicts points left out as well as the best, by fitting without each") {
  Random random(6);
  for (int trial = 0; trial < 10; ++trial) {
    Points points;
    for (int i = 1; i <= 60; ++i) {
      const double units = 10.0 * i;
      const double speed = 200.0 + 80.0 * std::tanh((units - 300.0) / 150.0);
      points.push_back({units, units / speed * uniform(random, 0.98, 1.02)});
    }
    const int chosen = PolynomialModel(points).degree();
    std::vector<double> sums;
    for (int degree = 0; degree <= 8; ++degree) sums.push_back(left_out_squares(points, degree));
    const double enough = (1.0 + std::sqrt(2.0 / 60.0)) * *std::min_element(sums.begin(), sums.end());
    const auto lowest = std::find_if(sums.begin(), sums.end(), [&](double sum) { return sum <= enough; });
    REQUIRE(chosen == lowest - sums.begin());
  }
}

TEST_CASE("a shrunk model is the smooth one and what the deviations exceed noise by, linear between points") {
  Random random(4);
  int moved = 0, left_out = 0;
  for (int trial = 0; trial < 100; ++trial) {
    Points points = trial % 2 == 0 ? measured(random, 0.02) : random_points(random, whole(random, 1, 20), 400.0);
    if (trial % 2 == 0) {
      for (int i = 0; i < 4; ++i) points[static_cast<std::size_t>(whole(random, 0, measured_sizes - 1))].time_s *= 1.5;
      points[7].confidence_s *= 1e-3;
      points[8].confidence_s = 0.0;
    }
    const PolynomialModel smooth(points);
    const auto variance = [](const MeasuredPoint& point) {
      return std::pow(point.confidence_s / (1.96 * point.time_s), 2);
    };
    std::vector<double> known, deviations;
    for (const MeasuredPoint& point : points) {
      if (point.confidence_s > 0.0) known.push_back(variance(point));
    }
    const double typical = known.empty() ? 0.0 : median(known);
    int deviating = 0;
    for (const MeasuredPoint& point : points) {
      const double v = point.confidence_s > 0.0 ? std::max(variance(point), typical) : 0.0;
      const double d = point.speed() / smooth.speed(point.units) - 1.0;
      const double share = 1.0 - 2.0 * std::log(static_cast<double>(points.size())) * v / (d * d);
      deviations.push_back(share > 0.0 ? d * share : 0.0);
      deviating += deviations.back() != 0.0 ? 1 : 0;
    }
    moved += deviating;
    left_out += static_cast<int>(points.size()) - deviating;
    const ShrunkModel shrunk(points);
    CHECK(shrunk.parameters().at(1).second == deviating);
    for (int i = 0; i < 40; ++i) {
      const double units = i < 10 ? points[static_cast<std::size_t>(i) % points.size()].units
                                  : uniform(random, 0.0, 1.2 * points.back().units);
      std::size_t right = 0;
      while (right < points.size() && points[right].units <= units) ++right;
      double deviation = right == 0 ? deviations.front() : deviations[right - 1];
      if (right > 0 && right < points.size()) {
        const double share = (units - points[right - 1].units) / (points[right].units - points[right - 1].units);
        deviation = (1.0 - share) * deviations[right - 1] + share * deviations[right];
      }
      REQUIRE_THAT(shrunk.speed(units), WithinRel(smooth.speed(units) * (1.0 + deviation), 1e-9));
    }
  }
  CHECK(moved > 100);
  CHECK(left_out > 100);
}

}  // namespace steelyard::test_fitted_kinds
