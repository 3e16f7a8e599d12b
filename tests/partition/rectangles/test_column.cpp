#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "partition/rectangles/column.hpp"
#include "tests/catch.hpp"
#include "tests/partition/random_areas.hpp"

namespace steelyard::test_column {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;
using Areas = std::vector<double>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Every set partition of units 0 … count - 1 into columns.
void for_each_arrangement(int count, const std::function<void(const Arrangement&)>& visit) {
  Arrangement arrangement;
  const std::function<void(int)> place = [&](int unit) {
    if (unit == count) return visit(arrangement);
    // Not a range: the recursion adds columns and takes them away again.
    for (std::size_t column = 0; column < arrangement.size(); ++column) {
      arrangement[column].push_back(unit);
      place(unit + 1);
      arrangement[column].pop_back();
    }
    arrangement.push_back({unit});
    place(unit + 1);
    arrangement.pop_back();
  };
  place(0);
}

/// Areas divided by their sum, which need not be finite.
Areas relative_areas(Areas areas) {
  const double largest = *std::ranges::max_element(areas);
  for (double& area : areas) area /= largest;
  const double sum = std::accumulate(areas.begin(), areas.end(), 0.0);
  for (double& area : areas) area /= sum;
  return areas;
}

/// Relative area of a column; 0 for one without units.
double share(const std::vector<int>& units, const Areas& relative) {
  return std::accumulate(units.begin(), units.end(), 0.0,
                         [&](double sum, int unit) { return sum + relative[static_cast<std::size_t>(unit)]; });
}

/// Sum of half-perimeters before rounding to blocks. Source: 004, section III, figure 2.
double half_perimeters(const Areas& areas, const Arrangement& arrangement, const Extents& extents) {
  const Areas relative = relative_areas(areas);
  double sum = 0.0;
  for (const std::vector<int>& units : arrangement) {
    sum += static_cast<double>(extents.rows) +
           static_cast<double>(extents.columns) * static_cast<double>(units.size()) * share(units, relative);
  }
  return sum;
}

Areas working_areas(Random& random, int count) {
  Areas areas = tests::random_areas(random, count);
  for (double& area : areas) area = std::max(area, 0.05);
  return areas;
}

/// Columns from left to right, each full of its units' rectangles from top to bottom: every block has one owner.
void require_tiling(const ColumnPartition& partition) {
  std::int64_t first = 0, units = 0;
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
  // All others are empty.
  REQUIRE(std::ranges::count(partition.rectangles, Rectangle{}) + units ==
          static_cast<std::int64_t>(partition.rectangles.size()));
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

TEST_CASE("no arrangement in columns has a smaller sum of half-perimeters, for any number of columns and any sets") {
  Random random(1);
  const auto compare = [&](int count, int trials) {
    for (int trial = 0; trial < trials; ++trial) {
      const Areas areas = working_areas(random, count);
      const Extents extents = trial % 3 == 0 ? Extents{24, 24} : Extents{whole(random, 1, 40), whole(random, 1, 30)};
      INFO(count << " units, trial " << trial << ", " << extents.rows << " x " << extents.columns);
      std::map<std::size_t, double> least;
      for_each_arrangement(count, [&](const Arrangement& arrangement) {
        if (arrangement.size() > static_cast<std::size_t>(extents.columns)) return;
        const double sum = half_perimeters(areas, arrangement, extents);
        const auto entry = least.emplace(arrangement.size(), sum).first;
        entry->second = std::min(entry->second, sum);
      });
      double best = infinity;
      for (const auto& [columns, sum] : least) {
        const Arrangement arrangement = best_arrangement(areas, extents, static_cast<int>(columns));
        REQUIRE(arrangement.size() == columns);
        REQUIRE_THAT(half_perimeters(areas, arrangement, extents), WithinRel(sum, 1e-12));
        best = std::min(best, sum);
      }
      const Arrangement arrangement = best_arrangement(areas, extents);
      REQUIRE(arrangement.size() <= static_cast<std::size_t>(extents.columns));
      REQUIRE_THAT(half_perimeters(areas, arrangement, extents), WithinRel(best, 1e-11));
    }
  };
  for (int count = 1; count <= 6; ++count) compare(count, 60);
  compare(7, 12);
  compare(8, 20);
}

TEST_CASE("004, figure 2: eight nodes stand in columns of width 0.5, 0.32 and 0.18 over 100 x 100 blocks") {
  // The caption lists seven speeds of eight, 0.9 together. That the speeds sum to 1 and the columns to the widths it
  // gives leaves one way to complete them: a second 0.1, in the second column.
  const Areas speeds = {0.3, 0.2, 0.12, 0.1, 0.1, 0.08, 0.05, 0.05};
  const Arrangement columns = {{0, 1}, {2, 3, 4}, {5, 6, 7}};
  const Extents square{100, 100};
  CHECK(best_arrangement(speeds, square) == columns);
  CHECK_THAT(half_perimeters(speeds, columns, square), WithinRel(550.0, 1e-12));
  const ColumnPartition partition = column(speeds, square);
  CHECK(partition.columns == std::vector<Column>{{0, 50, {0, 1}}, {50, 32, {2, 3, 4}}, {82, 18, {5, 6, 7}}});
  CHECK(partition.rectangles[0] == Rectangle{0, 0, 60, 50});
  CHECK(partition.rectangles[1] == Rectangle{60, 0, 40, 50});
  CHECK(partition.half_perimeters() == 550);
}

TEST_CASE("areas count relative to each other only, and units without work stand nowhere") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Areas areas = working_areas(random, whole(random, 1, 20));
    const Extents extents{whole(random, 1, 40), whole(random, 8, 40)};
    Areas with_idle;
    std::vector<int> place;
    for (const double area : areas) {
      while (whole(random, 0, 2) == 0) with_idle.push_back(0.0);
      place.push_back(static_cast<int>(with_idle.size()));
      with_idle.push_back(area);
    }
    Arrangement expected = best_arrangement(areas, extents);
    for (std::vector<int>& units : expected) {
      for (int& unit : units) unit = place[static_cast<std::size_t>(unit)];
    }
    for (const double factor : {1.0, 0x1p-1000, 0x1p-30, 0x1p1018}) {
      Areas scaled = with_idle;
      for (double& area : scaled) area *= factor;
      REQUIRE(best_arrangement(scaled, extents) == expected);
    }
  }
  const double huge = std::numeric_limits<double>::max();
  CHECK(column(Areas{huge, huge, 0.0, huge, huge}, {2, 2}).rectangles[2].empty());
}

TEST_CASE("of equal sums the one of fewer columns is taken, so that few slices of a row-major field are in pieces") {
  Random random(4);
  for (int trial = 0; trial < 1000; ++trial) {
    // In one column two units of a square have half-perimeters of 1 + 2, in two 2 + 1.
    const std::int64_t side = whole(random, 2, 1000);
    const Areas two = {tests::uniform(random, 0.1, 1.0), tests::uniform(random, 0.1, 1.0)};
    REQUIRE(best_arrangement(two, {side, side}).size() == 1);
    // Three equal ones of 2 x 3: 2 + 9 in one column, 4 + 5 in two, 6 + 3 in three.
    const double area = tests::uniform(random, 0.1, 1.0);
    REQUIRE(best_arrangement(Areas(3, area), {2 * side, 3 * side}).size() == 2);
  }
}

TEST_CASE("every block has one owner, in any number of columns, and units stand as they are arranged") {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 25));
    const Extents extents = tests::random_extents(random, trial % 4 == 0 ? 5 : 60);
    const int most = static_cast<int>(best_arrangement(areas, extents).size());
    INFO("trial " << trial << ": " << areas.size() << " units, " << extents.rows << " x " << extents.columns);
    for (const std::optional<int> columns : {std::optional<int>(), std::optional(whole(random, 1, most))}) {
      const ColumnPartition partition = column(areas, extents, columns);
      REQUIRE(partition.extents == extents);
      REQUIRE(partition.rectangles.size() == areas.size());
      require_tiling(partition);
      for (std::size_t i = 0; i < areas.size(); ++i) {
        if (areas[i] == 0.0) REQUIRE(partition.rectangles[i].empty());
      }
      // Rounding leaves out units and columns, no more.
      Arrangement arranged = best_arrangement(areas, extents, columns);
      for (std::vector<int>& units : arranged) {
        std::erase_if(units, [&](int unit) { return partition.rectangles[static_cast<std::size_t>(unit)].empty(); });
      }
      std::erase_if(arranged, [](const std::vector<int>& units) { return units.empty(); });
      Arrangement found;
      for (const Column& each : partition.columns) found.push_back(each.units);
      REQUIRE(found == arranged);
    }
  }
}

TEST_CASE("widths and heights are rounded down or up to whole numbers such that the longest time is least") {
  Random random(6);
  for (int trial = 0; trial < 100; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 7));
    const Extents extents = tests::random_extents(random, 12);
    const Arrangement arrangement = best_arrangement(areas, extents);
    double longest = 0.0;
    const ColumnPartition partition = column(areas, extents);
    for (std::size_t i = 0; i < areas.size(); ++i) {
      if (areas[i] > 0.0) longest = std::max(longest, static_cast<double>(partition.rectangles[i].area()) / areas[i]);
    }
    Areas widths;
    for (const std::vector<int>& units : arrangement) widths.push_back(share(units, relative_areas(areas)));
    double least = infinity;
    for_each_rounding(extents.columns, widths, [&](const std::vector<std::int64_t>& columns) {
      double of_all = 0.0;
      for (std::size_t c = 0; c < arrangement.size(); ++c) {
        Areas parts;
        for (const int unit : arrangement[c]) parts.push_back(areas[static_cast<std::size_t>(unit)]);
        double of_column = infinity;
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
    REQUIRE_THAT(longest, WithinRel(least, 1e-12));
  }
}

TEST_CASE("a thousand units, the largest matrix and areas at the ends of the range of doubles are tiled") {
  Random random(8);
  const Arrangement thousand = best_arrangement(working_areas(random, 1000), {4096, 4096});
  CHECK(thousand.size() > 20);
  CHECK(thousand.size() < 50);
  for (int trial = 0; trial < 50; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 60));
    require_tiling(column(areas, {most_blocks_per_side, most_blocks_per_side}));
  }
  for (const Areas& areas : {Areas{5e-324, 1.0, 1e308}, Areas{5e-324, 5e-324, 1e-320}, Areas{1e308, 1e308, 1e308}}) {
    require_tiling(column(areas, {9, 9}));
  }
}

}  // namespace steelyard::test_column
