#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::test_rectangle {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;

TEST_CASE("an empty rectangle has no area and no half-perimeter, whatever its other side") {
  for (const Rectangle& empty : {Rectangle{}, Rectangle{3, 4, 0, 7}, Rectangle{3, 4, 7, 0}}) {
    CHECK(empty.empty());
    CHECK(empty.area() == 0);
    CHECK(empty.half_perimeter() == 0);
  }
}

TEST_CASE("the sum of half-perimeters adds rows and columns of the rectangles that are not empty") {
  const std::vector<Rectangle> rectangles = {{0, 0, 2, 5}, {2, 0, 3, 5}, {0, 5, 0, 4}};
  CHECK(half_perimeters(rectangles) == 7 + 8);
  CHECK(half_perimeters({}) == 0);
}

TEST_CASE("the common part of two rectangles is all blocks that both have, or nothing") {
  // All that lie in a square of 5 x 5 blocks, which begins at (-2, -2) as what is widened may, and some empty ones.
  constexpr std::int64_t begin = -2, end = 3;
  std::vector<Rectangle> all{{}, {1, 1, 0, 2}, {0, 1, 2, 0}};
  for (std::int64_t row = begin; row < end; ++row) {
    for (std::int64_t column = begin; column < end; ++column) {
      for (std::int64_t rows = 1; row + rows <= end; ++rows) {
        for (std::int64_t columns = 1; column + columns <= end; ++columns) {
          all.push_back({row, column, rows, columns});
        }
      }
    }
  }
  const auto has = [](const Rectangle& r, std::int64_t row, std::int64_t column) {
    return r.row <= row && row < r.end_row() && r.column <= column && column < r.end_column();
  };
  int wrong = 0;
  for (const Rectangle& a : all) {
    for (const Rectangle& b : all) {
      const Rectangle part = common_part(a, b);
      std::int64_t blocks = 0;
      for (std::int64_t row = begin; row < end; ++row) {
        for (std::int64_t column = begin; column < end; ++column) {
          const bool in_both = has(a, row, column) && has(b, row, column);
          blocks += in_both ? 1 : 0;
          wrong += in_both == has(part, row, column) ? 0 : 1;
        }
      }
      wrong += part.area() == blocks && (blocks > 0 || part == Rectangle{}) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
  const Rectangle largest{0, 0, most_blocks_per_side, most_blocks_per_side};
  CHECK(common_part(largest, {7, most_blocks_per_side - 3, 5, 9}) == Rectangle{7, most_blocks_per_side - 3, 5, 3});
}

TEST_CASE("the area of the largest matrix that is allowed does not overflow") {
  const Extents largest{most_blocks_per_side, most_blocks_per_side};
  CHECK_NOTHROW(require_extents(largest));
  CHECK(Rectangle{0, 0, largest.rows, largest.columns}.area() / most_blocks_per_side == most_blocks_per_side);
}

TEST_CASE("a matrix without blocks, or with more than 32 bits count, is refused with its extents") {
  for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-3}, most_blocks_per_side + 1,
                                 std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    for (const Extents& extents : {Extents{bad, 17}, Extents{17, bad}}) {
      CHECK_THROWS_MATCHES(require_extents(extents), InvalidArgument,
                           MessageMatches(ContainsSubstring(std::to_string(bad)) && ContainsSubstring("17")));
    }
  }
}

}  // namespace steelyard::test_rectangle
