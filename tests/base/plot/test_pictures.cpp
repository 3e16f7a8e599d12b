#include "core/base/plot/picture.hpp"
#include "tests/base/read_png.hpp"
#include "tests/base/rgb_text.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_pictures {

using tests::Picture;
using tests::read_png;
using tests::TemporaryFolder;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
// Half a step of a byte in all channels is less than this much in CIELAB for colours that are not almost black.
constexpr double rounding = 0.7;

using Vector = std::array<double, 3>;

double linear(std::uint8_t byte) {
  const double value = byte / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

/// CIELAB of linear sRGB, white D65.
Vector lab(const Vector& c) {
  const auto f = [](double t) { return t > 216.0 / 24389.0 ? std::cbrt(t) : (24389.0 / 27.0 * t + 16.0) / 116.0; };
  const double x = f((0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.9505);
  const double y = f(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]);
  const double z = f((0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.0890);
  return {116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)};
}

Vector seen(const Rgb& colour) { return lab({linear(colour.red), linear(colour.green), linear(colour.blue)}); }

double difference(const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

double lightness(const Rgb& colour) { return seen(colour)[0]; }

std::vector<Rgb> random_pixels(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Rgb> pixels(static_cast<std::size_t>(count));
  for (Rgb& pixel : pixels) {
    const auto bits = random();
    pixel = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8),
             static_cast<std::uint8_t>(bits >> 16)};
  }
  return pixels;
}

PictureLegend legend(const std::string& caption) { return {diverging_colour, -1.0, "-2.5", "2.5", caption}; }

}  // namespace

TEST_CASE("the diverging map goes from blue over grey to red as in Moreland's article, equally light on both sides") {
  CHECK(diverging_colour(-1.0) == Rgb{59, 76, 192});
  CHECK(diverging_colour(0.0) == Rgb{221, 221, 221});
  CHECK(diverging_colour(1.0) == Rgb{180, 4, 38});
  double before = lightness(diverging_colour(0.0));
  for (int i = 0; i <= 1000; ++i) {
    const Rgb red = diverging_colour(i / 1000.0), blue = diverging_colour(i / -1000.0);
    CAPTURE(i);
    REQUIRE_THAT(lightness(blue), WithinAbs(lightness(red), rounding));
    REQUIRE(lightness(red) <= before + rounding);
    if (i >= 50) REQUIRE((red.red > red.blue && blue.red < blue.blue));
    before = lightness(red);
  }
  // Equal steps look alike.
  for (const double side : {-1.0, 1.0}) {
    double least = infinity, most = 0.0;
    for (int i = 0; i < 16; ++i) {
      const Rgb from = diverging_colour(side * i / 16.0), to = diverging_colour(side * (i + 1) / 16.0);
      least = std::min(least, difference(seen(from), seen(to)));
      most = std::max(most, difference(seen(from), seen(to)));
    }
    CAPTURE(side, least, most);
    CHECK(most < 2.0 * least);
  }
}

TEST_CASE("the sequential map goes from dark to light in even steps of lightness and of colour") {
  const double whole = difference(seen(sequential_colour(0.0)), seen(sequential_colour(1.0)));
  const double dark = lightness(sequential_colour(0.0));
  const double light = lightness(sequential_colour(1.0));
  CHECK(dark < 20.0);
  CHECK(light > 90.0);
  CHECK(sequential_colour(0.0).blue > sequential_colour(0.0).red);
  CHECK(sequential_colour(1.0).blue < sequential_colour(1.0).red);
  for (int i = 0; i < 20; ++i) {
    CAPTURE(i);
    const Rgb from = sequential_colour(i / 20.0);
    const Rgb to = sequential_colour((i + 1) / 20.0);
    REQUIRE_THAT(lightness(from), WithinAbs(std::lerp(dark, light, i / 20.0), rounding));
    REQUIRE_THAT(difference(seen(from), seen(to)), WithinAbs(whole / 20.0, 2.0 * rounding));
  }
}

TEST_CASE("values beyond the ends have the colours of the ends, and what is not a number has its own") {
  for (const double factor : {1.0 + 1e-15, 2.0, 1e300, infinity}) {
    CHECK(diverging_colour(factor) == diverging_colour(1.0));
    CHECK(diverging_colour(-factor) == diverging_colour(-1.0));
    CHECK(sequential_colour(factor) == sequential_colour(1.0));
    CHECK(sequential_colour(-factor) == sequential_colour(0.0));
  }
  CHECK(diverging_colour(-not_a_number) == not_a_number_colour);
  CHECK(sequential_colour(not_a_number) == not_a_number_colour);
}

TEST_CASE("pictures of any shape are read back pixel by pixel") {
  const TemporaryFolder folder;
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 2}, {2, 1}, {3, 5}, {17, 16}, {1, 100000}, {100000, 1}, {333, 1001}}) {
    INFO(rows << " x " << columns);
    const auto pixels = random_pixels(rows * columns, 7);
    write_png_file(folder / "a.png", columns, pixels);
    const Picture back = read_png(folder / "a.png");
    REQUIRE(back.rows == rows);
    REQUIRE(back.columns == columns);
    const bool same = back.pixels == pixels;  // no message of millions of pixels
    REQUIRE(same);
    REQUIRE(folder.entries() == 1);
  }
}

TEST_CASE("pixels that are no whole rows are refused with their number before anything is made") {
  const TemporaryFolder folder;
  for (const auto& [count, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {5, 2}, {5, 6}, {5, 0}, {5, -5}}) {
    CHECK_THROWS_MATCHES(write_png_file(folder / "a.png", columns, random_pixels(count, 1)), InvalidArgument,
                         MessageMatches(ContainsSubstring((folder / "a.png").string()) &&
                                        ContainsSubstring(std::to_string(count) + " pixels")));
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("a legend is as wide as its picture, has the colours of both ends, and is cut or missing without room") {
  for (const std::int64_t columns : {PictureLegend::least_columns, std::int64_t{801}}) {
    const std::vector<Rgb> pixels = legend("step 7").pixels(columns);
    CHECK(std::ssize(pixels) == columns * PictureLegend::rows);
    for (const double value : {-1.0, 1.0}) {
      CHECK(std::find(pixels.begin(), pixels.end(), diverging_colour(value)) != pixels.end());
    }
  }
  CHECK(legend("step 7").pixels(400) != legend("step 8").pixels(400));
  CHECK(std::ssize(legend(std::string(1000, 'w')).pixels(400)) == 400 * PictureLegend::rows);
  CHECK(legend("step 7").pixels(PictureLegend::least_columns - 1).empty());
}

}  // namespace steelyard::test_pictures
