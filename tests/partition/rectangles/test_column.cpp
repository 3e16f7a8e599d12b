#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/partition/random_areas.hpp"

namespace steelyard::test_column {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;
using Areas = std::vector<double>;

namespace {

void require_exact_tiling(const ColumnPartition& partition) {
  const Extents& extents = partition.extents;
  std::vector<int> owners(static_cast<std::size_t>(extents.rows * extents.columns), 0);
  for (const Rectangle& rectangle : partition.rectangles) {
    REQUIRE((rectangle.empty() ? rectangle == Rectangle{} : rectangle.rows > 0 && rectangle.columns > 0));
    REQUIRE((rectangle.row >= 0 && rectangle.end_row() <= extents.rows));
    REQUIRE((rectangle.column >= 0 && rectangle.end_column() <= extents.columns));
    for (std::int64_t row = rectangle.row; row < rectangle.end_row(); ++row) {
      for (std::int64_t column = rectangle.column; column < rectangle.end_column(); ++column) {
        ++owners[static_cast<std::size_t>(row * extents.columns + column)];
      }
    }
  }
  REQUIRE(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
}

void require_columns_match_rectangles(const ColumnPartition& partition) {
  std::int64_t first = 0;
  std::size_t units = 0;
  for (const Column& column : partition.columns) {
    REQUIRE(column.first == first);
    REQUIRE(column.count >= 1);
    std::int64_t row = 0;
    for (const int unit : column.units) {
      const Rectangle& rectangle = partition.rectangles[static_cast<std::size_t>(unit)];
      REQUIRE(rectangle == Rectangle{row, first, rectangle.rows, column.count});
      REQUIRE(rectangle.rows >= 1);
      row = rectangle.end_row();
      ++units;
    }
    REQUIRE(row == partition.extents.rows);
    first += column.count;
  }
  REQUIRE(first == partition.extents.columns);
  REQUIRE(units == static_cast<std::size_t>(std::count_if(partition.rectangles.begin(), partition.rectangles.end(),
                                                          [](const Rectangle& one) { return !one.empty(); })));
}

/// Random partitions of all three kinds, with and without enough blocks.
void for_each_random_partition(
    std::uint64_t seed, int trials,
    const std::function<void(const Areas&, const Arrangement&, const ColumnPartition&)>& visit) {
  Random random(seed);
  for (int trial = 0; trial < trials; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 25));
    const Extents extents = tests::random_extents(random, trial % 4 == 0 ? 5 : 60);
    const Arrangement best = best_arrangement(areas, extents);
    const int columns = whole(random, 1, static_cast<int>(best.size()));
    const Arrangement fixed = best_arrangement(areas, extents, columns);
    Arrangement any(static_cast<std::size_t>(whole(random, 1, 8)));
    for (int unit = 0; unit < static_cast<int>(areas.size()); ++unit) {
      any[static_cast<std::size_t>(whole(random, 0, static_cast<int>(any.size()) - 1))].push_back(unit);
    }
    INFO("trial " << trial << ": " << areas.size() << " units, " << extents.rows << " x " << extents.columns);
    visit(areas, best, column(areas, extents));
    visit(areas, fixed, column(areas, extents, columns));
    visit(areas, any, column(areas, extents, any));
  }
}

/// Relative area of a column; 0 for one without units.
double share(const std::vector<int>& units, const Areas& relative) {
  return std::accumulate(units.begin(), units.end(), 0.0,
                         [&](double sum, int unit) { return sum + relative[static_cast<std::size_t>(unit)]; });
}

/// Every way to round the parts of `total` in proportion to `shares` down or up.
void for_each_rounding(std::int64_t total, const Areas& shares,
                       const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (std::size_t up = 0; up < std::size_t{1} << shares.size(); ++up) {
    std::vector<std::int64_t> parts;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double quota = static_cast<double>(total) * shares[i] / sum;
      const bool is_whole = std::abs(quota - std::round(quota)) < 1e-9;
      parts.push_back(static_cast<std::int64_t>(is_whole ? std::round(quota) : std::floor(quota)));
      if ((up >> i & 1U) != 0 && !is_whole) ++parts.back();
    }
    if (std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == total) visit(parts);
  }
}

}  // namespace

TEST_CASE("a column-based partition gives every block to exactly one unit") {
  for_each_random_partition(1, 300, [](const Areas& areas, const Arrangement&, const ColumnPartition& partition) {
    REQUIRE(partition.rectangles.size() == areas.size());
    require_exact_tiling(partition);
    require_columns_match_rectangles(partition);
  });
}

TEST_CASE(
    "a rectangle is within one block row of its part of the column, a column within one of its part of the matrix") {
  for_each_random_partition(
      2, 300, [](const Areas& areas, const Arrangement& arrangement, const ColumnPartition& partition) {
        const Areas relative = relative_areas(areas);
        const auto rows = static_cast<double>(partition.extents.rows);
        const auto width = static_cast<double>(partition.extents.columns);
        constexpr double rounding = 1e-9;
        for (const std::vector<int>& units : arrangement) {
          const double of_column = share(units, relative);
          std::int64_t columns = 0;
          for (const int unit : units) {
            columns = std::max(columns, partition.rectangles[static_cast<std::size_t>(unit)].columns);
          }
          const auto wide = static_cast<double>(columns);
          REQUIRE(std::abs(wide - width * of_column) < 1.0 + rounding);
          if (columns == 0) continue;
          for (const int unit : units) {
            const double part = relative[static_cast<std::size_t>(unit)] / of_column;
            const auto area = static_cast<double>(partition.rectangles[static_cast<std::size_t>(unit)].area());
            REQUIRE(std::abs(area - wide * rows * part) < wide + rounding);
            // Together: one block row and the unit's part of one block column from what was asked for.
            const double asked = relative[static_cast<std::size_t>(unit)] * rows * width;
            REQUIRE(std::abs(area - asked) < wide + rows * part + rounding);
          }
        }
      });
}

TEST_CASE("no other rounding of widths and heights to their neighbouring whole numbers ends earlier") {
  Random random(8);
  for (int trial = 0; trial < 100; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 7));
    const Extents extents = tests::random_extents(random, 12);
    const Arrangement arrangement = best_arrangement(areas, extents);
    const Areas relative = relative_areas(areas);
    double longest = 0.0;
    const ColumnPartition partition = column(areas, extents);
    for (std::size_t i = 0; i < areas.size(); ++i) {
      if (areas[i] > 0.0) longest = std::max(longest, static_cast<double>(partition.rectangles[i].area()) / areas[i]);
    }
    Areas widths;
    for (const std::vector<int>& units : arrangement) widths.push_back(share(units, relative));
    double least = std::numeric_limits<double>::infinity();
    for_each_rounding(extents.columns, widths, [&](const std::vector<std::int64_t>& columns) {
      double of_all = 0.0;
      for (std::size_t c = 0; c < arrangement.size(); ++c) {
        Areas parts;
        for (const int unit : arrangement[c]) parts.push_back(areas[static_cast<std::size_t>(unit)]);
        double of_column = std::numeric_limits<double>::infinity();
        for_each_rounding(extents.rows, parts, [&](const std::vector<std::int64_t>& rows) {
          double time = 0.0;
          for (std::size_t i = 0; i < parts.size(); ++i) {
            time = std::max(time, static_cast<double>(rows[i] * columns[c]) / parts[i]);
          }
          of_column = std::min(of_column, time);
        });
        of_all = std::max(of_all, of_column);
      }
      least = std::min(least, of_all);
    });
    REQUIRE(longest <= least * (1.0 + 1e-12));
  }
}

TEST_CASE("a unit without work has an empty rectangle") {
  for_each_random_partition(3, 200, [](const Areas& areas, const Arrangement&, const ColumnPartition& partition) {
    for (std::size_t i = 0; i < areas.size(); ++i) {
      if (areas[i] == 0.0) REQUIRE(partition.rectangles[i] == Rectangle{});
    }
  });
}

TEST_CASE("whole rectangles are found exactly, in whatever unit their areas are given") {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t rows = whole(random, 10, 500);
    const double speed = std::exp(tests::uniform(random, -20, 20));
    Areas areas;
    std::vector<Rectangle> rectangles;
    Arrangement arrangement(static_cast<std::size_t>(whole(random, 1, 6)));
    std::int64_t columns = 0;
    for (std::vector<int>& units : arrangement) {
      const std::int64_t wide = whole(random, 1, 80);
      for (std::int64_t row = 0; row < rows;) {
        const std::int64_t high = std::min<std::int64_t>(rows - row, whole(random, 1, 200));
        units.push_back(static_cast<int>(areas.size()));
        areas.push_back(static_cast<double>(high * wide) * speed);
        rectangles.push_back({row, columns, high, wide});
        row += high;
      }
      columns += wide;
    }
    REQUIRE(column(areas, {rows, columns}, arrangement).rectangles == rectangles);
  }
}

TEST_CASE("004, figure 2: rectangles of eight nodes over 100 x 100 blocks") {
  const ColumnPartition partition = column(Areas{0.3, 0.2, 0.12, 0.1, 0.1, 0.08, 0.05, 0.05}, {100, 100});
  REQUIRE(partition.columns.size() == 3);
  CHECK(partition.columns[0] == Column{0, 50, {0, 1}});
  CHECK(partition.columns[1] == Column{50, 32, {2, 3, 4}});
  CHECK(partition.columns[2] == Column{82, 18, {5, 6, 7}});
  CHECK(partition.rectangles[0] == Rectangle{0, 0, 60, 50});
  CHECK(partition.rectangles[1] == Rectangle{60, 0, 40, 50});
  CHECK(partition.half_perimeters() == 550);
}

TEST_CASE("equal calls give equal partitions") {
  for_each_random_partition(5, 100,
                            [](const Areas& areas, const Arrangement& arrangement, const ColumnPartition& partition) {
                              REQUIRE(column(areas, partition.extents, arrangement) == partition);
                            });
}

TEST_CASE("half-perimeters in blocks are those of the arrangement as far as widths are whole and nobody is empty") {
  Random random(6);
  int compared = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 12));
    const Extents extents{5000, 5000};
    const ColumnPartition partition = column(areas, extents);
    const double exact = half_perimeters(areas, best_arrangement(areas, extents), extents);
    // Each of C columns is less than one block off, and that as often as it has units.
    const auto units = static_cast<double>(areas.size());
    REQUIRE(std::abs(static_cast<double>(partition.half_perimeters()) - exact) < units);
    ++compared;
  }
  CHECK(compared == 300);
}

TEST_CASE("with fewer blocks than units the fast ones share them and the others are empty") {
  Areas areas(10, 0.01);
  areas[3] = 5.0;
  areas[7] = 5.0;
  const ColumnPartition partition = column(areas, {2, 2});
  require_exact_tiling(partition);
  CHECK(partition.rectangles[3].area() == 2);
  CHECK(partition.rectangles[7].area() == 2);
  for (int rows = 1; rows <= 6; ++rows) require_exact_tiling(column(Areas(40, 1.0), {rows, 3}));
}

TEST_CASE("one unit owns the whole matrix, alone or among idle ones") {
  CHECK(column(Areas{0.1}, {7, 3}).rectangles == std::vector<Rectangle>{{0, 0, 7, 3}});
  CHECK(column(Areas{0.0, 4.0, 0.0}, {7, 3}).rectangles == std::vector<Rectangle>{{}, {0, 0, 7, 3}, {}});
  CHECK(column(Areas{2.0}, {1, 1}).half_perimeters() == 2);
}

TEST_CASE("the largest matrix that is allowed is tiled") {
  Random random(7);
  const Extents extents{most_blocks_per_side, most_blocks_per_side};
  for (int trial = 0; trial < 50; ++trial) {
    const ColumnPartition partition = column(tests::random_areas(random, whole(random, 1, 60)), extents);
    require_columns_match_rectangles(partition);
    std::int64_t area = 0;
    for (const Rectangle& rectangle : partition.rectangles) area += rectangle.area();
    REQUIRE(area == most_blocks_per_side * most_blocks_per_side);
  }
}

TEST_CASE("areas at the ends of the range of doubles are tiled") {
  for (const Areas& areas : {Areas{5e-324, 1.0, 1e308}, Areas{5e-324, 5e-324, 1e-320}, Areas{1e308, 1e308, 1e308}}) {
    const ColumnPartition partition = column(areas, {9, 9}, Arrangement{{0}, {1, 2}});
    require_exact_tiling(partition);
    require_columns_match_rectangles(partition);
  }
}

TEST_CASE("what cannot be partitioned is refused") {
  CHECK_THROWS_AS(column(Areas{}, {4, 4}), InvalidArgument);
  CHECK_THROWS_AS(column(Areas{1.0, -1.0}, {4, 4}), InvalidArgument);
  CHECK_THROWS_AS(column(Areas{1.0}, {4, 0}), InvalidArgument);
  CHECK_THROWS_AS(column(Areas{1.0, 1.0}, {4, 4}, 3), InvalidArgument);
  CHECK_THROWS_AS(column(Areas{1.0, 1.0}, {4, 4}, Arrangement{{0}}), InvalidArgument);
  CHECK_THROWS_AS(column(Areas{1.0}, {0, 4}, Arrangement{{0}}), InvalidArgument);
}

}  // namespace steelyard::test_column
