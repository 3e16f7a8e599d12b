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
using tests::LevelWindow;
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

/// a + b i + c j.
template <class Scalar>
Grid<Scalar> plane(const Problem& problem, double a, double b, double c) {
  Grid<Scalar> field(problem.rows, problem.columns);
  for (std::int64_t i = 0; i < field.rows; ++i) {
    for (std::int64_t j = 0; j < field.columns; ++j) {
      field(i, j) = static_cast<Scalar>(a + b * static_cast<double>(i) + c * static_cast<double>(j));
    }
  }
  return field;
}

TEMPLATE_LIST_TEST_CASE("What is at rest stays at rest: a plane between fixed edges, a constant between mirrors", "",
                        LevelWindows) {
  using Scalar = typename TestType::Element;
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const int order = GENERATE(2, 4);
  for (const auto& [rows, columns] : {std::pair(3, 3), std::pair(4, 30), std::pair(41, 22)}) {
    const Problem problem{rows, columns, 0.6, boundary, order};
    const double tilt = boundary == Boundary::dirichlet ? 0.01 : 0.0;
    const auto field = plane<Scalar>(problem, 0.3, tilt, -2.0 * tilt);
    const auto found = kernel_advanced<TestType>(problem, field, field, 20, 8);
    CHECK(tests::largest_difference(found, field) <= tests::rounding<Scalar>(20));
  }
}

/// How far a standing wave on n x n points, moved by the value of a plane, is from the differential equation's.
template <class Window>
double distance_from_equation(std::int64_t n, double courant, int steps, Boundary boundary, int order) {
  const Problem problem{n, n, courant, boundary, order};
  const double tilt = boundary == Boundary::dirichlet ? 1.0 / static_cast<double>(n - 1) : 0.0;
  const auto wave_at = [&](int step) {
    auto field = plane<double>(problem, 0.5, tilt, -0.3 * tilt);
    const auto wave = tests::standing_wave_at<double>(n, n, step, courant, boundary == Boundary::neumann);
    for (std::size_t k = 0; k < field.values.size(); ++k) field.values[k] += wave.values[k];
    return field;
  };
  return tests::largest_difference(kernel_advanced<Window>(problem, wave_at(-1), wave_at(0), steps, 4), wave_at(steps));
}

TEMPLATE_TEST_CASE("The kernel converges to the wave equation at the order of the scheme", "",
                   (LevelWindow<HostExecution, double>), (LevelWindow<CompanionExecution, double>)) {
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  SECTION("second order in time and space together") {
    double coarser = 0.0;
    for (const int factor : {1, 2, 4, 8}) {
      const double error = distance_from_equation<TestType>(12 * factor + 1, 0.5, 15 * factor, boundary, 2);
      INFO("error " << error << " after " << coarser);
      if (factor > 1) CHECK(std::log2(coarser / error) >= 1.9);
      if (factor > 1) CHECK(std::log2(coarser / error) <= 2.1);
      coarser = error;
    }
  }
  SECTION("fourth order in space, with time steps that shrink with the square of the spacing") {
    double coarser = 0.0;
    for (const int factor : {1, 2, 4}) {
      const double error =
          distance_from_equation<TestType>(12 * factor + 1, 0.5 / factor, 15 * factor * factor, boundary, 4);
      INFO("error " << error << " after " << coarser);
      if (factor > 1) CHECK(std::log2(coarser / error) >= 3.7);
      if (factor > 1) CHECK(std::log2(coarser / error) <= 4.3);
      coarser = error;
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

}  // namespace
}  // namespace steelyard::wave2d::test_leap_frog_waves
