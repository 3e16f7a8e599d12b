// The kernel against what is known about waves in closed form, and about their energy.

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/leap_frog_on_paper.hpp"
#include "tests/miniapps/wave2d/level_window.hpp"

namespace steelyard::wave2d::test_leap_frog_waves {
namespace {

using tests::Grid;
using tests::LevelWindows;
using tests::whole;

/// The field `steps` steps after `current`, at most `most` in one pass.
template <class Window, class Field>
Field kernel_advanced(const Problem& problem, const Field& previous, const Field& current, int steps, int most) {
  Window window(problem, whole(problem));
  window.give_previous(previous, whole(problem));
  window.give_current(current, whole(problem));
  Field field = current;
  for (int done = 0; done < steps;) {
    const int pass = std::min(most, steps - done);
    window.advance(whole(problem), pass);
    field = window.rotate();
    done += pass;
  }
  return field;
}

/// A wave with p half waves along the columns and q along the rows.
template <class Scalar>
Grid<Scalar> mode(const Problem& problem, double p, double q, double amplitude) {
  Grid<Scalar> field(problem.rows, problem.columns);
  for (std::int64_t i = 0; i < field.rows; ++i) {
    for (std::int64_t j = 0; j < field.columns; ++j) {
      const double y = p * std::numbers::pi * static_cast<double>(i) / static_cast<double>(field.rows - 1);
      const double x = q * std::numbers::pi * static_cast<double>(j) / static_cast<double>(field.columns - 1);
      const bool neumann = problem.boundary == Boundary::neumann;
      const double value = neumann ? std::cos(y) * std::cos(x) : field.is_edge(i, j) ? 0.0 : std::sin(y) * std::sin(x);
      field(i, j) = static_cast<Scalar>(amplitude * value);
    }
  }
  return field;
}

/// -D u / u of a wave of `angle` from one point to the next.
double eigenvalue(int order, double angle) {
  if (order == 2) return 2.0 - 2.0 * std::cos(angle);
  return (30.0 - 32.0 * std::cos(angle) + 2.0 * std::cos(2.0 * angle)) / 12.0;
}

TEMPLATE_LIST_TEST_CASE("Every wave that fits between the boundaries swings at the scheme's own frequency", "",
                        LevelWindows) {
  using Scalar = typename TestType::Element;
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const int order = GENERATE(2, 4);
  constexpr int steps = 12;
  const Problem problem{7, 10, 0.9 * largest_courant(order), boundary, order};
  const int lowest = boundary == Boundary::neumann ? 0 : 1;
  for (int p = lowest; p < static_cast<int>(problem.rows) - lowest; ++p) {
    for (int q = lowest; q < static_cast<int>(problem.columns) - lowest; ++q) {
      INFO(tests::described(problem) << ", " << p << " by " << q << " half waves");
      const double sum = eigenvalue(order, p * std::numbers::pi / static_cast<double>(problem.rows - 1)) +
                         eigenvalue(order, q * std::numbers::pi / static_cast<double>(problem.columns - 1));
      const double phase = std::acos(1.0 - 0.5 * problem.courant * problem.courant * sum);
      const auto found = kernel_advanced<TestType>(problem, mode<Scalar>(problem, p, q, std::cos(phase)),
                                                   mode<Scalar>(problem, p, q, 1.0), steps, 5);
      const auto expected = mode<Scalar>(problem, p, q, std::cos(steps * phase));
      REQUIRE(tests::largest_difference(found, expected) <= 4.0 * tests::rounding<Scalar>(steps));
    }
  }
}

/// A mirrored field has half a cell at its edges.
double weight(const Problem& problem, std::int64_t i, std::int64_t j) {
  if (problem.boundary == Boundary::dirichlet) return 1.0;
  const double row = i == 0 || i == problem.rows - 1 ? 0.5 : 1.0;
  return j == 0 || j == problem.columns - 1 ? 0.5 * row : row;
}

/// Half the squared difference of two levels plus half of C^2 times their product through the second difference: the
/// energy that leap-frog conserves exactly, whatever the time step, as long as the second difference is symmetric.
template <class Scalar>
double energy(const Problem& problem, const Grid<Scalar>& before, const Grid<Scalar>& after) {
  const bool neumann = problem.boundary == Boundary::neumann;
  const double c2 = problem.courant * problem.courant;
  double sum = 0.0;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    for (std::int64_t j = 0; j < problem.columns; ++j) {
      const auto row = [&](std::int64_t column) { return static_cast<double>(before(i, column)); };
      const auto column = [&](std::int64_t row_of_column) { return static_cast<double>(before(row_of_column, j)); };
      const double second_differences =
          tests::second_difference<double>(row, problem.columns, j, neumann, problem.order) +
          tests::second_difference<double>(column, problem.rows, i, neumann, problem.order);
      const double u = static_cast<double>(after(i, j));
      const double change = u - static_cast<double>(before(i, j));
      sum += weight(problem, i, j) * 0.5 * (change * change - c2 * u * second_differences);
    }
  }
  return sum;
}

/// Of random values: 0 at edges that are held, and without the mean of a mirrored field, which nothing holds back.
template <class Scalar>
Grid<Scalar> random_field(const Problem& problem, unsigned seed) {
  auto field = tests::random_grid<Scalar>(problem.rows, problem.columns, seed);
  double sum = 0.0, weights = 0.0;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    for (std::int64_t j = 0; j < problem.columns; ++j) {
      sum += weight(problem, i, j) * static_cast<double>(field(i, j));
      weights += weight(problem, i, j);
    }
  }
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    for (std::int64_t j = 0; j < problem.columns; ++j) {
      const bool held = problem.boundary == Boundary::dirichlet && field.is_edge(i, j);
      field(i, j) = held ? Scalar(0) : field(i, j) - static_cast<Scalar>(sum / weights);
    }
  }
  return field;
}

TEMPLATE_LIST_TEST_CASE("Energy does not drift in thousands of steps, near the limit of stability either", "",
                        LevelWindows) {
  using Scalar = typename TestType::Element;
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const int order = GENERATE(2, 4);
  const double share_of_limit = GENERATE(0.3, 0.99);
  const Problem problem{19, 26, share_of_limit * largest_courant(order), boundary, order};
  TestType window(problem, whole(problem));
  const auto previous = random_field<Scalar>(problem, 5);
  const auto current = random_field<Scalar>(problem, 6);
  window.give_previous(previous, whole(problem));
  window.give_current(current, whole(problem));
  const double start = energy(problem, previous, current);
  REQUIRE(start > 0.0);
  double drift = 0.0;
  int steps = 0;
  while (steps < 4000) {
    // A pass of several steps, and one step more to have two levels that follow each other.
    window.advance(whole(problem), 7);
    const auto before = window.rotate();
    window.advance(whole(problem), 1);
    const auto after = window.rotate();
    steps += 8;
    drift = std::max(drift, std::abs(energy(problem, before, after) / start - 1.0));
  }
  // Rounding adds a random walk, and fields near the limit are many times larger than their energy tells.
  INFO("drift " << drift << " in " << steps << " steps");
  CHECK(drift <= 4.0 * std::numeric_limits<Scalar>::epsilon() * std::sqrt(static_cast<double>(steps)));
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

TEMPLATE_TEST_CASE_SIG("A checkerboard stays bounded below the largest Courant number and grows without end above it",
                       "", ((int radius), radius), 1, 2) {
  const double limit = largest_courant(2 * radius);
  for (const double below : {0.5, 0.9, 0.99, 0.999}) {
    // u(n + 1) = 2 cos(w) u(n) - u(n - 1) never exceeds (|u(0)| + |u(1)|) / sin(w); cos(w) = 1 - 2 (C / limit)^2.
    const double cosine = 1.0 - 2.0 * below * below;
    CHECK(checkerboard_reaches<radius>(below * limit, 20000) <= 1.001 * 2.0 / std::sqrt(1.0 - cosine * cosine));
  }
  for (const double above : {1.001, 1.01, 1.1}) CHECK(checkerboard_reaches<radius>(above * limit, 1000) >= 1e9);
}

}  // namespace
}  // namespace steelyard::wave2d::test_leap_frog_waves
