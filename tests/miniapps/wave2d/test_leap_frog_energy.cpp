// What the scheme keeps for ever: its energy.

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/leap_frog_on_paper.hpp"
#include "tests/miniapps/wave2d/level_window.hpp"

namespace steelyard::wave2d::test_leap_frog_energy {
namespace {

using tests::Grid;
using tests::LevelWindows;
using tests::whole;

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

}  // namespace

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

}  // namespace steelyard::wave2d::test_leap_frog_energy
