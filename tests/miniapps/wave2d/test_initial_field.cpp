#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "miniapps/wave2d/initial_field.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/leap_frog_on_paper.hpp"

namespace steelyard::wave2d::test_initial_field {
namespace {

/// A quarter of what the second difference, with its sign turned, makes of a wave with so many half waves between the
/// first point and the last: in second order (2 - 2 cos k) / 4, in fourth (30 - 32 cos k + 2 cos 2k) / 48.
double quarter_eigenvalue(double half_waves, std::int64_t points, int order) {
  const double k = half_waves * std::numbers::pi / static_cast<double>(points - 1);
  const double sine = std::sin(0.5 * k);
  // 1 - cos k is 2 sin^2(k / 2), which does not cancel.
  if (order == 2) return sine * sine;
  return (32.0 * 2.0 * sine * sine - 2.0 * 2.0 * std::sin(k) * std::sin(k)) / 48.0;
}

TEST_CASE("The discrete amplitude is what the scheme's recurrence makes of the exact start") {
  const int order = GENERATE(2, 4);
  const double courant = GENERATE_COPY(0.01, 0.3, 0.5, 0.6, largest_courant(order));
  const auto [rows, columns] = GENERATE(std::pair(4, 3), std::pair(5, 17), std::pair(64, 33), std::pair(101, 997));
  const StandingWave wave({rows, columns, courant, Boundary::dirichlet, order});
  const double factor =
      2.0 - 4.0 * courant * courant * (quarter_eigenvalue(1.0, columns, order) + quarter_eigenvalue(2.0, rows, order));
  double before = wave.exact_amplitude(-1);
  double now = 1.0;
  for (int step = 0; step <= 3000; ++step) {
    REQUIRE(std::abs(wave.discrete_amplitude(step) - now) <= 1e-15 * (16.0 + 8.0 * step * std::sqrt(1.0 * step)));
    const double next = factor * now - before;
    before = now;
    now = next;
  }
}

TEST_CASE("The discrete amplitude is what the scheme on paper makes of the wave") {
  const int order = GENERATE(2, 4);
  const bool neumann = GENERATE(false, true);
  const auto [rows, columns] = GENERATE(std::pair(4, 3), std::pair(3, 9), std::pair(13, 18));
  const Boundary boundary = neumann ? Boundary::neumann : Boundary::dirichlet;
  const StandingWave wave({rows, columns, 0.6, boundary, order});
  const auto before = tests::standing_wave_at<double>(rows, columns, -1, 0.6, neumann);
  const auto start = tests::standing_wave_at<double>(rows, columns, 0, 0.6, neumann);
  for (const int steps : {1, 2, 7, 30}) {
    const auto found = tests::advanced(before, start, steps, 0.6, neumann, order);
    auto expected = start;
    for (double& value : expected.values) value *= wave.discrete_amplitude(steps);
    CHECK(tests::largest_difference(found, expected) <= tests::rounding<double>(steps));
  }
}

TEST_CASE("The amplitudes agree at the start and one step before it") {
  const int order = GENERATE(2, 4);
  const StandingWave wave({31, 47, GENERATE(0.1, 0.5, 0.6), GENERATE(Boundary::dirichlet, Boundary::neumann), order});
  for (const int step : {-1, 0}) {
    CHECK(std::abs(wave.discrete_amplitude(step) - wave.exact_amplitude(step)) <= 1e-14);
  }
  CHECK(wave.exact_amplitude(0) == 1.0);
  CHECK(wave.exact_amplitude(-7) == wave.exact_amplitude(7));
}

TEMPLATE_TEST_CASE("A sampled rectangle has the values of the product of two waves", "", double, float) {
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const Problem problem{13, 9, 0.5, boundary};
  const StandingWave wave(problem);
  const auto expected = tests::standing_wave_at<double>(13, 9, 0, 0.5, boundary == Boundary::neumann);
  for (partition::Rectangle part; part.row < problem.rows; ++part.row) {
    for (part.column = 0; part.column < problem.columns; ++part.column) {
      for (part.rows = 0; part.end_row() <= problem.rows; part.rows += 3) {
        for (part.columns = 1; part.end_column() <= problem.columns; ++part.columns) {
          const auto count = static_cast<std::size_t>(part.area());
          std::vector<TestType> sampled(count + 1, TestType(-7));
          wave.sample(0.75, part, std::span<TestType>(sampled.data(), count));
          double largest = 0.0;
          for (std::int64_t k = 0; k < part.area(); ++k) {
            const double value = 0.75 * expected(part.row + k / part.columns, part.column + k % part.columns);
            largest = std::max(largest, std::abs(sampled[static_cast<std::size_t>(k)] - value));
          }
          REQUIRE(largest <= 2.0 * std::numeric_limits<TestType>::epsilon());
          REQUIRE(sampled.back() == TestType(-7));
        }
      }
    }
  }
}

TEST_CASE("A Dirichlet wave is exactly zero at the edge") {
  const Problem problem{7, 11, 0.5, Boundary::dirichlet};
  tests::Grid<double> field(7, 11);
  StandingWave(problem).sample(1.0, {0, 0, 7, 11}, std::span<double>(field.values));
  for (std::int64_t i = 0; i < 7; ++i) {
    for (std::int64_t j = 0; j < 11; ++j) {
      if (field.is_edge(i, j)) CHECK(field(i, j) == 0.0);
    }
  }
}

}  // namespace
}  // namespace steelyard::wave2d::test_initial_field
