#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "partition/rectangle.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard;
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
