#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "core/base/errors.hpp"
#include "models/kinds/polynomial_model.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_polynomial_model {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;
using tests::Random;
using tests::random_points;
using tests::uniform;
using tests::whole;
using Points = std::vector<MeasuredPoint>;

namespace {

/// A speed that grows from 100 to 200 units/s up to 1000 units, a polynomial of this degree.
double growing(int degree, double units) { return 100.0 + 100.0 * std::pow(units / 1000.0, degree); }

Points points_of(int count, int degree) {
  Points points;
  for (int i = 1; i <= count; ++i) {
    const double units = 1000.0 * i / count;
    points.push_back({units, units / growing(degree, units)});
  }
  return points;
}

/// Weighted least squares of a polynomial in u from -1 to 1 by the normal equations, and its value at one more u.
long double fitted(const Points& points, int degree, double first, double last, double units) {
  const auto size = static_cast<std::size_t>(degree) + 1;
  const auto position = [&](double x) { return 2.0L * (x - first) / (last - first) - 1.0L; };
  std::vector<std::vector<long double>> rows(size, std::vector<long double>(size + 1, 0.0L));
  for (const MeasuredPoint& point : points) {
    const long double speed = point.speed();
    std::vector<long double> powers{1.0L};
    while (powers.size() < size) powers.push_back(powers.back() * position(point.units));
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) rows[i][j] += powers[i] * powers[j] / (speed * speed);
      rows[i][size] += powers[i] / speed;
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

TEST_CASE("a polynomial is reproduced without noise, by its own degree, a higher one and the chosen one") {
  const int degree = GENERATE(1, 2, 3, 5, 8);
  const Points points = points_of(20, degree);
  for (const int wanted : {0, degree, degree + 2}) {
    const PolynomialModel model(points, wanted);
    INFO(wanted);
    CHECK(model.degree() >= degree);
    for (double units = 50.0; units <= 1000.0; units += 3.7) {
      CHECK_THAT(model.speed(units), WithinRel(growing(degree, units), 1e-9));
    }
  }
}

TEST_CASE("a polynomial model is constant before the first and after the last point") {
  Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const Points points = random_points(random, whole(random, 1, 20), 500.0);
    const PolynomialModel model(points, whole(random, 0, 6));
    for (const double share : {0.0, 1e-9, 0.5}) {
      REQUIRE_THAT(model.speed(share * points.front().units), WithinRel(model.speed(points.front().units), 1e-12));
    }
    REQUIRE_THAT(model.speed(1.5 * points.back().units), WithinRel(model.speed(points.back().units), 1e-12));
  }
}

TEST_CASE("a polynomial model never leaves the range of the measured speeds") {
  Random random(2);
  const int degree = GENERATE(0, 1, 4, 9, 30);
  for (int trial = 0; trial < 100; ++trial) {
    const Points points = random_points(random, whole(random, 1, 40), 500.0);
    double slowest = std::numeric_limits<double>::infinity(), fastest = 0.0;
    for (const MeasuredPoint& point : points) {
      slowest = std::min(slowest, point.speed());
      fastest = std::max(fastest, point.speed());
    }
    const PolynomialModel model(points, degree);
    for (int i = 0; i < 50; ++i) {
      const double speed = model.speed(uniform(random, 0.0, 1200.0));
      REQUIRE(speed >= slowest);
      REQUIRE(speed <= fastest);
    }
  }
}

TEST_CASE("a polynomial has the degree that was asked for, but never more than points less one") {
  const Points points = points_of(12, 3);
  for (const int degree : {1, 2, 7, 11}) CHECK(PolynomialModel(points, degree).degree() == degree);
  CHECK(PolynomialModel(points, 12).degree() == 11);
  CHECK(PolynomialModel(points, 30).degree() == 11);
  CHECK(PolynomialModel(Points{points[4]}, 5).degree() == 0);
  CHECK(PolynomialModel(Points{points[4]}, 0).degree() == 0);
  CHECK(PolynomialModel(points, 3).kind() == "polynomial");
}

TEST_CASE("of as many points as parameters a polynomial misses none") {
  Random random(3);
  for (int trial = 0; trial < 50; ++trial) {
    const Points points = random_points(random, whole(random, 2, 8), 500.0);
    CHECK(PolynomialModel(points, static_cast<int>(points.size()) - 1).fit_error().largest < 1e-6);
  }
}

TEST_CASE("a fit of a given degree has the least squares of the relative deviations: that of the normal equations") {
  Random random(4);
  for (int trial = 0; trial < 50; ++trial) {
    Points points = points_of(15, 1);
    for (MeasuredPoint& point : points) point.time_s *= uniform(random, 0.9, 1.1);
    double w = 0.0, wx = 0.0, wxx = 0.0, b0 = 0.0, b1 = 0.0;
    for (const MeasuredPoint& point : points) {
      const double weight = 1.0 / (point.speed() * point.speed());
      w += weight;
      wx += weight * point.units;
      wxx += weight * point.units * point.units;
      b0 += weight * point.speed();
      b1 += weight * point.speed() * point.units;
    }
    const double slope = (w * b1 - wx * b0) / (w * wxx - wx * wx);
    const double start = (b0 - slope * wx) / w;
    const PolynomialModel model(points, 1);
    for (const double units : {400.0, 500.0, 600.0}) {
      REQUIRE_THAT(model.speed(units), WithinRel(start + slope * units, 1e-10));
    }
  }
}

TEST_CASE("noise about a polynomial is not taken for a higher degree, nor a lower one chosen that misses it") {
  Random random(5);
  const int degree = GENERATE(0, 1, 2, 3);
  int right = 0;
  constexpr int trials = 50;
  for (int trial = 0; trial < trials; ++trial) {
    std::normal_distribution<double> noise(1.0, 0.02);
    Points points = points_of(100, std::max(1, degree));
    for (MeasuredPoint& point : points) {
      const double u = point.units / 1000.0;
      // Chebyshev's polynomials: nothing of a lower degree comes near.
      const double wave = degree == 0   ? 0.0
                          : degree == 1 ? 2.0 * u - 1.0
                          : degree == 2 ? 8.0 * u * u - 8.0 * u + 1.0
                                        : ((32.0 * u - 48.0) * u + 18.0) * u - 1.0;
      point.time_s = point.units / (300.0 + 60.0 * wave) * noise(random);
    }
    const int chosen = PolynomialModel(points).degree();
    REQUIRE(chosen >= degree);
    right += chosen == degree ? 1 : 0;
  }
  INFO(right);
  CHECK(right >= 0.9 * trials);
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

TEST_CASE("a degree that means nothing is refused with its value") {
  const Points points = points_of(5, 1);
  for (const int bad : {-1, -7, 31}) {
    CHECK_THROWS_MATCHES(PolynomialModel(points, bad), InvalidArgument,
                         MessageMatches(ContainsSubstring(std::to_string(bad))));
  }
}

}  // namespace steelyard::test_polynomial_model
