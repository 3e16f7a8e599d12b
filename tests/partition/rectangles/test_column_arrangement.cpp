#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <limits>
#include <map>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/rectangles/column.hpp"
#include "tests/partition/random_areas.hpp"

namespace steelyard::test_column_arrangement {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::partition;
using tests::Random;
using tests::whole;
using Areas = std::vector<double>;

namespace {

/// Least sums of all arrangements of units that all have work, by number of columns.
std::map<std::size_t, double> least_by_columns(const Areas& areas, const Extents& extents) {
  std::map<std::size_t, double> least;
  tests::for_each_arrangement(static_cast<int>(areas.size()), [&](const Arrangement& arrangement) {
    const double sum = half_perimeters(areas, arrangement, extents);
    const auto entry = least.emplace(arrangement.size(), sum).first;
    entry->second = std::min(entry->second, sum);
  });
  return least;
}

Areas working_areas(Random& random, int count) {
  Areas areas = tests::random_areas(random, count);
  for (double& area : areas) area = std::max(area, 0.05);
  return areas;
}

Extents roomy_extents(Random& random) { return {whole(random, 1, 40), whole(random, 8, 40)}; }

}  // namespace

TEST_CASE("no arrangement in columns has a smaller sum of half-perimeters, for any number of columns and any sets") {
  Random random(1);
  const auto compare = [&](int count, int trials) {
    for (int trial = 0; trial < trials; ++trial) {
      const Areas areas = working_areas(random, count);
      const Extents extents = trial % 3 == 0 ? Extents{24, 24} : roomy_extents(random);
      INFO(count << " units, trial " << trial << ", " << extents.rows << " x " << extents.columns);
      const std::map<std::size_t, double> least = least_by_columns(areas, extents);
      double best = std::numeric_limits<double>::infinity();
      for (const auto& [columns, sum] : least) {
        const Arrangement arrangement = best_arrangement(areas, extents, static_cast<int>(columns));
        REQUIRE(arrangement.size() == columns);
        REQUIRE_THAT(half_perimeters(areas, arrangement, extents), WithinRel(sum, 1e-12));
        best = std::min(best, sum);
      }
      REQUIRE_THAT(half_perimeters(areas, best_arrangement(areas, extents), extents), WithinRel(best, 1e-11));
    }
  };
  for (int count = 1; count <= 6; ++count) compare(count, 40);
  compare(7, 12);
  compare(8, 20);
}

TEST_CASE("there are no more columns than blocks in a row, and fewer are then best") {
  Random random(2);
  for (int trial = 0; trial < 40; ++trial) {
    const Areas areas = working_areas(random, 6);
    const Extents extents{whole(random, 1, 12), whole(random, 1, 5)};
    double best = std::numeric_limits<double>::infinity();
    for (const auto& [columns, sum] : least_by_columns(areas, extents)) {
      if (columns <= static_cast<std::size_t>(extents.columns)) best = std::min(best, sum);
    }
    const Arrangement arrangement = best_arrangement(areas, extents);
    REQUIRE(arrangement.size() <= static_cast<std::size_t>(extents.columns));
    REQUIRE_THAT(half_perimeters(areas, arrangement, extents), WithinRel(best, 1e-11));
  }
}

TEST_CASE("004, figure 2: eight nodes stand in columns of width 0.5, 0.32 and 0.18") {
  // The caption lists seven speeds of eight, 0.9 together. That the speeds sum to 1 and the columns to the widths it
  // gives leaves one way to complete them: a second 0.1, in the second column.
  const Areas speeds = {0.3, 0.2, 0.12, 0.1, 0.1, 0.08, 0.05, 0.05};
  const Arrangement columns = {{0, 1}, {2, 3, 4}, {5, 6, 7}};
  const Extents square{100, 100};
  CHECK(best_arrangement(speeds, square) == columns);
  CHECK_THAT(half_perimeters(speeds, columns, square), WithinRel(550.0, 1e-12));
  const std::map<std::size_t, double> least = least_by_columns(speeds, square);
  CHECK(least.at(2) > 550.5);
  CHECK(least.at(4) > 550.5);
}

TEST_CASE("units without work stand nowhere, and leave the others' arrangement as it is") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Areas areas = working_areas(random, whole(random, 1, 20));
    Areas with_idle;
    std::vector<int> place;
    for (const double area : areas) {
      while (whole(random, 0, 2) == 0) with_idle.push_back(0.0);
      place.push_back(static_cast<int>(with_idle.size()));
      with_idle.push_back(area);
    }
    const Extents extents = roomy_extents(random);
    Arrangement expected = best_arrangement(areas, extents);
    for (std::vector<int>& units : expected) {
      for (int& unit : units) unit = place[static_cast<std::size_t>(unit)];
    }
    const Arrangement arrangement = best_arrangement(with_idle, extents);
    REQUIRE(half_perimeters(with_idle, arrangement, extents) == half_perimeters(with_idle, expected, extents));
    REQUIRE(arrangement == expected);
  }
}

TEST_CASE("areas count relative to each other only") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 30));
    const Extents extents = roomy_extents(random);
    for (const double factor : {0x1p-1000, 0x1p-30, 0x1p1018}) {
      Areas scaled = areas;
      for (double& area : scaled) area *= factor;
      REQUIRE(best_arrangement(scaled, extents) == best_arrangement(areas, extents));
    }
  }
}

TEST_CASE("of equal sums the one of fewer columns is taken, so that few slices of a row-major field are in pieces") {
  Random random(6);
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

TEST_CASE("equal units stand in a grid where there is one") {
  for (const int side : {2, 3, 4, 7, 10}) {
    const Arrangement grid = best_arrangement(Areas(static_cast<std::size_t>(side * side), 0.37), {100, 100});
    REQUIRE(grid.size() == static_cast<std::size_t>(side));
    for (const std::vector<int>& units : grid) REQUIRE(units.size() == static_cast<std::size_t>(side));
  }
}

TEST_CASE("a flat matrix is cut into columns and a tall one into rows") {
  const Areas areas(6, 1.0);
  CHECK(best_arrangement(areas, {1, 600}).size() == 6);
  CHECK(best_arrangement(areas, {600, 6}).size() == 1);
}

TEST_CASE("relative areas sum to 1, even where the areas themselves do not sum to a double") {
  const double huge = std::numeric_limits<double>::max();
  CHECK(relative_areas(Areas{huge, huge, 0.0, huge, huge}) == Areas{0.25, 0.25, 0.0, 0.25, 0.25});
  CHECK(relative_areas(Areas{std::numeric_limits<double>::denorm_min()}) == Areas{1.0});
}

TEST_CASE("areas that are none are refused with unit and value") {
  const Extents extents{4, 4};
  const auto refused = [&](const Areas& areas, const std::string& text) {
    CHECK_THROWS_MATCHES(best_arrangement(areas, extents), InvalidArgument, MessageMatches(ContainsSubstring(text)));
  };
  refused({}, "no areas");
  refused({0.0, 0.0, 0.0}, "all 3 areas are 0");
  refused({1.0, -0.5}, "area -0.5 of unit 1");
  refused({1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}, "area nan of unit 2");
  refused({std::numeric_limits<double>::infinity()}, "area inf of unit 0");
  CHECK_THROWS_AS(best_arrangement(Areas{1.0}, {0, 4}), InvalidArgument);
}

TEST_CASE("a number of columns that cannot all have work is refused with what there is") {
  const Areas areas = {1.0, 0.0, 2.0, 3.0};
  const auto refused = [&](const Extents& extents, int columns, const std::string& text) {
    CHECK_THROWS_MATCHES(best_arrangement(areas, extents, columns), InvalidArgument,
                         MessageMatches(ContainsSubstring(text)));
  };
  refused({9, 9}, 0, "0 columns for 3 units");
  refused({9, 9}, -1, "-1 columns");
  refused({9, 9}, 4, "4 columns for 3 units");
  refused({9, 2}, 3, "2 blocks in a row");
}

TEST_CASE("an arrangement that leaves a unit out, repeats it or invents it is refused with its number") {
  const Areas areas = {1.0, 0.0, 2.0};
  const auto refused = [&](const Arrangement& arrangement, const std::string& text) {
    CHECK_THROWS_MATCHES(half_perimeters(areas, arrangement, {4, 4}), InvalidArgument,
                         MessageMatches(ContainsSubstring(text)));
  };
  refused({{0}, {1}}, "unit 2 of area 2");
  refused({{0, 2}, {0}}, "unit 0 stands in two places");
  refused({{0, 1}, {1, 2}}, "unit 1 stands in two places");
  refused({{0, 3}, {2}}, "unit 3");
  refused({{0, -1}, {2}}, "unit -1");
  CHECK_NOTHROW(require_arrangement(areas, {{0}, {2}}));
  CHECK_NOTHROW(require_arrangement(areas, {{0, 1}, {}, {2}}));
}

TEST_CASE("a thousand units are arranged within seconds") {
  Random random(5);
  const Areas areas = working_areas(random, 1000);
  const auto start = std::chrono::steady_clock::now();
  const Arrangement arrangement = best_arrangement(areas, {4096, 4096});
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  CHECK(arrangement.size() > 20);
  CHECK(arrangement.size() < 50);
}

}  // namespace steelyard::test_column_arrangement
