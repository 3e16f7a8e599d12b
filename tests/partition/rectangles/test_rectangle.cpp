#include <functional>
#include <tuple>

#include "partition/rectangles/rectangle.hpp"
#include "tests/catch.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::test_rectangle {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;
using Rectangles = std::vector<Rectangle>;

namespace {

bool has(const Rectangle& r, std::int64_t row, std::int64_t column) {
  return r.row <= row && row < r.end_row() && r.column <= column && column < r.end_column();
}

/// Of each other unit the indices in [first, end) that `shares` is true of, in the order of the first ones.
std::vector<Overlap> overlaps_of(std::size_t unit, const Rectangles& rectangles, std::int64_t first, std::int64_t end,
                                 const std::function<bool(const Rectangle& other, std::int64_t index)>& shares) {
  std::vector<Overlap> overlaps;
  for (std::size_t other = 0; other < rectangles.size(); ++other) {
    Overlap overlap{static_cast<int>(other), 0, 0};
    for (std::int64_t index = first; index < end; ++index) {
      if (other == unit || rectangles[other].empty() || !shares(rectangles[other], index)) continue;
      if (overlap.count++ == 0) overlap.first = index;
    }
    if (overlap.count > 0) overlaps.push_back(overlap);
  }
  std::ranges::sort(overlaps, {}, [](const Overlap& each) { return std::tuple(each.first, each.unit); });
  return overlaps;
}

/// Walks through the bands from one block row (or column) to the next: nothing missing, nothing twice.
void check_bands(const std::vector<Band>& bands, const Rectangles& rectangles, std::int64_t blocks, bool rows) {
  std::int64_t next = 0;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    REQUIRE(bands[i].first == next);
    REQUIRE(bands[i].count >= 1);
    for (; next < bands[i].first + bands[i].count; ++next) {
      std::vector<int> units;
      for (std::size_t unit = 0; unit < rectangles.size(); ++unit) {
        const BlockRange range = rows ? rows_of(rectangles[unit]) : columns_of(rectangles[unit]);
        const bool covers = range.first <= next && next < range.end;
        if (covers && !rectangles[unit].empty()) units.push_back(static_cast<int>(unit));
      }
      REQUIRE(bands[i].units == units);
    }
    if (i > 0) REQUIRE(bands[i].units != bands[i - 1].units);
  }
  REQUIRE(next == blocks);
}

}  // namespace

TEST_CASE("overlaps and bands are what all rectangles say block by block, and empty ones are nowhere") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const int blocks = trial % 4 == 0 ? whole(random, 1, 5) : whole(random, 1, 24);
    const Rectangles rectangles = tests::random_rectangles(random, blocks, 14);
    INFO("trial " << trial << ", " << blocks << " blocks, " << rectangles.size() << " rectangles");
    const auto rows = row_overlaps(rectangles), columns = column_overlaps(rectangles);
    for (std::size_t i = 0; i < rectangles.size(); ++i) {
      const Rectangle one = rectangles[i].empty() ? Rectangle{} : rectangles[i];
      REQUIRE(rows[i] ==
              overlaps_of(i, rectangles, one.row, one.end_row(), [](const Rectangle& other, std::int64_t row) {
                return other.row <= row && row < other.end_row();
              }));
      REQUIRE(columns[i] ==
              overlaps_of(i, rectangles, one.column, one.end_column(), [](const Rectangle& other, std::int64_t column) {
                return other.column <= column && column < other.end_column();
              }));
    }
    check_bands(row_bands(rectangles), rectangles, blocks, true);
    check_bands(column_bands(rectangles), rectangles, blocks, false);
  }
  CHECK(row_bands({}).empty());
  const Rectangles with_gap = {{}, {0, 0, 2, 5}, {3, 0, 2, 5}, {1, 1, 0, 3}};
  CHECK(row_bands(with_gap) == std::vector<Band>{{0, 2, {1}}, {3, 2, {2}}});
  CHECK(column_bands(with_gap) == std::vector<Band>{{0, 5, {1, 2}}});
}

TEST_CASE("the common part of two rectangles is all blocks that both have, or nothing") {
  Random random(2);
  const auto any = [&]() -> Rectangle {
    return {whole(random, -2, 3), whole(random, -2, 3), whole(random, 0, 4), whole(random, 0, 4)};
  };
  for (int trial = 0; trial < 20000; ++trial) {
    const Rectangle a = any(), b = any(), part = common_part(a, b);
    std::int64_t blocks = 0;
    bool same = true;
    for (std::int64_t row = -2; row < 7; ++row) {
      for (std::int64_t column = -2; column < 7; ++column) {
        const bool in_both = has(a, row, column) && has(b, row, column);
        blocks += in_both ? 1 : 0;
        same = same && in_both == has(part, row, column);
      }
    }
    REQUIRE(same);
    REQUIRE((part.area() == blocks && (blocks > 0 || part == Rectangle{})));
  }
  const Rectangle largest{0, 0, most_blocks_per_side, most_blocks_per_side};
  CHECK(common_part(largest, {7, most_blocks_per_side - 3, 5, 9}) == Rectangle{7, most_blocks_per_side - 3, 5, 3});
  CHECK(largest.area() / most_blocks_per_side == most_blocks_per_side);
}

TEST_CASE("half-perimeters are added of the rectangles that are not empty") {
  const Rectangles rectangles = {{0, 0, 2, 5}, {2, 0, 3, 5}, {0, 5, 0, 4}, {3, 4, 7, 0}, {}};
  CHECK(half_perimeters(rectangles) == 7 + 8);
}

}  // namespace steelyard::test_rectangle
