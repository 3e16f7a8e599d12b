#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <tuple>
#include <vector>

#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/unit_field.hpp"
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

}  // namespace steelyard::wave2d::test_local_field
