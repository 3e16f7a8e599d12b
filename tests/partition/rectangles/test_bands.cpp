#include <catch2/catch_test_macros.hpp>

#include "partition/rectangles/rectangle.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::test_bands {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;

namespace {

using Rectangles = std::vector<Rectangle>;

/// Units in block row (or column) `index`, by asking every rectangle.
std::vector<int> units_at(const Rectangles& rectangles, std::int64_t index, bool rows) {
  std::vector<int> units;
  for (std::size_t unit = 0; unit < rectangles.size(); ++unit) {
    const Rectangle& r = rectangles[unit];
    const std::int64_t first = rows ? r.row : r.column, end = rows ? r.end_row() : r.end_column();
    if (!r.empty() && first <= index && index < end) units.push_back(static_cast<int>(unit));
  }
  return units;
}

/// Walks through the bands from one block row (or column) to the next: nothing missing, nothing twice.
void check_bands(const std::vector<Band>& bands, const Rectangles& rectangles, std::int64_t blocks, bool rows) {
  std::int64_t next = 0;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    REQUIRE(bands[i].first == next);
    REQUIRE(bands[i].count >= 1);
    for (; next < bands[i].first + bands[i].count; ++next) {
      REQUIRE(units_at(rectangles, next, rows) == bands[i].units);
    }
    if (i > 0) REQUIRE(bands[i].units != bands[i - 1].units);
  }
  REQUIRE(next == blocks);
}

}  // namespace

TEST_CASE("bands go from one side of the matrix to the other, as long as the units stay the same") {
  Random random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const int blocks = whole(random, 1, 24);
    const Rectangles rectangles = tests::random_rectangles(random, blocks, 12);
    check_bands(row_bands(rectangles), rectangles, blocks, true);
    check_bands(column_bands(rectangles), rectangles, blocks, false);
  }
}

TEST_CASE("what two units have in common is the sum of the bands that both are in") {
  Random random(12);
  for (int trial = 0; trial < 100; ++trial) {
    const Rectangles rectangles = tests::random_rectangles(random, whole(random, 1, 24), 12);
    std::vector<std::vector<std::int64_t>> common(rectangles.size(), std::vector<std::int64_t>(rectangles.size()));
    for (const Band& band : row_bands(rectangles)) {
      for (const int one : band.units) {
        for (const int other : band.units) {
          common[static_cast<std::size_t>(one)][static_cast<std::size_t>(other)] += band.count;
        }
      }
    }
    const std::vector<std::vector<Overlap>> overlaps = row_overlaps(rectangles);
    for (std::size_t one = 0; one < rectangles.size(); ++one) {
      std::int64_t total = rectangles[one].empty() ? 0 : rectangles[one].rows;
      REQUIRE(common[one][one] == total);
      for (const Overlap& overlap : overlaps[one]) {
        REQUIRE(common[one][static_cast<std::size_t>(overlap.unit)] == overlap.count);
        total += overlap.count;
      }
      for (const std::int64_t count : common[one]) total -= count;
      REQUIRE(total == 0);
    }
  }
}

TEST_CASE("column bands of a column-based partition are its columns") {
  Random random(13);
  for (int trial = 0; trial < 100; ++trial) {
    const int blocks = whole(random, 1, 40);
    const ColumnPartition partition = column(tests::random_areas(random, whole(random, 1, 15)), {blocks, blocks});
    const std::vector<Band> bands = column_bands(partition.rectangles);
    REQUIRE(bands.size() == partition.columns.size());
    for (std::size_t i = 0; i < bands.size(); ++i) {
      std::vector<int> units = partition.columns[i].units;
      std::sort(units.begin(), units.end());
      REQUIRE(bands[i] == Band{partition.columns[i].first, partition.columns[i].count, units});
    }
  }
}

TEST_CASE("empty rectangles are in no band, and a gap is in none either") {
  const Rectangles rectangles = {{}, {0, 0, 2, 5}, {3, 0, 2, 5}, {1, 1, 0, 3}};
  CHECK(row_bands(rectangles) == std::vector<Band>{{0, 2, {1}}, {3, 2, {2}}});
  CHECK(column_bands(rectangles) == std::vector<Band>{{0, 5, {1, 2}}});
  CHECK(row_bands({}).empty());
  CHECK(row_bands(Rectangles{{}, {}}).empty());
}

}  // namespace steelyard::test_bands
