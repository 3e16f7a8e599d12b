#include "core/base/plot/picture.hpp"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/text_file.hpp"

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

constexpr long map_steps = 2048;  // enough for neighbours to be at most one step of a byte apart

/// A map of the values from `first` to 1, to be looked up for the millions of points of a picture.
std::vector<Rgb> colours_from(int first, Rgb (*colour)(double)) {
  std::vector<Rgb> colours;
  for (long step = first * map_steps; step <= map_steps; ++step) {
    colours.push_back(colour(static_cast<double>(step) / static_cast<double>(map_steps)));
  }
  return colours;
}

Rgb look_up(const std::vector<Rgb>& colours, int first, double value) {
  if (std::isnan(value)) return not_a_number_colour;
  const double clamped = std::clamp(value, static_cast<double>(first), 1.0);
  return colours[static_cast<std::size_t>(std::lround(static_cast<double>(map_steps) * clamped) - first * map_steps)];
}

constexpr Rgb paper{255, 255, 255}, ink{40, 40, 40};
constexpr std::int64_t dot_pixels = 2;                   ///< per dot of a letter, along a side
constexpr std::int64_t letter_columns = 6 * dot_pixels;  ///< with the gap behind it
constexpr std::int64_t letter_rows = 7 * dot_pixels;
constexpr std::int64_t margin = 8;
constexpr std::int64_t bar_columns = 100;

/// Five columns of a letter from left to right; the lowest bit is at the top.
using Letter = std::array<std::uint8_t, 5>;
const std::map<char, Letter> letters{
    {'0', {0x3e, 0x51, 0x49, 0x45, 0x3e}}, {'1', {0x00, 0x42, 0x7f, 0x40, 0x00}}, {'2', {0x42, 0x61, 0x51, 0x49, 0x46}},
    {'3', {0x21, 0x41, 0x45, 0x4b, 0x31}}, {'4', {0x18, 0x14, 0x12, 0x7f, 0x10}}, {'5', {0x27, 0x45, 0x45, 0x45, 0x39}},
    {'6', {0x3c, 0x4a, 0x49, 0x49, 0x30}}, {'7', {0x01, 0x71, 0x09, 0x05, 0x03}}, {'8', {0x36, 0x49, 0x49, 0x49, 0x36}},
    {'9', {0x06, 0x49, 0x49, 0x29, 0x1e}}, {'.', {0x00, 0x60, 0x60, 0x00, 0x00}}, {'-', {0x08, 0x08, 0x08, 0x08, 0x08}},
    {'+', {0x08, 0x08, 0x3e, 0x08, 0x08}}, {'=', {0x14, 0x14, 0x14, 0x14, 0x14}}, {'(', {0x00, 0x1c, 0x22, 0x41, 0x00}},
    {')', {0x00, 0x41, 0x22, 0x1c, 0x00}}, {'/', {0x20, 0x10, 0x08, 0x04, 0x02}}, {':', {0x00, 0x36, 0x36, 0x00, 0x00}},
    {'a', {0x20, 0x54, 0x54, 0x54, 0x78}}, {'b', {0x7f, 0x48, 0x44, 0x44, 0x38}}, {'c', {0x38, 0x44, 0x44, 0x44, 0x20}},
    {'d', {0x38, 0x44, 0x44, 0x48, 0x7f}}, {'e', {0x38, 0x54, 0x54, 0x54, 0x18}}, {'f', {0x08, 0x7e, 0x09, 0x01, 0x02}},
    {'g', {0x0c, 0x52, 0x52, 0x52, 0x3e}}, {'h', {0x7f, 0x08, 0x04, 0x04, 0x78}}, {'i', {0x00, 0x44, 0x7d, 0x40, 0x00}},
    {'j', {0x20, 0x40, 0x44, 0x3d, 0x00}}, {'k', {0x7f, 0x10, 0x28, 0x44, 0x00}}, {'l', {0x00, 0x41, 0x7f, 0x40, 0x00}},
    {'m', {0x7c, 0x04, 0x18, 0x04, 0x78}}, {'n', {0x7c, 0x08, 0x04, 0x04, 0x78}}, {'o', {0x38, 0x44, 0x44, 0x44, 0x38}},
    {'p', {0x7c, 0x14, 0x14, 0x14, 0x08}}, {'q', {0x08, 0x14, 0x14, 0x18, 0x7c}}, {'r', {0x7c, 0x08, 0x04, 0x04, 0x08}},
    {'s', {0x48, 0x54, 0x54, 0x54, 0x20}}, {'t', {0x04, 0x3f, 0x44, 0x40, 0x20}}, {'u', {0x3c, 0x40, 0x40, 0x20, 0x7c}},
    {'v', {0x1c, 0x20, 0x40, 0x20, 0x1c}}, {'w', {0x3c, 0x40, 0x30, 0x40, 0x3c}}, {'x', {0x44, 0x28, 0x10, 0x28, 0x44}},
    {'y', {0x0c, 0x50, 0x50, 0x50, 0x3c}}, {'z', {0x44, 0x64, 0x54, 0x4c, 0x44}}};

/// Pixels to draw on; what is beyond the edges is cut.
struct Sheet {
  std::int64_t columns;
  std::vector<Rgb> pixels = std::vector<Rgb>(static_cast<std::size_t>(columns * PictureLegend::rows), paper);

  void set(std::int64_t row, std::int64_t column, Rgb colour) {
    if (column < 0 || column >= columns) return;
    pixels[static_cast<std::size_t>(row * columns + column)] = colour;
  }

  /// @return the column behind it
  std::int64_t write(std::int64_t column, const std::string& text) {
    constexpr std::int64_t top = (PictureLegend::rows - letter_rows) / 2;
    for (const char character : text) {
      const auto letter = letters.find(character);
      for (std::int64_t i = 0; letter != letters.end() && i < 5 * dot_pixels; ++i) {
        for (std::int64_t j = 0; j < letter_rows; ++j) {
          const unsigned bits = letter->second[static_cast<std::size_t>(i / dot_pixels)];
          if ((bits >> static_cast<unsigned>(j / dot_pixels) & 1U) != 0) set(top + j, column + i, ink);
        }
      }
      column += letter_columns;
    }
    return column;
  }
};

}  // namespace

Rgb diverging_colour(double value) {
  static const std::vector<Rgb> colours = colours_from(-1, diverging);
  return look_up(colours, -1, value);
}

Rgb sequential_colour(double value) {
  static const std::vector<Rgb> colours = colours_from(0, sequential);
  return look_up(colours, 0, value);
}

std::vector<Rgb> PictureLegend::pixels(std::int64_t columns) const {
  if (columns < least_columns) return {};
  Sheet sheet{columns};
  const std::int64_t bar = sheet.write(margin, low) + margin;
  for (std::int64_t i = 0; i < bar_columns; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(bar_columns - 1);
    for (std::int64_t j = margin; j < rows - margin; ++j) sheet.set(j, bar + i, colour(std::lerp(first, 1.0, part)));
  }
  const std::int64_t end = sheet.write(bar + bar_columns + margin, high);
  const auto width = static_cast<std::int64_t>(caption.size()) * letter_columns;
  sheet.write(std::max(end + 2 * margin, columns - margin - width), caption);
  return sheet.pixels;
}

void write_png_file(const std::filesystem::path& path, std::int64_t columns, std::span<const Rgb> pixels) {
  const auto count = static_cast<std::int64_t>(pixels.size());
  if (columns < 1 || count < 1 || count % columns != 0 || count > PNG_UINT_31_MAX) {
    throw InvalidArgument(fmt::format("{}: picture of {} pixels in rows of {} (expected whole rows, at most {} pixels)",
                                      path.string(), count, columns, PNG_UINT_31_MAX));
  }
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = PNG_FORMAT_RGB;
  image.width = static_cast<png_uint_32>(columns);
  image.height = static_cast<png_uint_32>(count / columns);
  // Without filters, which are made for photographs: a map has few colours, and filters hide from deflate that equal
  // bytes repeat. Deflate looks less far too: the file is half as large again, and written sooner.
  image.flags = PNG_IMAGE_FLAG_FAST;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr) == 0) {
    throw RuntimeFailure(fmt::format("{}: libpng: {}", path.string(), image.message));
  }
  bytes.resize(size);
  write_text_file(path, bytes);
}

}  // namespace steelyard
