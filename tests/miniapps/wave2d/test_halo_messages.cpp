#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

#include "miniapps/wave2d/assignment.hpp"
#include "tests/miniapps/grid.hpp"
#include "tests/miniapps/wave2d/grid_cuts.hpp"
#include "tests/miniapps/wave2d/moving_field.hpp"

namespace steelyard::test_halo_messages {

using namespace steelyard::wave2d;
using partition::Rectangle;
using tests::Random;
using tests::whole;

namespace {

using Rectangles = std::vector<Rectangle>;
/// How often each point of a grid counts.
using Counts = tests::Grid<int>;

Problem problem_of(std::int64_t rows, std::int64_t columns, int order) {
  return {rows, columns, 0.5, Boundary::dirichlet, order};
}

bool contains(const Rectangle& rectangle, std::int64_t i, std::int64_t j) {
  return rectangle.row <= i && i < rectangle.end_row() && rectangle.column <= j && j < rectangle.end_column();
}

void count(const Rectangle& rectangle, Counts& counts) {
  for_points(rectangle, [&](std::int64_t i, std::int64_t j) { ++counts(i, j); });
}

/// Rows or columns, whichever are more, from a rectangle to a point; 0 inside.
std::int64_t distance(const Rectangle& rectangle, std::int64_t i, std::int64_t j) {
  return std::max({rectangle.row - i, i - (rectangle.end_row() - 1), rectangle.column - j,
                   j - (rectangle.end_column() - 1), std::int64_t{0}});
}

/// Adds what one step to the points of `to` reads of the level before: the stencil's arms, mirrored at the grid's
/// edges.
void add_arms(const Problem& problem, const Counts& to, Counts& from) {
  const auto mirrored = [](std::int64_t at, std::int64_t extent) {
    return at < 0 ? -at : at >= extent ? 2 * (extent - 1) - at : at;
  };
  for (std::int64_t i = 0; i < to.rows; ++i) {
    for (std::int64_t j = 0; j < to.columns; ++j) {
      if (to(i, j) == 0) continue;
      for (int d = -problem.radius(); d <= problem.radius(); ++d) {
        from(mirrored(i + d, to.rows), j) = 1;
        from(i, mirrored(j + d, to.columns)) = 1;
      }
    }
  }
}

/// What a pass of a unit reads of levels n and n - 1.
struct Reads {
  Counts current;
  Counts previous;
};

/// Found point by point, from the last step back to the first: level m is computed from the arms in level m - 1 and the
/// points themselves in level m - 2.
Reads reads_of(const Problem& problem, const Rectangle& rectangle, int steps) {
  Counts newer(problem.rows, problem.columns), older(problem.rows, problem.columns);
  count(rectangle, newer);
  for (int step = steps; step >= 1; --step) {
    add_arms(problem, newer, older);
    std::swap(newer, older);
  }
  return {newer, older};
}

/// The first point where a level does not arrive as it must, in words; empty where there is none.
/// @param depth what arrives beyond single steps: all around the rectangle up to this distance
std::string first_wrong(const Rectangle& own, const Counts& arrived, const Counts& read, std::int64_t depth,
                        bool single_step) {
  for (std::int64_t i = 0; i < arrived.rows; ++i) {
    for (std::int64_t j = 0; j < arrived.columns; ++j) {
      const bool outside = !contains(own, i, j);
      const bool needed = outside && read(i, j) != 0;
      const bool documented = single_step ? needed : outside && distance(own, i, j) <= depth;
      if (arrived(i, j) == (documented ? 1 : 0) && (arrived(i, j) == 1 || !needed)) continue;
      return "point (" + std::to_string(i) + ", " + std::to_string(j) + ") arrives " + std::to_string(arrived(i, j)) +
             " times" + (needed ? ", is read" : "") + (documented ? ", is to arrive" : "");
    }
  }
  return {};
}

/// Calls check(problem, rectangles, steps) for grids of all shapes cut in all ways.
template <class Check>
void for_random_cuts(unsigned seed, int trials, const Check& check) {
  Random random(seed);
  for (int trial = 0; trial < trials; ++trial) {
    const partition::Extents extents{whole(random, 3, 17), whole(random, 3, 17)};
    const Problem problem = problem_of(extents.rows, extents.columns, 2 * whole(random, 1, 2));
    const Rectangles rectangles = tests::random_cut(random, extents);
    for (int steps = 1; steps <= 6; ++steps) {
      INFO(steps << " steps on " << tests::text_of(problem, rectangles));
      check(problem, rectangles, steps);
    }
  }
}

/// Every part lies in its owner's rectangle; adds them up for the unit that gets them.
Reads arrivals(const Problem& problem, const Rectangles& rectangles, const std::vector<HaloMessage>& messages,
               std::size_t to) {
  Reads arrived{{problem.rows, problem.columns}, {problem.rows, problem.columns}};
  for (const HaloMessage& message : messages) {
    if (message.to != static_cast<int>(to)) continue;
    const Rectangle& owner = rectangles[static_cast<std::size_t>(message.from)];
    for_parts(message, [&](Level level, const Rectangle& part) {
      REQUIRE_FALSE(part.empty());
      REQUIRE(partition::common_part(part, owner) == part);
      count(part, level == Level::current ? arrived.current : arrived.previous);
    });
  }
  return arrived;
}

}  // namespace

TEST_CASE("what a pass reads around a unit's rectangle comes once and from its owner, and nothing from farther away") {
  for_random_cuts(1, 250, [](const Problem& problem, const Rectangles& rectangles, int steps) {
    const std::vector<HaloMessage> messages = halo_messages(problem, rectangles, steps);
    const HaloDepth depth = halo_depth(problem, steps);
    for (std::size_t to = 0; to < rectangles.size(); ++to) {
      const Rectangle& own = rectangles[to];
      const Reads arrived = arrivals(problem, rectangles, messages, to);
      if (own.empty()) {
        REQUIRE(arrived.current == Counts(problem.rows, problem.columns));
        REQUIRE(arrived.previous == Counts(problem.rows, problem.columns));
        continue;
      }
      const Reads read = reads_of(problem, own, steps);
      INFO("unit " << to);
      REQUIRE(first_wrong(own, arrived.current, read.current, depth.current, steps == 1).empty());
      REQUIRE(first_wrong(own, arrived.previous, read.previous, depth.previous, steps == 1).empty());
    }
  });
}

TEST_CASE("messages go by sender, then by receiver, one for each two units that need one, with points of borders") {
  for_random_cuts(2, 250, [](const Problem& problem, const Rectangles& rectangles, int steps) {
    std::pair<int, int> before{-1, -1};
    for (const HaloMessage& message : halo_messages(problem, rectangles, steps)) {
      const std::pair<int, int> now{message.from, message.to};
      REQUIRE(before < now);
      before = now;
      REQUIRE(message.from != message.to);
      std::int64_t points = 0;
      // Nothing of the interior leaves.
      const Rectangle& owner = rectangles[static_cast<std::size_t>(message.from)];
      const Rectangle interior = cut_border(problem, owner, steps).interior;
      for_parts(message, [&](Level, const Rectangle& part) {
        REQUIRE(partition::common_part(part, interior).empty());
        points += part.area();
      });
      REQUIRE(points > 0);
      REQUIRE(message.points() == points);
    }
  });
}

TEST_CASE(
    "border and interior are all of a rectangle once, and the interior is what lies deep enough inside the grid") {
  for_random_cuts(4, 250, [](const Problem& problem, const Rectangles& rectangles, int steps) {
    const std::int64_t depth = halo_depth(problem, steps).current;
    for (const Rectangle& own : rectangles) {
      const BorderAndInterior parts = cut_border(problem, own, steps);
      Counts found(problem.rows, problem.columns), expected(problem.rows, problem.columns);
      for (const Rectangle& part : parts.border) {
        REQUIRE_FALSE(part.empty());
        REQUIRE(partition::common_part(part, own) == part);
        count(part, found);
      }
      Counts interior(problem.rows, problem.columns);
      if (!parts.interior.empty()) REQUIRE(partition::common_part(parts.interior, own) == parts.interior);
      count(parts.interior, interior);
      count(parts.interior, found);
      if (!own.empty()) count(own, expected);
      REQUIRE(found == expected);
      // Nobody is beyond an edge of the grid, so nothing waits for what lies along it.
      Counts deep(problem.rows, problem.columns);
      for_points(own, [&](std::int64_t i, std::int64_t j) {
        const bool free_above = own.row == 0 || i - own.row >= depth;
        const bool free_below = own.end_row() == problem.rows || own.end_row() - 1 - i >= depth;
        const bool free_left = own.column == 0 || j - own.column >= depth;
        const bool free_right = own.end_column() == problem.columns || own.end_column() - 1 - j >= depth;
        deep(i, j) = free_above && free_below && free_left && free_right ? 1 : 0;
      });
      REQUIRE(interior == deep);
    }
  });
}

}  // namespace steelyard::test_halo_messages
