#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>

#include "miniapps/wave2d/leap_frog.hpp"

namespace steelyard::wave2d::test_stencil {
namespace {

template <class Scalar, int Radius>
struct Of {
  using Element = Scalar;
  static constexpr int radius = Radius;
};

double power(double base, int exponent) {
  double value = 1.0;
  for (int i = 0; i < exponent; ++i) value *= base;
  return value;
}

/// The second derivative of x^degree.
double curvature(double x, int degree) { return degree < 2 ? 0.0 : degree * (degree - 1) * power(x, degree - 2); }

/// One step of y^down + x^across at (y, x), and what it should be if the second difference were the derivative.
template <class Scalar, int Radius>
struct PolynomialStep {
  double found, expected, magnitude;

  PolynomialStep(double courant, double y, double x, int down, int across) {
    constexpr double old = 0.25;
    const double here = power(y, down) + power(x, across);
    const auto next = Stencil<Scalar, Radius>(courant).next(
        static_cast<Scalar>(old), static_cast<Scalar>(here),
        [&](int d) { return static_cast<Scalar>(power(y + d, down) + power(x, across)); },
        [&](int d) { return static_cast<Scalar>(power(y, down) + power(x + d, across)); });
    found = static_cast<double>(next);
    expected = 2.0 * here - old + courant * courant * (curvature(y, down) + curvature(x, across));
    // No value that is added up is larger.
    magnitude = 1.0 + power(std::abs(y) + Radius, down) + power(std::abs(x) + Radius, across);
  }
};

TEMPLATE_TEST_CASE("The second difference of a polynomial is its second derivative up to degree 2 Radius + 1", "",
                   (Of<double, 1>), (Of<double, 2>), (Of<float, 1>), (Of<float, 2>)) {
  using Scalar = typename TestType::Element;
  constexpr int radius = TestType::radius;
  for (const double courant : {0.1, 0.5, 0.6}) {
    for (const double y : {-3.0, 0.0, 1.0, 2.5}) {
      for (const double x : {-2.0, 0.0, 1.5}) {
        for (int down = 0; down <= 2 * radius + 1; ++down) {
          for (int across = 0; across <= 2 * radius + 1; ++across) {
            INFO("y^" << down << " + x^" << across << " at " << y << ", " << x);
            const PolynomialStep<Scalar, radius> step(courant, y, x, down, across);
            REQUIRE(std::abs(step.found - step.expected) <=
                    16.0 * std::numeric_limits<Scalar>::epsilon() * step.magnitude);
          }
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("The second difference of the next even power is off by what its order of accuracy says", "",
                   (Of<double, 1>), (Of<double, 2>)) {
  // D x^4 = 12 x^2 + 2 of second order, D x^6 = 30 x^4 - 8 of fourth.
  constexpr int degree = 2 * TestType::radius + 2;
  constexpr double off = TestType::radius == 1 ? 2.0 : -8.0;
  for (const double at : {-1.0, 0.0, 2.0}) {
    const PolynomialStep<double, TestType::radius> down(0.5, at, 0.0, degree, 0);
    const PolynomialStep<double, TestType::radius> across(0.5, 0.0, at, 0, degree);
    CHECK(std::abs(down.found - down.expected - 0.25 * off) <= 1e-14 * down.magnitude);
    CHECK(std::abs(across.found - across.expected - 0.25 * off) <= 1e-14 * across.magnitude);
  }
}

/// The largest value that a checkerboard of 1 and -1 reaches in a number of steps.
template <int Radius>
double checkerboard_reaches(double courant, int steps) {
  const Stencil<double, Radius> stencil(courant);
  double previous = 1.0, current = 1.0, largest = 1.0;
  for (int step = 0; step < steps; ++step) {
    const auto neighbour = [&](int d) { return d % 2 == 0 ? current : -current; };
    const double next = stencil.next(previous, current, neighbour, neighbour);
    previous = current;
    current = next;
    largest = std::max(largest, std::abs(current));
  }
  return largest;
}

TEMPLATE_TEST_CASE("The checkerboard stays bounded below the largest Courant number and grows without end above it", "",
                   (Of<double, 1>), (Of<double, 2>)) {
  constexpr int radius = TestType::radius;
  const double limit = largest_courant(2 * radius);
  for (const double below : {0.5, 0.9, 0.99, 0.999}) {
    // u(n + 1) = 2 cos(w) u(n) - u(n - 1) never exceeds (|u(0)| + |u(1)|) / sin(w); cos(w) = 1 - 2 (C / limit)^2.
    const double cosine = 1.0 - 2.0 * below * below;
    CHECK(checkerboard_reaches<radius>(below * limit, 20000) <= 1.001 * 2.0 / std::sqrt(1.0 - cosine * cosine));
  }
  for (const double above : {1.001, 1.01, 1.1}) CHECK(checkerboard_reaches<radius>(above * limit, 1000) >= 1e9);
}

}  // namespace
}  // namespace steelyard::wave2d::test_stencil
