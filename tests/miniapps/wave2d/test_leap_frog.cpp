#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/leap_frog_on_paper.hpp"
#include "tests/miniapps/wave2d/level_window.hpp"

namespace steelyard::wave2d::test_leap_frog {
namespace {

using tests::Grid;
using tests::LevelWindows;
using tests::whole;

const std::vector<int> all_passes{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 33};

template <class Scalar>
double largest_value(const Grid<Scalar>& field) {
  return tests::largest_difference(field, {field.rows, field.columns});
}

/// Single steps do what the scheme on paper does, and k steps in one pass have the bits of k single steps.
template <class Window>
void check_whole_grid(const Problem& problem, const std::vector<int>& passes) {
  using Scalar = typename Window::Element;
  INFO(tests::described(problem));
  const auto previous = tests::random_grid<Scalar>(problem.rows, problem.columns, 1);
  const auto current = tests::random_grid<Scalar>(problem.rows, problem.columns, 2);
  const int most = passes.back();
  const auto paper =
      tests::all_levels(previous, current, most, problem.courant, problem.boundary == Boundary::neumann, problem.order);
  const auto singles = tests::single_steps<Window>(problem, previous, current, most);
  double largest = 1.0;
  for (int k = 1; k <= most; ++k) {
    INFO("step " << k);
    const auto at = static_cast<std::size_t>(k);
    largest = std::max(largest, largest_value(paper[at]));
    REQUIRE(largest < 1e3);
    REQUIRE(tests::largest_difference(singles[at], paper[at]) <= largest * tests::rounding<Scalar>(k));
  }
  for (const int k : passes) {
    if (!tests::can_take<Window>(k, problem)) continue;
    INFO(k << " steps in one pass");
    const auto at = static_cast<std::size_t>(k);
    Window window(problem, {-1, problem.rows + 2, -2, problem.columns + 3});
    window.give_previous(previous, whole(problem));
    window.give_current(current, whole(problem));
    // However many threads the rows are cut up for.
    window.advance(whole(problem), k, 1 + static_cast<int>(problem.rows + k) % 5);
    REQUIRE(window.holds(singles[at - 1], singles[at], {whole(problem)}));
  }
}

/// Just below where fourth order becomes unstable.
Problem grid_of(std::int64_t rows, std::int64_t columns, Boundary boundary, int order) {
  return {rows, columns, 0.6, boundary, order};
}

TEMPLATE_LIST_TEST_CASE("Every grid is advanced as on paper, any number of steps at a time as one by one", "",
                        LevelWindows) {
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const int order = GENERATE(2, 4);
  for (std::int64_t rows = 3; rows <= 8; ++rows) {
    for (std::int64_t columns = 3; columns <= 8; ++columns) {
      check_whole_grid<TestType>(grid_of(rows, columns, boundary, order), all_passes);
    }
  }
  // Every number of rows and every number of columns, twice; a device, which may be slow, takes a third of them.
  for (std::int64_t i = 0; i < 68; i += runs_on_host<typename TestType::Space> ? 1 : 3) {
    check_whole_grid<TestType>(grid_of(3 + i, 3 + 29 * i % 68, boundary, order), all_passes);
    check_whole_grid<TestType>(grid_of(3 + i, 3 + (45 * i + 7) % 68, boundary, order), all_passes);
  }
}

TEMPLATE_LIST_TEST_CASE("Grids that are wider or higher than a team's tile are advanced as small ones are", "",
                        LevelWindows) {
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const int order = GENERATE(2, 4);
  for (const std::int64_t columns : {127, 128, 129, 511, 513, 1024, 1025, 1033, 1101, 2049}) {
    check_whole_grid<TestType>(grid_of(7, columns, boundary, order), {1, 2, 3, 5, 9});
  }
  for (const std::int64_t rows : {97, 129, 257, 601, 1061}) {
    check_whole_grid<TestType>(grid_of(rows, 5, boundary, order), {1, 2, 3, 5, 9, 16});
  }
  check_whole_grid<TestType>(grid_of(2130, 3, boundary, order), {1, 33});
  check_whole_grid<TestType>(grid_of(140, 1100, boundary, order), {1, 2, 3});
}

}  // namespace
}  // namespace steelyard::wave2d::test_leap_frog
