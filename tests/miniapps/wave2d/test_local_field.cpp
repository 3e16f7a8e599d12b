#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <tuple>
#include <vector>

#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/local_field.hpp"
#include "tests/miniapps/wave2d/grid_cuts.hpp"
#include "tests/miniapps/wave2d/moving_field.hpp"
#include "tests/miniapps/wave2d/pinned_part.hpp"

namespace steelyard::wave2d::test_local_field {
namespace {

using partition::Rectangle;
using tests::Grid;
using tests::PinnedPart;
using tests::Random;
using tests::whole;

template <class Execution, class Scalar>
struct On {
  using Space = Execution;
  using Element = Scalar;
};

using Units = std::tuple<On<HostExecution, double>, On<HostExecution, float>, On<CompanionExecution, double>,
                         On<CompanionExecution, float>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("A field holds what it owns and as far as its passes read", "", Units) {
  Random random(1);
  for (int trial = 0; trial < 50; ++trial) {
    const partition::Extents extents{whole(random, 3, 30), whole(random, 3, 30)};
    const Problem problem{extents.rows, extents.columns, 0.5, Boundary::neumann, 2 * whole(random, 1, 2)};
    const int steps = whole(random, 1, 9);
    for (const Rectangle& owned : tests::random_cut(random, extents)) {
      if (owned.empty()) continue;
      using Field = LocalField<typename TestType::Space, typename TestType::Element>;
      const Field field(typename TestType::Space(), problem, owned, steps);
      REQUIRE(field.owned() == owned);
      REQUIRE(field.held() == widened(problem, owned, halo_depth(problem, steps).current));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Any part comes out of a field as it went in, and nothing beside it changes", "", Units) {
  using Scalar = typename TestType::Element;
  const typename TestType::Space space;
  const int steps = GENERATE(1, 3);
  const std::int64_t columns = GENERATE(3, 16, 255, 1024);
  const Problem problem{23, columns, 0.5, Boundary::dirichlet};
  const Rectangle owned{5, columns / 4, 11, columns - columns / 4};
  LocalField<typename TestType::Space, Scalar> field(space, problem, owned, steps);
  const Rectangle& held = field.held();
  Grid<Scalar> levels[2] = {tests::random_grid<Scalar>(23, columns, 3), tests::random_grid<Scalar>(23, columns, 4)};
  const auto load = [&](Level level, const Rectangle& part) {
    const PinnedPart<Scalar> values(levels[static_cast<int>(level)], part);
    field.load(space, level, part, values.data());
    space.fence();
    REQUIRE(values.guards_are_untouched());
  };
  const auto expect_stored = [&](Level level, const Rectangle& part) {
    const PinnedPart<Scalar> found(part.area());
    const PinnedPart<Scalar> expected(levels[static_cast<int>(level)], part);
    field.store(space, level, part, found.data());
    space.fence();
    REQUIRE(found.guards_are_untouched());
    REQUIRE(std::equal(found.data(), found.data() + found.count(), expected.data()));
  };
  for (const Level level : {Level::previous, Level::current}) load(level, held);
  Random random(2);
  for (int trial = 0; trial < 50; ++trial) {
    Rectangle part;
    part.row = whole(random, static_cast<int>(held.row), static_cast<int>(held.end_row()) - 1);
    part.rows = whole(random, 1, static_cast<int>(held.end_row() - part.row));
    part.column = whole(random, static_cast<int>(held.column), static_cast<int>(held.end_column()) - 1);
    part.columns = whole(random, 1, static_cast<int>(held.end_column() - part.column));
    const Level level = whole(random, 0, 1) == 0 ? Level::previous : Level::current;
    expect_stored(level, part);
    Grid<Scalar>& grid = levels[static_cast<int>(level)];
    for_points(part, [&](std::int64_t i, std::int64_t j) { grid(i, j) += Scalar(trial + 1); });
    load(level, part);
    expect_stored(Level::previous, held);
    expect_stored(Level::current, held);
  }
}

TEMPLATE_LIST_TEST_CASE("A pass writes what is new beside what it reads, a single step in place of the level before",
                        "", Units) {
  using Scalar = typename TestType::Element;
  const typename TestType::Space space;
  const int steps = GENERATE(1, 2, 5);
  const int order = GENERATE(2, 4);
  const Problem problem{29, 37, 0.5, Boundary::neumann, order};
  const Rectangle owned{6, 7, 15, 20}, part{8, 10, 6, 13}, rest{14, 7, 7, 20};
  LocalField<typename TestType::Space, Scalar> field(space, problem, owned, 5);
  const tests::MovingField<Scalar> start(problem, 5);
  const Rectangle held = field.held();
  const PinnedPart<Scalar> old(start.previous, held), now(start.current, held);
  field.load(space, Level::previous, held, old.data());
  field.load(space, Level::current, held, now.data());
  space.fence();
  const auto stored = [&](Level level) {
    const PinnedPart<Scalar> values(held.area());
    field.store(space, level, held, values.data());
    space.fence();
    Grid<Scalar> grid(problem.rows, problem.columns);
    values.put(held, grid);
    return grid;
  };
  const auto stored_next = [&](Level level, const Rectangle& of) {
    const PinnedPart<Scalar> values(of.area());
    field.store_next(space, level, of, values.data(), steps);
    space.fence();
    REQUIRE(values.guards_are_untouched());
    return std::vector<Scalar>(values.data(), values.data() + values.count());
  };
  const auto values_of = [&](const Grid<Scalar>& grid, const Rectangle& of) {
    const PinnedPart<Scalar> values(grid, of);
    return std::vector<Scalar>(values.data(), values.data() + values.count());
  };
  const Grid<Scalar> previous = stored(Level::previous), current = stored(Level::current);
  field.advance({}, steps, "test");
  field.advance(part, steps, "test");
  space.fence();
  CHECK(stored(Level::current) == current);
  Grid<Scalar> changed = stored(Level::previous);
  if (steps == 1) {
    CHECK(changed != previous);
    PinnedPart<Scalar>(previous, part).put(part, changed);
  }
  CHECK(changed == previous);
  // What was computed can be had before the pass ends, and is not touched by what is computed elsewhere.
  const std::vector<Scalar> next = stored_next(Level::current, part), before = stored_next(Level::previous, part);
  field.advance(rest, steps, "test");
  space.fence();
  CHECK(stored_next(Level::current, part) == next);
  CHECK(stored_next(Level::previous, part) == before);
  field.rotate(steps);
  CHECK(values_of(stored(Level::current), part) == next);
  CHECK(values_of(stored(Level::previous), part) == before);
  const Grid<Scalar> paper = start.on_paper(problem, steps);
  Grid<Scalar> found = paper;
  PinnedPart<Scalar>(stored(Level::current), part).put(part, found);
  CHECK(tests::largest_difference(found, paper) <= tests::field_rounding<Scalar>(steps));
}

}  // namespace steelyard::wave2d::test_local_field
