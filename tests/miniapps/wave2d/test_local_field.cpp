#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <vector>

#include "miniapps/wave2d/halo_plan.hpp"
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
using Rectangles = std::vector<Rectangle>;

template <class Execution, class Scalar>
struct On {
  using Space = Execution;
  using Element = Scalar;
};

/// A grid cut into rectangles, each in its unit's memory. Halos are carried by hand; what no message carries is NaN,
/// so that it shows if somebody reads it.
template <class Execution, class Scalar>
class Parts {
 public:
  using Field = LocalField<Execution, Scalar>;

  /// @param steps the most that a pass makes
  Parts(const Problem& problem, const Rectangles& rectangles, int steps)
      : problem_(problem), messages_(halo_messages(problem, rectangles, steps)) {
    for (const Rectangle& rectangle : rectangles) {
      fields_.push_back(rectangle.empty() ? nullptr : std::make_unique<Field>(space_, problem, rectangle, steps));
    }
  }

  void load(const tests::MovingField<Scalar>& start) {
    for (const auto& field : fields_) {
      if (!field) continue;
      load(*field, Level::previous, field->owned(), start.previous);
      load(*field, Level::current, field->owned(), start.current);
    }
    exchange();
  }

  /// @param random cuts what a unit owns into pieces that are advanced one by one; null: in one piece
  void advance(int steps, Random* random = nullptr) {
    for (const auto& field : fields_) {
      if (!field) continue;
      Rectangles pieces;
      if (random != nullptr) {
        tests::cut_at_random(*random, field->owned(), whole(*random, 1, 5), pieces);
        std::ranges::shuffle(pieces, *random);
      } else {
        pieces.push_back(field->owned());
      }
      for (const Rectangle& piece : pieces) field->advance(piece, steps, "test");
    }
    space_.fence();
    for (const auto& field : fields_) {
      if (field) field->rotate(steps);
    }
    exchange();
  }

  Grid<Scalar> read(Level level = Level::current) const {
    Grid<Scalar> grid(problem_.rows, problem_.columns);
    for (const auto& field : fields_) {
      if (field) store(*field, level, field->owned(), grid);
    }
    return grid;
  }

 private:
  void load(Field& field, Level level, const Rectangle& part, const Grid<Scalar>& grid) {
    const PinnedPart<Scalar> values(grid, part);
    field.load(space_, level, part, values.data());
    space_.fence();
  }
  void store(const Field& field, Level level, const Rectangle& part, Grid<Scalar>& grid) const {
    const PinnedPart<Scalar> values(part.area());
    field.store(space_, level, part, values.data());
    space_.fence();
    values.put(part, grid);
  }

  void exchange() {
    const Grid<Scalar> current = read(Level::current), previous = read(Level::previous);
    Grid<Scalar> unknown(problem_.rows, problem_.columns);
    std::ranges::fill(unknown.values, std::numeric_limits<Scalar>::quiet_NaN());
    for (const auto& field : fields_) {
      if (!field) continue;
      for (const Rectangle& part : tests::frame(field->held(), field->owned())) {
        load(*field, Level::previous, part, unknown);
        load(*field, Level::current, part, unknown);
      }
    }
    for (const HaloMessage& message : messages_) {
      Field& to = *fields_[static_cast<std::size_t>(message.to)];
      for (const Rectangle& part : message.current) load(to, Level::current, part, current);
      for (const Rectangle& part : message.previous) load(to, Level::previous, part, previous);
    }
  }

  Execution space_;
  Problem problem_;
  std::vector<HaloMessage> messages_;
  std::vector<std::unique_ptr<Field>> fields_;
};

/// Cut into rectangles and advanced in passes, a field is what it is on paper, and has the bits of the whole grid
/// advanced step by step.
template <class Execution, class Scalar>
void compare(const Problem& problem, const Rectangles& rectangles, int most_steps, const std::vector<int>& passes,
             Random* random = nullptr) {
  const tests::MovingField<Scalar> start(problem, 21);
  Parts<Execution, Scalar> parts(problem, rectangles, most_steps);
  parts.load(start);
  for (const int steps : passes) parts.advance(steps, random);
  const Grid<Scalar> found = parts.read();
  INFO(tests::text_of(problem, rectangles));
  CAPTURE(most_steps, passes);
  const int steps = std::accumulate(passes.begin(), passes.end(), 0);
  REQUIRE(tests::largest_difference(found, start.on_paper(problem, steps)) <= tests::field_rounding<Scalar>(steps));

  Parts<Execution, Scalar> alone(problem, {{0, 0, problem.rows, problem.columns}}, 1);
  alone.load(start);
  for (int step = 1; step < steps; ++step) alone.advance(1);
  REQUIRE((steps == 0 || parts.read(Level::previous) == alone.read()));
  if (steps > 0) alone.advance(1);
  REQUIRE(found == alone.read());
}

double courant_of(int order) { return order == 2 ? 0.65 : 0.6; }

using Units = std::tuple<On<HostExecution, double>, On<HostExecution, float>, On<CompanionExecution, double>,
                         On<CompanionExecution, float>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Any rectangles advance in any passes as the whole grid does on paper, to the same bits", "",
                        Units) {
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const int order = GENERATE(2, 4);
  Random random(order + (boundary == Boundary::neumann ? 1U : 0U));
  for (int trial = 0; trial < 120; ++trial) {
    const partition::Extents extents{whole(random, 3, 24), whole(random, 3, 45)};
    const Problem problem{extents.rows, extents.columns, courant_of(order), boundary, order};
    const int most = whole(random, 1, trial % 5 == 0 ? 13 : 5);
    std::vector<int> passes = tests::passes_of(whole(random, 1, 14), most);
    // A run may end in a shorter pass; nothing says that it must be the last one.
    std::ranges::shuffle(passes, random);
    compare<typename TestType::Space, typename TestType::Element>(problem, tests::random_cut(random, extents), most,
                                                                  passes, trial % 2 == 0 ? &random : nullptr);
  }
}

TEMPLATE_LIST_TEST_CASE("Slices of any number of rows advance as the whole grid does on paper, to the same bits", "",
                        Units) {
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const int order = GENERATE(2, 4);
  for (std::int64_t count = 1; count <= 20; ++count) {
    for (const std::int64_t columns : {3, 8, 17, 65}) {
      const int most = 1 + static_cast<int>((count + columns) % 4);
      for (const std::vector<std::int64_t>& rows :
           {std::vector<std::int64_t>{count, 2}, {3, count, 4}, {1, count, 1}}) {
        const std::int64_t all = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
        Rectangles slices;
        for (std::int64_t first = 0; const std::int64_t slice : rows) {
          slices.push_back({first, 0, slice, columns});
          first += slice;
        }
        compare<typename TestType::Space, typename TestType::Element>(
            {all, columns, courant_of(order), boundary, order}, slices, most, tests::passes_of(5, most));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("Rectangles larger than a tile advance as the whole grid does on paper, to the same bits", "",
                        Units) {
  const int order = GENERATE(2, 4);
  const Problem problem{301, 1283, courant_of(order), Boundary::neumann, order};
  const Rectangles rectangles{{0, 0, 200, 1150}, {200, 0, 101, 1150}, {0, 1150, 301, 133}};
  compare<typename TestType::Space, typename TestType::Element>(problem, rectangles, 3, {3, 2});
  compare<typename TestType::Space, typename TestType::Element>(problem, rectangles, 1, {1, 1});
}

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
    for (std::int64_t i = part.row; i < part.end_row(); ++i) {
      for (std::int64_t j = part.column; j < part.end_column(); ++j) grid(i, j) += Scalar(trial + 1);
    }
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
