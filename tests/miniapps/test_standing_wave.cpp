#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <numbers>

#include "miniapps/wave2d/standing_wave.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/leap_frog_on_paper.hpp"

namespace steelyard::wave2d {
namespace {

double sine_squared(double half_waves, std::int64_t points) {
  const double sine = std::sin(0.5 * half_waves * std::numbers::pi / static_cast<double>(points - 1));
  return sine * sine;
}

TEST_CASE("The discrete amplitude is what the scheme's recurrence makes of the exact start") {
  const double courant = GENERATE(0.01, 0.3, 0.5, 0.7, std::sqrt(0.5));
  const auto [rows, columns] = GENERATE(std::pair(4, 3), std::pair(5, 17), std::pair(64, 33), std::pair(101, 997));
  const StandingWave wave({rows, columns, courant, Boundary::dirichlet});
  const double factor = 2.0 - 4.0 * courant * courant * (sine_squared(1.0, columns) + sine_squared(2.0, rows));
  double before = wave.exact_amplitude(-1);
  double now = 1.0;
  for (int step = 0; step <= 3000; ++step) {
    REQUIRE(std::abs(wave.discrete_amplitude(step) - now) <= 1e-15 * (16.0 + 8.0 * step * std::sqrt(1.0 * step)));
    const double next = factor * now - before;
    before = now;
    now = next;
  }
}

TEST_CASE("The amplitudes agree at the start and one step before it") {
  const StandingWave wave({31, 47, GENERATE(0.1, 0.5, 0.7), GENERATE(Boundary::dirichlet, Boundary::neumann)});
  for (const int step : {-1, 0}) {
    CHECK(std::abs(wave.discrete_amplitude(step) - wave.exact_amplitude(step)) <= 1e-14);
  }
  CHECK(wave.exact_amplitude(0) == 1.0);
  CHECK(wave.exact_amplitude(-7) == wave.exact_amplitude(7));
}

TEMPLATE_TEST_CASE("Sampled rows are those of the product of two waves", "", double, float) {
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const Problem problem{13, 9, 0.5, boundary};
  const StandingWave wave(problem);
  const auto expected = tests::standing_wave_at<double>(13, 9, 0, 0.5, boundary == Boundary::neumann);
  for (std::int64_t first = 0; first < problem.rows; ++first) {
    for (std::int64_t count = 0; first + count <= problem.rows; ++count) {
      std::vector<TestType> sampled(static_cast<std::size_t>(count * problem.columns));
      wave.sample(0.75, first, count, std::span<TestType>(sampled));
      for (std::int64_t k = 0; k < count * problem.columns; ++k) {
        const double value = 0.75 * expected(first + k / problem.columns, k % problem.columns);
        REQUIRE(std::abs(sampled[static_cast<std::size_t>(k)] - value) <=
                2.0 * std::numeric_limits<TestType>::epsilon());
      }
    }
  }
}

TEST_CASE("A Dirichlet wave is exactly zero at the edge") {
  const Problem problem{7, 11, 0.5, Boundary::dirichlet};
  tests::Grid<double> field(7, 11);
  StandingWave(problem).sample(1.0, 0, 7, std::span<double>(field.values));
  for (std::int64_t i = 0; i < 7; ++i) {
    for (std::int64_t j = 0; j < 11; ++j) {
      if (field.is_edge(i, j)) CHECK(field(i, j) == 0.0);
    }
  }
}

}  // namespace
}  // namespace steelyard::wave2d
