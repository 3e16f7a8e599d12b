#include "core/base/plot/colour_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace steelyard {
namespace {

/// A colour in CIELAB with white D65; lightness l from 0 to 100.
struct Lab {
  double l, a, b;
};

/// The transfer function of sRGB, in steps of 1/255. Source: IEC 61966-2-1, 5.2.
std::uint8_t encoded(double linear) {
  const double value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1.0 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(value, 0.0, 1.0)));
}

/// CIELAB to XYZ (CIE 15:2004, 8.2.1) to linear sRGB (IEC 61966-2-1, 5.2) to bytes.
Rgb rgb(const Lab& colour) {
  const auto inverse = [](double f) {
    constexpr double bend = 6.0 / 29.0;
    return f > bend ? f * f * f : 3.0 * bend * bend * (f - 4.0 / 29.0);
  };
  const double f = (colour.l + 16.0) / 116.0;
  const double x = 0.9505 * inverse(f + colour.a / 500.0);
  const double y = inverse(f);
  const double z = 1.0890 * inverse(f - colour.b / 200.0);
  return {encoded(3.2406 * x - 1.5372 * y - 0.4986 * z), encoded(-0.9689 * x + 1.8758 * y + 0.0415 * z),
          encoded(0.0557 * x - 0.2040 * y + 1.0570 * z)};
}

/// Moreland's coordinates: M is the distance from black, s the angle from the greys, h the hue.
struct Msh {
  double m, s, h;
};

constexpr Msh blue{80.0, 1.08, -1.1};
constexpr Msh red{80.0, 1.08, 0.5};
constexpr double grey = 88.0;

/// From blue at -1 over grey to red at 1.
Rgb diverging(double value) {
  const Msh& end = value < 0.0 ? blue : red;
  const double part = std::abs(value);
  const double spin = end.s * std::sqrt(grey * grey - end.m * end.m) / (end.m * std::sin(end.s));
  const double grey_hue = end.h > -std::numbers::pi / 3.0 ? end.h + spin : end.h - spin;  // never through purple
  const double m = std::lerp(grey, end.m, part);
  const double s = std::lerp(0.0, end.s, part);
  const double h = std::lerp(grey_hue, end.h, part);
  return rgb({m * std::cos(s), m * std::sin(s) * std::cos(h), m * std::sin(s) * std::sin(h)});
}

constexpr Lab dark{14.0, 20.0, -40.0};
constexpr Lab light{92.0, -8.0, 60.0};

Rgb sequential(double value) {
  return rgb({std::lerp(dark.l, light.l, value), std::lerp(dark.a, light.a, value), std::lerp(dark.b, light.b, value)});
}

/// A map of the values from `first` to 1, looked up: pictures have millions of points and maps a few hundred colours.
class ColourTable {
 public:
  ColourTable(int first, Rgb (*colour)(double)) : first_(first) {
    for (long step = first * steps; step <= steps; ++step) {
      colours_.push_back(colour(static_cast<double>(step) / static_cast<double>(steps)));
    }
  }

  Rgb at(double value) const {
    if (std::isnan(value)) return not_a_number_colour;
    const double clamped = std::clamp(value, static_cast<double>(first_), 1.0);
    return colours_[static_cast<std::size_t>(std::lround(static_cast<double>(steps) * clamped) - first_ * steps)];
  }

 private:
  static constexpr long steps = 2048;  // enough for neighbours to be at most one step of a byte apart

  int first_;
  std::vector<Rgb> colours_;
};

}  // namespace

Rgb diverging_colour(double value) {
  static const ColourTable table(-1, diverging);
  return table.at(value);
}

Rgb sequential_colour(double value) {
  static const ColourTable table(0, sequential);
  return table.at(value);
}

}  // namespace steelyard
