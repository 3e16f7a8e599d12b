#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "core/base/plot/colour_map.hpp"

namespace steelyard::test_picture_legend {

namespace {

PictureLegend legend(const std::string& caption) { return {diverging_colour, -1.0, "-2.5", "2.5", caption}; }

bool has(const std::vector<Rgb>& pixels, const Rgb& colour) {
  return std::find(pixels.begin(), pixels.end(), colour) != pixels.end();
}

}  // namespace

TEST_CASE("a legend is as wide as its picture and has the colours of both ends and the middle") {
  for (const std::int64_t columns : {PictureLegend::least_columns, std::int64_t{801}}) {
    const std::vector<Rgb> pixels = legend("step 7").pixels(columns);
    CHECK(std::ssize(pixels) == columns * PictureLegend::rows);
    for (const double value : {-1.0, 1.0}) CHECK(has(pixels, diverging_colour(value)));
  }
}

TEST_CASE("legends differ where their captions do, and a caption without room is cut") {
  CHECK(legend("step 7").pixels(400) == legend("step 7").pixels(400));
  CHECK(legend("step 7").pixels(400) != legend("step 8").pixels(400));
  CHECK(std::ssize(legend(std::string(1000, 'w')).pixels(400)) == 400 * PictureLegend::rows);
}

TEST_CASE("a picture that is too narrow for a legend has none") {
  CHECK(legend("step 7").pixels(PictureLegend::least_columns - 1).empty());
}

}  // namespace steelyard::test_picture_legend
