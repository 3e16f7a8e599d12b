#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/unit_field.hpp"
#include "tests/miniapps/wave2d/grid_cuts.hpp"
#include "tests/miniapps/wave2d/moving_field.hpp"
#include "tests/miniapps/wave2d/pinned_part.hpp"

namespace steelyard::wave2d::test_unit_field {
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

using UnitKinds = std::tuple<On<HostExecution, double>, On<HostExecution, float>, On<CompanionExecution, double>,
                             On<CompanionExecution, float>>;

/// What a message holds, in its order: parts of level n, then of level n - 1.
template <class Scalar>
void fill(const HaloMessage& message, const Grid<Scalar>& current, const Grid<Scalar>& previous, Scalar* to) {
  for_parts(message, [&](Level level, const Rectangle& part) {
    to = PinnedPart<Scalar>::copy(level == Level::current ? current : previous, part, to);
  });
}

/// Time levels of a field: element t + 1 is level t, as one unit makes them step by step.
template <class Execution, class Scalar>
std::vector<Grid<Scalar>> levels_of(const Problem& problem, const tests::MovingField<Scalar>& start, int steps) {
  const Execution space;
  const Rectangle all{0, 0, problem.rows, problem.columns};
  LocalField<Execution, Scalar> field(space, problem, all, 1);
  const PinnedPart<Scalar> old(start.previous, all), now(start.current, all);
  field.load(space, Level::previous, all, old.data());
  field.load(space, Level::current, all, now.data());
  std::vector<Grid<Scalar>> levels{start.previous, start.current};
  for (int step = 0; step < steps; ++step) {
    field.advance(all, 1, "test");
    space.fence();
    field.rotate(1);
    field.store(space, Level::current, all, now.data());
    space.fence();
    now.put(all, levels.emplace_back(problem.rows, problem.columns));
  }
  return levels;
}

/// The units of a run and what they send each other.
template <class Execution, class Scalar>
class Units {
 public:
  using Unit = UnitField<Execution, Scalar>;
  using Levels = std::vector<Grid<Scalar>>;

  /// @param steps the most that a pass makes
  Units(const Problem& problem, const Rectangles& rectangles, int steps, Overlap overlap)
      : problem_(problem), messages_(halo_messages(problem, rectangles, steps)), ends_(rectangles.size()) {
    for (const Rectangle& rectangle : rectangles) {
      units_.push_back(std::make_unique<Unit>(Execution(), problem, rectangle, steps, overlap));
    }
    for (const HaloMessage& message : messages_) {
      leaving_.emplace_back(message.points());
      arrived_.emplace_back(message.points());
      // Buffers of the host and of the unit in turns, where a test reaches both.
      const Home home = runs_on_host<Execution> && leaving_.size() % 2 == 0 ? Home::unit : Home::host;
      ends_[static_cast<std::size_t>(message.from)].leaving.push_back({&message, leaving_.back().data(), home});
      ends_[static_cast<std::size_t>(message.to)].arrived.push_back({&message, arrived_.back().data(), home});
    }
  }

  /// Halos too; what is around a unit's own rectangle beyond what messages bring is as in the grid.
  void load(const Grid<Scalar>& previous, const Grid<Scalar>& current) {
    for (const auto& unit : units_) {
      const Rectangle& held = unit->field().held();
      const PinnedPart<Scalar> old(previous, held), now(current, held);
      unit->load(Level::previous, held, old.data());
      unit->load(Level::current, held, now.data());
      REQUIRE((old.guards_are_untouched() && now.guards_are_untouched()));
    }
    first_ = true;
  }

  /// From level n of the field to level n + steps. @param levels what every level must be, see levels_of()
  void pass(int n, int steps, const Levels& levels) {
    const auto at = static_cast<std::size_t>(n) + 1;
    static const std::vector<HaloBuffer<Scalar>> nothing;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      units_[i]->begin(steps, first_ ? nothing : ends_[i].arrived, ends_[i].leaving, times_);
    }
    // What the others wait for is there now, not only at the end.
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const PinnedPart<Scalar> expected(messages_[i].points());
      const auto reached = at + static_cast<std::size_t>(steps);
      fill(messages_[i], levels[reached], levels[reached - 1], expected.data());
      REQUIRE(std::equal(expected.data(), expected.data() + expected.count(), leaving_[i].data()));
      REQUIRE(leaving_[i].guards_are_untouched());
      REQUIRE(arrived_[i].guards_are_untouched());
      std::copy(leaving_[i].data(), leaving_[i].data() + leaving_[i].count(), arrived_[i].data());
    }
    for (const auto& unit : units_) unit->finish(steps, times_);
    first_ = false;
  }

  /// What is around a unit's own rectangle is nothing that anybody may read before it arrives.
  void spoil_halos() {
    Grid<Scalar> unknown(problem_.rows, problem_.columns);
    std::ranges::fill(unknown.values, std::numeric_limits<Scalar>::quiet_NaN());
    for (const auto& unit : units_) {
      for (const Rectangle& part : tests::frame(unit->field().held(), unit->field().owned())) {
        const PinnedPart<Scalar> values(unknown, part);
        unit->load(Level::previous, part, values.data());
        unit->load(Level::current, part, values.data());
      }
    }
  }

  Grid<Scalar> read(Level level = Level::current) const {
    Grid<Scalar> grid(problem_.rows, problem_.columns);
    for (const auto& unit : units_) {
      const PinnedPart<Scalar> values(unit->field().owned().area());
      unit->store(level, unit->field().owned(), values.data());
      REQUIRE(values.guards_are_untouched());
      values.put(unit->field().owned(), grid);
    }
    return grid;
  }

 private:
  struct Ends {
    std::vector<HaloBuffer<Scalar>> leaving;
    std::vector<HaloBuffer<Scalar>> arrived;
  };

  Problem problem_;
  std::vector<HaloMessage> messages_;
  std::vector<PinnedPart<Scalar>> leaving_;
  std::vector<PinnedPart<Scalar>> arrived_;
  std::vector<Ends> ends_;  ///< of every unit
  std::vector<std::unique_ptr<Unit>> units_;
  UnitTimes times_;
  bool first_ = true;
};

/// Passes of units that hand each other their borders are what the field is on paper, and have the bits of the whole
/// grid advanced step by step; so has what they send.
template <class Execution, class Scalar>
void compare(const Problem& problem, const Rectangles& rectangles, int most_steps, const std::vector<int>& passes,
             Overlap overlap) {
  INFO(tests::text_of(problem, rectangles));
  CAPTURE(most_steps, passes);
  int steps = 0;
  for (const int pass : passes) steps += pass;
  const tests::MovingField<Scalar> start(problem, 31);
  const std::vector<Grid<Scalar>> levels = levels_of<Execution>(problem, start, steps);
  REQUIRE(tests::largest_difference(levels.back(), start.on_paper(problem, steps)) <=
          tests::field_rounding<Scalar>(steps));
  Units<Execution, Scalar> units(problem, rectangles, most_steps, overlap);
  units.load(start.previous, start.current);
  int n = 0;
  for (const int pass : passes) {
    units.pass(n, pass, levels);
    n += pass;
    units.spoil_halos();
    REQUIRE(units.read() == levels[static_cast<std::size_t>(n + 1)]);
    REQUIRE(units.read(Level::previous) == levels[static_cast<std::size_t>(n)]);
  }
}

double courant_of(int order) { return order == 2 ? 0.65 : 0.6; }

}  // namespace

TEMPLATE_LIST_TEST_CASE("Units that hand each other their borders make the whole grid's field, to the same bits", "",
                        UnitKinds) {
  const Boundary boundary = GENERATE(Boundary::dirichlet, Boundary::neumann);
  const int order = GENERATE(2, 4);
  Random random(order + (boundary == Boundary::neumann ? 1U : 0U));
  for (int trial = 0; trial < 100; ++trial) {
    const partition::Extents extents{whole(random, 3, 24), whole(random, 3, 45)};
    const Problem problem{extents.rows, extents.columns, courant_of(order), boundary, order};
    const int most = whole(random, 1, trial % 5 == 0 ? 13 : 5);
    std::vector<int> passes = tests::passes_of(whole(random, 1, 14), most);
    std::ranges::shuffle(passes, random);
    compare<typename TestType::Space, typename TestType::Element>(
        problem, tests::random_cut(random, extents), most, passes, trial % 2 == 0 ? Overlap::full : Overlap::none);
  }
}

TEMPLATE_LIST_TEST_CASE("Rectangles larger than a tile make the whole grid's field", "", UnitKinds) {
  const int order = GENERATE(2, 4);
  const Problem problem{301, 1283, courant_of(order), Boundary::neumann, order};
  const Rectangles rectangles{{0, 0, 200, 1150}, {200, 0, 101, 1150}, {0, 1150, 301, 133}};
  compare<typename TestType::Space, typename TestType::Element>(problem, rectangles, 3, {3, 2}, Overlap::full);
  compare<typename TestType::Space, typename TestType::Element>(problem, rectangles, 1, {1, 1}, Overlap::full);
}

}  // namespace steelyard::wave2d::test_unit_field
