#include <memory>
#include <tuple>

#include "core/spaces.hpp"
#include "miniapps/wave2d/plan.hpp"
#include "miniapps/wave2d/unit_field.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/grid_cuts.hpp"
#include "tests/miniapps/wave2d/leap_frog_on_paper.hpp"
#if defined(STEELYARD_EMULATED_DEVICE)
#include "tests/core/device/schedule.hpp"
#endif

namespace steelyard::wave2d::test_unit_field {
namespace {

using partition::Rectangle;
using tests::Grid;
using tests::Random;
using tests::whole;
using Rectangles = std::vector<Rectangle>;

/// Numbers in pinned host memory, as units take and give them, between others that must stay as they are.
template <class Scalar>
class PinnedPart {
 public:
  explicit PinnedPart(std::int64_t count) : count_(count), view_("part", static_cast<std::size_t>(count + 2 * guard)) {
    for (std::size_t i = 0; i < view_.size(); ++i) view_(i) = untouched;
  }
  /// With the values of a part of a grid, row after row.
  PinnedPart(const Grid<Scalar>& grid, const Rectangle& part) : PinnedPart(part.area()) {
    Scalar* value = data();
    for_points(part, [&](std::int64_t i, std::int64_t j) { *value++ = grid(i, j); });
  }

  Scalar* data() const { return view_.data() + guard; }
  std::int64_t count() const { return count_; }
  bool guards_are_untouched() const {
    for (std::int64_t i = 0; i < guard; ++i) {
      if (view_.data()[i] != untouched || data()[count_ + i] != untouched) return false;
    }
    return true;
  }

  /// Into the part of a grid that they are of.
  void put(const Rectangle& part, Grid<Scalar>& grid) const {
    const Scalar* value = data();
    for_points(part, [&](std::int64_t i, std::int64_t j) { grid(i, j) = *value++; });
  }

 private:
  static constexpr std::int64_t guard = 16;
  static constexpr Scalar untouched = 12345;

  std::int64_t count_;
  Kokkos::View<Scalar*, PinnedMemory> view_;
};

/// The units of a run and what they send each other.
template <class Execution, class Scalar>
class Units {
 public:
  using Unit = UnitField<Execution, Scalar>;

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

  /// Sets both levels, halos included.
  void load(const Grid<Scalar>& previous, const Grid<Scalar>& current) {
    for (const auto& unit : units_) {
      const Rectangle& held = unit->held();
      const PinnedPart<Scalar> old(previous, held), now(current, held);
      unit->load(Level::previous, held, old.data());
      unit->load(Level::current, held, now.data());
    }
  }

  void pass(int steps) {
    static const std::vector<HaloBuffer<Scalar>> nothing;
    for (std::size_t i = 0; i < units_.size(); ++i) {
      units_[i]->begin(steps, first_ ? nothing : ends_[i].arrived, ends_[i].leaving, times_);
    }
    // What the others wait for is there now, not only at the end.
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      REQUIRE((leaving_[i].guards_are_untouched() && arrived_[i].guards_are_untouched()));
      std::copy(leaving_[i].data(), leaving_[i].data() + leaving_[i].count(), arrived_[i].data());
    }
    for (const auto& unit : units_) unit->finish(steps, times_);
    first_ = false;
    spoil_halos();
  }

  Grid<Scalar> read(Level level = Level::current) const {
    Grid<Scalar> grid(problem_.rows, problem_.columns);
    for (const auto& unit : units_) own_part(*unit, level).put(unit->owned(), grid);
    return grid;
  }

 private:
  struct Ends {
    std::vector<HaloBuffer<Scalar>> leaving;
    std::vector<HaloBuffer<Scalar>> arrived;
  };

  static PinnedPart<Scalar> own_part(const Unit& unit, Level level) {
    PinnedPart<Scalar> values(unit.owned().area());
    unit.store(level, unit.owned(), values.data());
    REQUIRE(values.guards_are_untouched());
    return values;
  }

  /// What is around a unit's own rectangle is nothing that anybody may read before it arrives.
  void spoil_halos() {
    Grid<Scalar> unknown(problem_.rows, problem_.columns);
    std::ranges::fill(unknown.values, std::numeric_limits<Scalar>::quiet_NaN());
    for (const auto& unit : units_) {
      const PinnedPart<Scalar> nothing(unknown, unit->held());
      for (const Level level : {Level::previous, Level::current}) {
        const PinnedPart<Scalar> own = own_part(*unit, level);
        unit->load(level, unit->held(), nothing.data());
        unit->load(level, unit->owned(), own.data());
      }
    }
  }

  Problem problem_;
  std::vector<HaloMessage> messages_;
  std::vector<PinnedPart<Scalar>> leaving_;
  std::vector<PinnedPart<Scalar>> arrived_;
  std::vector<Ends> ends_;  ///< of every unit
  std::vector<std::unique_ptr<Unit>> units_;
  UnitTimes times_;
  bool first_ = true;
};

/// Small ones with many units; some are as wide as tiles of the kernel or higher, so as to end near their edges. The
/// Courant number is just below where fourth order becomes unstable.
Problem random_problem(Random& random) {
  Problem problem{whole(random, 3, 24), whole(random, 3, 45), 0.6};
  const int kind = whole(random, 0, 15);
  if (kind <= 3) problem = {whole(random, 3, 8), whole(random, 3, 8), 0.6};
  if (kind == 4) problem = {whole(random, 3, 70), (128 << whole(random, 0, 4)) + whole(random, -3, 60), 0.6};
  if (kind == 5) problem = {whole(random, 60, 1100), whole(random, 3, 9), 0.6};
  problem.boundary = whole(random, 0, 1) == 0 ? Boundary::dirichlet : Boundary::neumann;
  problem.order = 2 * whole(random, 1, 2);
  return problem;
}

/// A random field whose edges a Dirichlet boundary holds, by passes of units that hand each other their borders.
template <class Execution, class Scalar>
void check_passes(const Problem& problem, const Rectangles& rectangles, int most_steps, const std::vector<int>& passes,
                  Overlap overlap) {
  CAPTURE(problem.rows, problem.columns, problem.order, rectangles.size(), most_steps, passes);
  const bool neumann = problem.boundary == Boundary::neumann;
  auto current = tests::random_grid<Scalar>(problem.rows, problem.columns, 31);
  auto previous = tests::random_grid<Scalar>(problem.rows, problem.columns, 32);
  for_points({0, 0, problem.rows, problem.columns}, [&](std::int64_t i, std::int64_t j) {
    if (!neumann && current.is_edge(i, j)) previous(i, j) = current(i, j);
  });
  using Run = Units<Execution, Scalar>;
  Run alone(problem, {{0, 0, problem.rows, problem.columns}}, 1, Overlap::none);
  Run units(problem, rectangles, most_steps, overlap);
  alone.load(previous, current);
  units.load(previous, current);
  int steps = 0;
  double largest = 1.0;
  for (const int pass : passes) {
    for (int step = 0; step < pass; ++step) {
      alone.pass(1);
      ++steps;
      previous = std::exchange(current, tests::next_level(previous, current, problem.courant, neumann, problem.order));
      largest = std::max(largest, tests::largest_difference(current, {problem.rows, problem.columns}));
      REQUIRE(largest < 1e3);
      REQUIRE(tests::largest_difference(alone.read(), current) <= largest * tests::rounding<Scalar>(steps));
    }
    units.pass(pass);
    for (const Level level : {Level::previous, Level::current}) REQUIRE(units.read(level) == alone.read(level));
  }
}

using Kinds = std::tuple<std::pair<HostExecution, double>, std::pair<HostExecution, float>,
                         std::pair<CompanionExecution, double>, std::pair<CompanionExecution, float>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Units that hand each other their borders make the field on paper, with the bits of one unit",
                        "", Kinds) {
  using Execution = typename TestType::first_type;
  using Scalar = typename TestType::second_type;
  Random random(1);
  // A device may be slow.
  for (int trial = 0; trial < (runs_on_host<Execution> ? 200 : 120); ++trial) {
    CAPTURE(trial);
    const Problem problem = random_problem(random);
    const int longest = trial % 8 == 0 ? 33 : trial % 5 == 0 ? 13 : 5;
    const int most = TimeTiles<Execution>::most_steps(whole(random, 1, longest), problem.radius(), sizeof(Scalar));
    std::vector<int> passes{most};
    for (int steps = whole(random, 0, 9); steps > 0; steps -= passes.back()) {
      passes.push_back(whole(random, 1, std::min(steps, most)));
    }
    std::ranges::shuffle(passes, random);
    check_passes<Execution, Scalar>(problem, tests::random_cut(random, problem), most, passes,
                                    trial % 2 == 0 ? Overlap::full : Overlap::none);
  }
  // Larger than a tile each way.
  for (const int order : {2, 4}) {
    const Problem large{301, 1283, 0.6, Boundary::neumann, order};
    const Rectangles rectangles{{0, 0, 200, 1150}, {200, 0, 101, 1150}, {0, 1150, 301, 133}};
    check_passes<Execution, Scalar>(large, rectangles, 3, {3, 2}, Overlap::full);
    check_passes<Execution, Scalar>(large, rectangles, 1, {1, 1}, Overlap::full);
  }
}

#if defined(STEELYARD_EMULATED_DEVICE)
TEST_CASE("A pass has packed its halos before the interior ends, whatever memory they leave from") {
  const Home home = GENERATE(Home::host, Home::unit);
  const int order = GENERATE(2, 4), steps = GENERATE(1, 3);
  const Problem problem{90, 70, 0.5, Boundary::dirichlet, order};
  // Neighbours above, below and on one side.
  const Rectangles rectangles{{0, 0, 30, 40}, {30, 0, 30, 40}, {60, 0, 30, 40}, {0, 40, 90, 30}};
  const std::vector<HaloMessage> messages = halo_messages(problem, rectangles, steps);
  std::vector<HaloBuffer<double>> leaving, arrived;
  std::vector<Kokkos::View<double*, DeviceOf<CompanionExecution>>> own;
  std::vector<PinnedPart<double>> pinned;
  for (const HaloMessage& message : messages) {
    if (message.from != 1 && message.to != 1) continue;
    double* const data = home == Home::unit
                             ? own.emplace_back("halo", static_cast<std::size_t>(message.points())).data()
                             : pinned.emplace_back(message.points()).data();
    (message.from == 1 ? leaving : arrived).push_back({&message, data, home});
  }
  UnitField<CompanionExecution, double> field(CompanionExecution(), problem, rectangles[1], steps, Overlap::full);
  UnitTimes times;
  emulated::recorded_operations();
  field.begin(steps, arrived, leaving, times);
  const tests::Schedule begun(emulated::recorded_operations(), [](const emulated::Order& each) {
    return each.label == "steelyard::wave2d::interior" ? 1000.0 : 1.0;
  });
  field.finish(steps, times);

  const std::vector<tests::ScheduledWork> interior = begun.works("steelyard::wave2d::interior");
  REQUIRE(interior.size() == 1);
  CHECK(begun.fenced_s() > 0.0);
  CHECK(begun.fenced_s() < interior.front().end_s - 900.0);
  // Each message is one copy, whatever its parts' shapes.
  const std::size_t copies = home == Home::host ? leaving.size() : 0;
  CHECK(begun.works(emulated::copy_to_host).size() == copies);
  CHECK(begun.works(emulated::copy_to_device).size() == copies);
}
#endif

}  // namespace steelyard::wave2d::test_unit_field
