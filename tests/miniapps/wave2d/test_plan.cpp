// Who owns which points, what units send each other, and what passes cost.
#include <memory>
#include <optional>
#include <tuple>

#include "core/spaces.hpp"
#include "miniapps/wave2d/plan.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/allocations.hpp"
#include "tests/miniapps/wave2d/grid_cuts.hpp"

namespace steelyard::test_wave2d_plan {

using namespace steelyard::wave2d;
using partition::Rectangle;
using tests::Allocations;
using tests::Random;
using tests::uniform;
using tests::whole;
using Kind = ProcessingUnit::Kind;

namespace {

using Rectangles = std::vector<Rectangle>;

/// Whether every point is in exactly one rectangle, and no rectangle beyond the grid.
bool covers(const Rectangles& rectangles, const Rectangle& grid) {
  std::int64_t area = 0;
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    const Rectangle& r = rectangles[i];
    if (r.empty() ? r != Rectangle{} : partition::common_part(r, grid) != r) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (!partition::common_part(r, rectangles[j]).empty()) return false;
    }
    area += r.area();
  }
  return area == grid.area();
}

/// The rank of every unit: each rank has one or two.
std::vector<int> random_ranks(Random& random, std::size_t units) {
  std::vector<int> ranks;
  for (int rank = 0; ranks.size() < units; ++rank) ranks.insert(ranks.end(), whole(random, 1, 2), rank);
  ranks.resize(units);
  return ranks;
}

/// Points of a rectangle that a pass of another unit reads: of level n up to a distance, by a single step only those
/// that the stencil's arms reach; of level n - 1 as in one step less.
std::int64_t points_read(const Problem& problem, const Rectangle& owner, const Rectangle& reader, int steps) {
  const std::int64_t radius = problem.radius();
  std::int64_t points = 0;
  for_points(owner, [&](std::int64_t i, std::int64_t j) {
    const std::int64_t down = std::max({reader.row - i, i - reader.end_row() + 1, std::int64_t{0}});
    const std::int64_t beside = std::max({reader.column - j, j - reader.end_column() + 1, std::int64_t{0}});
    const bool by_arms = steps > 1 || down == 0 || beside == 0;
    if (std::max(down, beside) <= radius * steps && by_arms) ++points;
    if (std::max(down, beside) <= radius * (steps - 1)) ++points;
  });
  return reader.empty() ? 0 : points;
}

/// Points of a rectangle that are nearer than `depth` to a side beyond which the grid goes on.
std::int64_t border_points(const Problem& problem, const Rectangle& own, std::int64_t depth) {
  std::int64_t points = 0;
  for_points(own, [&](std::int64_t i, std::int64_t j) {
    const bool near_above = own.row > 0 && i - own.row < depth;
    const bool near_below = own.end_row() < problem.rows && own.end_row() - 1 - i < depth;
    const bool near_left = own.column > 0 && j - own.column < depth;
    const bool near_right = own.end_column() < problem.columns && own.end_column() - 1 - j < depth;
    if (near_above || near_below || near_left || near_right) ++points;
  });
  return points;
}

}  // namespace

TEST_CASE(
    "rectangles cover the grid once as the algorithm gives rows or areas, within what units hold, or are refused") {
  Random random(1);
  std::vector<std::string> names{"column"};
  for (const partition::Algorithm& algorithm : partition::algorithms()) names.push_back(algorithm.name);
  for (int trial = 0; trial < 300; ++trial) {
    const Problem problem{whole(random, 3, 60), whole(random, 3, 60)};
    const int unit_count = whole(random, 1, 9);
    const double even = std::ceil(static_cast<double>(problem.rows) / unit_count);
    // Units that hold all, that hold their even shares, and that hold less than the grid together.
    const int memory = trial % 3;
    const tests::Kind kind = trial % 2 == 0 ? tests::Kind::constant : tests::Kind::increasing_time;
    tests::Units units;
    for (int i = 0; i < unit_count; ++i) {
      const double limit = memory == 1   ? tests::random_limit(random, even, 2.0 * even)
                           : memory == 2 ? static_cast<double>(problem.rows - 1) / unit_count
                                         : std::numeric_limits<double>::infinity();
      units.add(tests::random_model(random, memory == 0 ? kind : tests::Kind::constant, 40.0, limit));
    }
    for (const std::string& name : names) {
      INFO(trial << ": " << name << ", " << unit_count << " units, " << problem.rows << " x " << problem.columns);
      std::optional<Assignment> assignment;
      try {
        assignment = assign(problem, units.models, name, partition::find_algorithm(row_algorithm(name)));
      } catch (const InvalidArgument&) {
        // Rectangles of whole points may be larger than areas that fit.
        REQUIRE((memory == 2 || (memory == 1 && name == "column")));
        continue;
      }
      REQUIRE(memory != 2);
      REQUIRE(covers(assignment->rectangles, {0, 0, problem.rows, problem.columns}));
      const std::vector<std::int64_t> rows =
          partition::find_algorithm(name == "column" ? "geometric" : name).distribute(problem.rows, units.models).units;
      const std::vector<double> areas(rows.begin(), rows.end());
      REQUIRE(assignment->rectangles == (name == "column"
                                             ? partition::column(areas, {problem.rows, problem.columns}).rectangles
                                             : row_slices(problem, rows)));
      const bool whole_rows = std::ranges::all_of(
          assignment->rectangles, [&](const Rectangle& r) { return r.empty() || r.columns == problem.columns; });
      const std::vector<std::int64_t> shares = assignment->shares(problem);
      double longest_s = 0.0;
      for (std::size_t i = 0; i < units.models.size(); ++i) {
        const Rectangle& own = assignment->rectangles[i];
        const double in_rows = static_cast<double>(own.area()) / static_cast<double>(problem.columns);
        REQUIRE(in_rows <= units.models[i]->max_units() * (1.0 + 1e-12));
        REQUIRE(assignment->pass_s[i] == (own.empty() ? 0.0 : units.models[i]->time_s(in_rows)));
        REQUIRE(shares[i] == (whole_rows ? own.rows : own.area()));
        longest_s = std::max(longest_s, assignment->pass_s[i]);
      }
      REQUIRE(assignment->makespan_s() == longest_s);
    }
  }
}

TEST_CASE("what a pass reads around a rectangle comes once, and nothing from farther away, all at once between ranks") {
  Random random(2);
  for (int trial = 0; trial < 250; ++trial) {
    const Problem problem{whole(random, 3, 17), whole(random, 3, 17), 0.5, Boundary::dirichlet,
                          2 * whole(random, 1, 2)};
    const Rectangles rectangles = tests::random_cut(random, problem);
    const std::vector<int> ranks = random_ranks(random, rectangles.size());
    const double element_bytes = trial % 2 == 0 ? 8.0 : 4.0;
    for (int steps = 1; steps <= 6; ++steps) {
      CAPTURE(trial, steps, problem.rows, problem.columns, problem.order);
      using Message = std::tuple<std::size_t, std::size_t, std::int64_t>;
      std::vector<Message> found, expected;
      std::vector<EdgePoints> edges(rectangles.size());
      std::vector<models::Message> between_ranks;
      for (std::size_t from = 0; from < rectangles.size(); ++from) {
        for (std::size_t to = 0; to < rectangles.size(); ++to) {
          const std::int64_t points = from == to ? 0 : points_read(problem, rectangles[from], rectangles[to], steps);
          if (points == 0) continue;
          expected.emplace_back(from, to, points);
          edges[from].leaving += points;
          edges[to].arriving += points;
          if (ranks[from] == ranks[to]) continue;
          between_ranks.push_back({ranks[from], ranks[to], element_bytes * static_cast<double>(points)});
        }
      }
      const std::vector<HaloMessage> messages = halo_messages(problem, rectangles, steps);
      for (const HaloMessage& message : messages) found.emplace_back(message.from, message.to, message.points());
      REQUIRE(found == expected);
      const std::vector<EdgePoints> points = edge_points(problem, rectangles, steps);
      for (std::size_t i = 0; i < rectangles.size(); ++i) {
        REQUIRE(points[i].leaving == edges[i].leaving);
        REQUIRE(points[i].arriving == edges[i].arriving);
        REQUIRE(points[i].border ==
                border_points(problem, rectangles[i], static_cast<std::int64_t>(problem.radius()) * steps));
      }
      const models::MessagePattern pattern = exchange_pattern(messages, ranks, ranks.back() + 1, element_bytes);
      REQUIRE(pattern.processes == ranks.back() + 1);
      REQUIRE(pattern.phases.size() == 1);
      REQUIRE(pattern.phases[0].sends == models::Phase::Sends::at_once);
      REQUIRE(pattern.phases[0].messages == between_ranks);
    }
  }
}

TEST_CASE(
    "a pass waits for the slowest border, then units that drive messages take turns with these beside the others") {
  Random random(5);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<UnitTimes> units(static_cast<std::size_t>(whole(random, 1, 6)));
    for (UnitTimes& unit : units) {
      for (const auto phase : unit_phases) unit.*phase = whole(random, 0, 3) == 0 ? 0.0 : uniform(random, 0.0, 9.0);
    }
    const std::vector<int> ranks = random_ranks(random, units.size());
    PassCost pass = pass_cost(ranks, units);
    pass.exchange_s = uniform(random, 0.0, 9.0);
    // 003, equations 5.5 to 5.10.
    double begin_s = 0.0, driving_s = 0.0, interior_s = 0.0;
    for (std::size_t i = 0; i < units.size(); ++i) {
      begin_s = std::max(begin_s, units[i].unpacking_s + units[i].border_s + units[i].packing_s);
      interior_s = std::max(interior_s, units[i].interior_s);
      if (std::ranges::find(ranks, ranks[i]) - ranks.begin() == static_cast<std::ptrdiff_t>(i)) {
        driving_s = std::max(driving_s, units[i].interior_s);
      }
    }
    CHECK(pass.total_s() == begin_s + std::max(driving_s + pass.exchange_s, interior_s));
    CHECK(pass.kernels_s() == begin_s + interior_s);
    for (const auto phase : unit_phases) {
      const auto longer = [&](const UnitTimes& a, const UnitTimes& b) { return a.*phase < b.*phase; };
      CHECK(pass.phases.*phase == (*std::ranges::max_element(units, longer)).*phase);
    }
  }
}

TEST_CASE("the phases of a unit grow with the points they work on, and add up to the pass of a unit like the sample") {
  const UnitTimes sample{1.0, 6.0, 2.0, 100.0};
  const EdgePoints points{60, 20, 10};
  const UnitTimes same = split_pass(50.0, 470, points, sample, points);
  CHECK(same.begin_s() == 9.0);
  CHECK(same.interior_s == 41.0);
  // Fewer neighbours: the points that are not at a border cost what the interior's cost.
  const UnitTimes half = split_pass(50.0, 470, {30, 10, 0}, sample, points);
  CHECK(half.unpacking_s == 0.0);
  CHECK(half.border_s == 3.0);
  CHECK(half.packing_s == 1.0);
  CHECK_THAT(half.interior_s, WithinRel(44.0));
  // A sample whose phases alone are longer than the pass.
  const UnitTimes squeezed = split_pass(3.0, 470, points, sample, points);
  CHECK_THAT(squeezed.border_s, WithinRel(2.0));
  CHECK_THAT(squeezed.begin_s(), WithinRel(3.0));
  CHECK(squeezed.interior_s == 0.0);
  // A unit that is all border, and one that was not sampled.
  CHECK(split_pass(12.0, 60, points, sample, points).interior_s == 3.0);
  CHECK(split_pass(5.0, 100, {}, {}, {}).interior_s == 5.0);
}

TEST_CASE(
    "an instance takes no more memory than the kernel says, not much less where it is large, and none when it runs") {
  const int order = GENERATE(2, 4), steps = GENERATE(1, 2, 8);
  const ElementType element = GENERATE(ElementType::float64, ElementType::float32);
  for (const std::int64_t columns : {3, 64, 513, 2048}) {
    const auto kernel = pass_kernel({0, columns, 0.5, Boundary::dirichlet, order}, element, steps);
    const KernelFacts facts = kernel->facts();
    const double row_bytes = (element == ElementType::float64 ? 8.0 : 4.0) * static_cast<double>(columns);
    // One step is made in place; several read two levels and write two, which are fetched first.
    CHECK(facts.bytes_per_unit == (steps == 1 ? 3.0 : 6.0) * row_bytes);
    // Two products that are added and three sums, with two sums, a product and a sum more for points farther away.
    CHECK(facts.flops_per_unit == (order == 2 ? 7.0 : 12.0) * static_cast<double>(columns * steps));
    for (const Kind kind : {Kind::host, Kind::companion}) {
      if (kind == Kind::companion && !has_companion) continue;
      for (const std::int64_t rows : {1, 2, 1000}) {
        CAPTURE(columns, rows, kind);
        std::unique_ptr<KernelRun> run;
        {
          const Allocations allocations;
          run = kernel->allocate(kind, rows);
          const double told = facts.memory_bytes_fixed + facts.memory_bytes_per_unit * static_cast<double>(rows);
          CHECK(allocations.bytes() > 0.0);
          CHECK(allocations.bytes() <= told);
          // A device has no use for what hosts leave free in huge pages.
          const bool tight = kind == Kind::host || !companion_is_device;
          if (tight && rows == 1000 && columns >= 512) CHECK(allocations.bytes() >= 0.75 * told);
        }
        if (rows == 1000) continue;
        // Kokkos takes what it needs itself in the first run.
        run->run();
        const Allocations later;
        for (int i = 0; i < 2; ++i) run->run();
        CHECK(later.bytes() == 0.0);
      }
    }
  }
}

}  // namespace steelyard::test_wave2d_plan
