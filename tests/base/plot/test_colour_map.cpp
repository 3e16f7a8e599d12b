#include "core/base/plot/colour_map.hpp"
#include "tests/base/rgb_text.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_colour_map {

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

/// n + 1 values from first to last.
std::vector<double> values_between(double first, double last, int n) {
  std::vector<double> values;
  for (int i = 0; i <= n; ++i) values.push_back(std::lerp(first, last, i / double(n)));
  return values;
}

}  // namespace

TEST_CASE("the diverging map goes from blue through a grey to red, as in Moreland's article") {
  CHECK(diverging_colour(-1.0) == Rgb{59, 76, 192});
  CHECK(diverging_colour(0.0) == Rgb{221, 221, 221});
  CHECK(diverging_colour(1.0) == Rgb{180, 4, 38});
  CHECK(diverging_colour(-0.0) == diverging_colour(0.0));
  for (const double value : values_between(0.05, 1.0, 100)) {
    REQUIRE(diverging_colour(value).red > diverging_colour(value).blue);
    REQUIRE(diverging_colour(-value).red < diverging_colour(-value).blue);
  }
}

TEST_CASE("lightness of the diverging map is the same on both sides and falls towards the ends") {
  double before = lightness(diverging_colour(0.0));
  for (const double value : values_between(0.0, 1.0, 1000)) {
    const double at = lightness(diverging_colour(value));
    CAPTURE(value);
    REQUIRE_THAT(lightness(diverging_colour(-value)), WithinAbs(at, rounding));
    REQUIRE(at <= before + rounding);
    before = at;
  }
}

TEST_CASE("equal steps of the diverging map look alike, within a factor of two") {
  for (const double side : {-1.0, 1.0}) {
    std::vector<double> steps;
    for (int i = 0; i < 16; ++i) {
      steps.push_back(
          difference(seen(diverging_colour(side * i / 16.0)), seen(diverging_colour(side * (i + 1) / 16.0))));
    }
    const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
    CAPTURE(side, *least, *most);
    CHECK(*most < 2.0 * *least);
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

}  // namespace steelyard::test_colour_map
