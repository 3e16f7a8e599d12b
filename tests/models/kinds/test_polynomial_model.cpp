#include "models/kinds/model_kinds.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_polynomial_model {

using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

constexpr int count = 40;

/// Points of a smooth speed, measured with normal deviations of this size as shares of the speed, which is what the
/// intervals say.
Points measured(Random& random, double noise) {
  std::normal_distribution<double> normal;
  Points points;
  for (int i = 1; i <= count; ++i) {
    const double units = 10.0 * i;
    const double time_s = units / ((100.0 + 0.1 * units) * (1.0 + noise * normal(random)));
    points.push_back({units, time_s, 10, 1.96 * noise * time_s});
  }
  return points;
}

/// What the deviation of point i is relative to: its own speed, or where that is less than half of it, the median of as
/// many neighbours on either side.
long double weighted_by(const Points& points, std::size_t i) {
  const std::size_t beside = std::min({std::size_t{2}, i, points.size() - 1 - i});
  std::vector<double> speeds;
  for (std::size_t k = i - beside; k <= i + beside; ++k) speeds.push_back(points[k].speed());
  std::sort(speeds.begin(), speeds.end());
  const double own = points[i].speed(), median = speeds[beside];
  return own < 0.5 * median ? median : own;
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

}  // namespace

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
    const int wanted = whole(random, 1, 6);
    const PolynomialModel model(points, wanted);
    const int degree = std::min(wanted, static_cast<int>(points.size()) - 1);
    REQUIRE(model.degree() == degree);
    const auto compare = [](const MeasuredPoint& a, const MeasuredPoint& b) { return a.speed() < b.speed(); };
    const auto [slowest, fastest] = std::minmax_element(points.begin(), points.end(), compare);
    const double first = points.front().units, last = points.back().units;
    for (int i = 0; i < 30; ++i) {
      const double units = i == 0 ? 0.0 : uniform(random, 0.0, 1200.0), inside = std::clamp(units, first, last);
      const double expected =
          last > first ? static_cast<double>(fitted(points, degree, first, last, inside)) : points.front().speed();
      REQUIRE_THAT(model.speed(units), WithinRel(std::clamp(expected, slowest->speed(), fastest->speed()), 1e-9));
      REQUIRE(model.speed(units) >= slowest->speed());
      REQUIRE(model.speed(units) <= fastest->speed());
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

TEST_CASE("a spike moves no other point's speed far") {
  for (const double factor : {0.0125, 80.0}) {
    Points points;
    for (int i = 1; i <= 24; ++i) points.push_back({100.0 * i, 0.01 * i});
    points[11].time_s *= factor;
    const PolynomialModel model(points);
    for (const MeasuredPoint& point : points) {
      if (point.units != 1200.0) CHECK_THAT(model.time_s(point.units), WithinRel(point.time_s, 0.3));
    }
  }
}

TEST_CASE("a polynomial has at most as many parameters as points, and a degree that means nothing is refused") {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const Points points = random_points(random, whole(random, 1, 8), 500.0);
    const int most = static_cast<int>(points.size()) - 1;
    CHECK(PolynomialModel(points, std::max(1, most)).fit_error().largest < 1e-6);
    CHECK(PolynomialModel(points, 30).degree() == most);
    CHECK(PolynomialModel(points, 0).degree() <= most);
  }
  for (const int bad : {-1, -7, 31}) {
    CHECK_THROWS_MATCHES(PolynomialModel(measured(random, 0.0), bad), InvalidArgument,
                         MessageMatches(ContainsSubstring(std::to_string(bad))));
  }
}

TEST_CASE("a shrunk model is the smooth one and what the deviations exceed noise by, linear between points") {
  Random random(4);
  int moved = 0, left_out = 0;
  for (int trial = 0; trial < 100; ++trial) {
    Points points = trial % 2 == 0 ? measured(random, 0.02) : random_points(random, whole(random, 1, 20), 400.0);
    if (trial % 2 == 0) {
      for (int i = 0; i < 4; ++i) points[static_cast<std::size_t>(whole(random, 0, count - 1))].time_s *= 1.5;
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
    std::sort(known.begin(), known.end());
    const std::size_t half = known.size() / 2;
    const double median = known.empty()           ? 0.0
                          : known.size() % 2 == 1 ? known[half]
                                                  : 0.5 * (known[half - 1] + known[half]);
    int deviating = 0;
    for (const MeasuredPoint& point : points) {
      const double v = point.confidence_s > 0.0 ? std::max(variance(point), median) : 0.0;
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

}  // namespace steelyard::test_polynomial_model
