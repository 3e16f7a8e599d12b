#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "miniapps/wave2d/initial_field.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/leap_frog_on_paper.hpp"

namespace steelyard::wave2d::test_initial_field {
namespace {

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
