#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/level_window.hpp"

namespace steelyard::wave2d::test_leap_frog_regions {
namespace {

using tests::common_part;
using tests::described;
using tests::Grid;
using tests::LevelWindows;
using tests::whole;
using tests::widened;

std::int64_t any_of(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random()) % (high - low + 1);
}

/// A grid of any size, often narrow, sometimes wider or higher than a tile, and what single steps make of it.
template <class Window>
struct Case {
  using Scalar = typename Window::Element;

  Problem problem;
  int steps;
  Grid<Scalar> previous, current;
  std::vector<Grid<Scalar>> levels;

  explicit Case(std::mt19937& random)
      : problem(random_problem(random)),
        steps(static_cast<int>(any_of(random, 1, random() % 4 == 0 ? 33 : 9))),
        previous(tests::random_grid<Scalar>(problem.rows, problem.columns, 5)),
        current(tests::random_grid<Scalar>(problem.rows, problem.columns, 6)) {
    while (!tests::can_take<Window>(steps, problem)) --steps;
    levels = tests::single_steps<Window>(problem, previous, current, steps);
  }

  /// Whether the window holds the case's results in these regions, and has not been written elsewhere.
  bool done(const Window& window, const std::vector<Region>& regions) const {
    return window.holds(levels[levels.size() - 2], levels.back(), regions);
  }

 private:
  static Problem random_problem(std::mt19937& random) {
    const auto extent = [&] {
      const std::uint32_t kind = random() % 16;
      return any_of(random, 3, kind == 0 ? 700 : kind <= 4 ? 6 : 70);
    };
    Problem problem{extent(), extent(), 0.6};
    if (random() % 16 == 0 && problem.rows <= 70) problem.columns = any_of(random, 1025, 1400);
    problem.boundary = random() % 2 == 0 ? Boundary::dirichlet : Boundary::neumann;
    problem.order = random() % 2 == 0 ? 2 : 4;
    return problem;
  }
};

/// Cuts a region in two anywhere, again and again.
void cut(const Region& region, int parts, std::mt19937& random, std::vector<Region>& cuts) {
  if (parts == 1) {
    cuts.push_back(region);
    return;
  }
  Region first = region, second = region;
  if (random() % 2 == 0) {
    first.end_row = second.row = any_of(random, region.row, region.end_row);
  } else {
    first.end_column = second.column = any_of(random, region.column, region.end_column);
  }
  const int in_first = static_cast<int>(any_of(random, 1, parts - 1));
  cut(first, in_first, random, cuts);
  cut(second, parts - in_first, random, cuts);
}

TEMPLATE_LIST_TEST_CASE("Any disjoint regions of one memory get the bits of the whole, in any order", "",
                        LevelWindows) {
  std::mt19937 random(7);
  for (int repetition = 0; repetition < 300; ++repetition) {
    const Case<TestType> example(random);
    INFO(described(example.problem) << ", " << example.steps << " steps");
    std::vector<Region> regions;
    cut(whole(example.problem), static_cast<int>(any_of(random, 2, 9)), random, regions);
    std::shuffle(regions.begin(), regions.end(), random);
    // Some are left out: what is not in a region keeps what it has.
    if (random() % 2 == 0) regions.pop_back();

    TestType window(example.problem, whole(example.problem));
    window.give_previous(example.previous, whole(example.problem));
    window.give_current(example.current, whole(example.problem));
    for (const Region& region : regions) {
      window.advance(region, example.steps, static_cast<int>(any_of(random, 1, 6)));
    }
    REQUIRE(example.done(window, regions));
  }
}

Region random_region(const Problem& problem, std::mt19937& random) {
  const auto range = [&](std::int64_t extent) {
    const std::int64_t length = any_of(random, 1, random() % 2 == 0 ? std::min<std::int64_t>(extent, 3) : extent);
    const std::uint32_t where = random() % 4;
    const std::int64_t first = where == 0 ? 0 : where == 1 ? extent - length : any_of(random, 0, extent - length);
    return std::pair(first, first + length);
  };
  const auto [row, end_row] = range(problem.rows);
  const auto [column, end_column] = range(problem.columns);
  return {row, end_row, column, end_column};
}

/// Leaves NaN wherever a pass of this many steps keeps anything between its steps.
template <class Window>
void spoil_scratch_memory(int steps, int order) {
  const Problem problem{300, 1100, 0.5, Boundary::neumann, order};
  Window window(problem, whole(problem));
  window.advance(whole(problem), steps);
}

TEMPLATE_LIST_TEST_CASE("A region needs Radius k cells of current around it and Radius (k - 1) of previous, no more",
                        "", LevelWindows) {
  std::mt19937 random(8);
  for (int repetition = 0; repetition < 300; ++repetition) {
    const Case<TestType> example(random);
    const Problem& problem = example.problem;
    INFO(described(example.problem) << ", " << example.steps << " steps");
    const Region region = random_region(problem, random);
    const int radius = problem.order / 2;
    const Region read_of_current = common_part(widened(region, radius * example.steps), whole(problem));
    const Region read_of_previous = common_part(widened(region, radius * (example.steps - 1)), whole(problem));
    INFO("region: " << described(region));
    if (repetition % 16 == 0) spoil_scratch_memory<TestType>(example.steps, problem.order);

    // Memory that ends where the halo does, and memory with a margin, of the grid or beyond it.
    for (const bool margin : {false, true}) {
      Region extent = read_of_current;
      if (margin) {
        extent.row -= any_of(random, 0, 3);
        extent.end_row += any_of(random, 0, 3);
        extent.column -= any_of(random, 0, 3);
        extent.end_column += any_of(random, 0, 3);
      }
      TestType window(problem, extent);
      window.give_current(example.current, read_of_current);
      window.give_previous(example.previous, read_of_previous);
      // A single step in place of the level before, or beside it.
      window.advance(region, example.steps, static_cast<int>(any_of(random, 1, 6)), random() % 2 == 0);
      REQUIRE(example.done(window, {region}));
    }
  }
}

}  // namespace
}  // namespace steelyard::wave2d::test_leap_frog_regions
