#include <optional>

#include "miniapps/wave2d/plan.hpp"
#include "partition/algorithms.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/grid_cuts.hpp"

namespace steelyard::test_assignment {

using namespace steelyard::wave2d;
using partition::Rectangle;
using tests::Random;
using tests::whole;

namespace {

using Rectangles = std::vector<Rectangle>;
/// How often each point of a grid counts.
using Counts = tests::Grid<int>;

std::vector<std::string> partition_names() {
  std::vector<std::string> names{"column"};
  for (const partition::Algorithm& algorithm : partition::algorithms()) names.push_back(algorithm.name);
  return names;
}

void count(const Rectangle& rectangle, Counts& counts) {
  for_points(rectangle, [&](std::int64_t i, std::int64_t j) { ++counts(i, j); });
}

/// Point by point: every one in exactly one rectangle, and no rectangle beyond the grid.
bool covers(const Rectangles& rectangles, const Problem& problem) {
  Counts owners(problem.rows, problem.columns);
  for (const Rectangle& r : rectangles) {
    if (r.empty() ? r != Rectangle{} : partition::common_part(r, {0, 0, problem.rows, problem.columns}) != r) {
      return false;
    }
    count(r, owners);
  }
  return std::ranges::all_of(owners.values, [](int times) { return times == 1; });
}

}  // namespace

TEST_CASE(
    "rectangles cover the grid once as the algorithm gives rows or areas, within what units hold, or are refused") {
  Random random(1);
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
    for (const std::string& name : partition_names()) {
      INFO(trial << ": " << name << ", " << unit_count << " units, " << problem.rows << " x " << problem.columns);
      std::optional<Assignment> assignment;
      try {
        assignment = assign(problem, units.models, name);
      } catch (const InvalidArgument&) {
        // Rectangles of whole points may be larger than areas that fit.
        REQUIRE((memory == 2 || (memory == 1 && name == "column")));
        continue;
      }
      REQUIRE(memory != 2);
      REQUIRE(covers(assignment->rectangles, problem));
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

TEST_CASE("a partition that there is not is refused with those that there are, and one without units") {
  const models::ConstantModel model(1.0);
  for (const std::string name : {"fair", "columns", "Column", ""}) {
    CHECK_THROWS_MATCHES(assign({9, 9}, {&model}, name), InvalidArgument,
                         MessageMatches(ContainsSubstring("\"" + name + "\"") && ContainsSubstring("even") &&
                                        ContainsSubstring("hpopta") && ContainsSubstring("column")));
  }
  for (const std::string& name : partition_names()) CHECK_THROWS_AS(assign({9, 5}, {}, name), InvalidArgument);
}

namespace {

/// How often each point of a level arrives at a unit; every part lies in its owner's border.
Counts arrivals(const Problem& problem, const Rectangles& rectangles, const std::vector<HaloMessage>& messages,
                std::size_t to, Level level, int steps) {
  Counts arrived(problem.rows, problem.columns);
  for (const HaloMessage& message : messages) {
    if (message.to != static_cast<int>(to)) continue;
    const Rectangle& owner = rectangles[static_cast<std::size_t>(message.from)];
    const Rectangle interior = cut_border(problem, owner, steps).interior;
    for (const auto& [of, part] : message.parts) {
      REQUIRE_FALSE(part.empty());
      REQUIRE(partition::common_part(part, owner) == part);
      REQUIRE(partition::common_part(part, interior).empty());
      if (of == level) count(part, arrived);
    }
  }
  return arrived;
}

/// What a pass reads of a level around a rectangle: the stencil's arms for a single step, else all up to a distance.
Counts needed(const Problem& problem, const Rectangle& own, std::int64_t depth, bool arms) {
  Counts points(problem.rows, problem.columns);
  for_points({0, 0, problem.rows, problem.columns}, [&](std::int64_t i, std::int64_t j) {
    const std::int64_t down = std::max({own.row - i, i - own.end_row() + 1, std::int64_t{0}});
    const std::int64_t beside = std::max({own.column - j, j - own.end_column() + 1, std::int64_t{0}});
    const bool inside = down == 0 && beside == 0, corner = down > 0 && beside > 0;
    const bool is_read = !own.empty() && !inside && std::max(down, beside) <= depth && !(arms && corner);
    points(i, j) = is_read ? 1 : 0;
  });
  return points;
}

/// Border and interior are a rectangle once. The interior is as far from other units as their passes read; nobody is
/// beyond an edge of the grid.
void check_border(const Problem& problem, const Rectangle& own, std::int64_t depth, const BorderAndInterior& parts) {
  Counts found(problem.rows, problem.columns), interior = found, all = found, deep = found;
  for (const Rectangle& part : parts.border) count(part, found);
  count(parts.interior, found);
  count(parts.interior, interior);
  for_points(own, [&](std::int64_t i, std::int64_t j) {
    all(i, j) = 1;
    const bool free_above = own.row == 0 || i - own.row >= depth;
    const bool free_below = own.end_row() == problem.rows || own.end_row() - 1 - i >= depth;
    const bool free_left = own.column == 0 || j - own.column >= depth;
    const bool free_right = own.end_column() == problem.columns || own.end_column() - 1 - j >= depth;
    deep(i, j) = free_above && free_below && free_left && free_right ? 1 : 0;
  });
  REQUIRE(found == all);
  REQUIRE(interior == deep);
}

}  // namespace

TEST_CASE(
    "what a pass reads around a rectangle comes once and from its owner's border, and nothing from farther away") {
  Random random(2);
  for (int trial = 0; trial < 250; ++trial) {
    const Problem problem{whole(random, 3, 17), whole(random, 3, 17), 0.5, Boundary::dirichlet,
                          2 * whole(random, 1, 2)};
    const Rectangles rectangles = tests::random_cut(random, problem);
    for (int steps = 1; steps <= 6; ++steps) {
      CAPTURE(trial, steps, problem.rows, problem.columns, problem.order);
      const std::vector<HaloMessage> messages = halo_messages(problem, rectangles, steps);
      const std::vector<EdgePoints> edges = edge_points(problem, rectangles, steps);
      const std::int64_t depth = static_cast<std::int64_t>(problem.radius()) * steps;
      std::vector<EdgePoints> expected(rectangles.size());
      std::pair<int, int> before{-1, -1};
      for (const HaloMessage& message : messages) {
        const std::pair<int, int> now{message.from, message.to};
        REQUIRE(before < now);
        before = now;
        REQUIRE(message.from != message.to);
        std::int64_t points = 0;
        for (const LevelPart& part : message.parts) points += part.rectangle.area();
        REQUIRE(points > 0);
        REQUIRE(message.points() == points);
        expected[static_cast<std::size_t>(message.from)].leaving += points;
        expected[static_cast<std::size_t>(message.to)].arriving += points;
      }
      for (std::size_t to = 0; to < rectangles.size(); ++to) {
        const Rectangle& own = rectangles[to];
        REQUIRE(arrivals(problem, rectangles, messages, to, Level::current, steps) ==
                needed(problem, own, depth, steps == 1));
        REQUIRE(arrivals(problem, rectangles, messages, to, Level::previous, steps) ==
                needed(problem, own, depth - problem.radius(), false));
        const BorderAndInterior parts = cut_border(problem, own, steps);
        check_border(problem, own, depth, parts);
        REQUIRE(edges[to].leaving == expected[to].leaving);
        REQUIRE(edges[to].arriving == expected[to].arriving);
        REQUIRE(edges[to].border == own.area() - parts.interior.area());
      }
    }
  }
}

}  // namespace steelyard::test_assignment
