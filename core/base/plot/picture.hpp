#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace steelyard {

/// A colour of sRGB (IEC 61966-2-1), as screens and pictures have it: three bytes without gaps.
struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  friend bool operator==(const Rgb&, const Rgb&) = default;
};
static_assert(sizeof(Rgb) == 3);

/// Colour of values that are not numbers in both maps: a magenta that is in neither of them.
inline constexpr Rgb not_a_number_colour{189, 72, 168};

/// The colour of a value with a sign: dark blue at -1, light grey at 0, dark red at 1; values beyond the ends have
/// their colours. Lightness falls alike on both sides, and equal steps of the value look about equally large.
///
/// On each side M, s and h change linearly with the value, where (L, a, b) = M (cos s, sin s cos h, sin s sin h) in
/// CIELAB: from (80, 1.08, -1.1) for blue and (80, 1.08, 0.5) for red to (88, 0, h'). h' is turned away from the end's
/// hue by s sqrt(88^2 - M^2) / (M sin s), so that colours change evenly although the grey is lighter than the ends.
/// Source: K. Moreland, Diverging Color Maps for Scientific Visualization, ISVC 2009, section 5.
Rgb diverging_colour(double value);

/// The colour of a value without a sign: dark blue at 0, light yellow at 1; values beyond the ends have their colours.
/// A straight line in CIELAB, so equal steps of the value are equal colour differences (CIE 1976) and equal steps of
/// lightness, along the axis of blue and yellow, which people who confuse red with green tell apart.
Rgb sequential_colour(double value);

/// Legend of a picture's colours.
struct PictureLegend {
  Rgb (*colour)(double);  ///< of the values from `first` to 1
  double first = 0.0;
  std::string low, high;  ///< what the ends of the colours stand for, with their unit
  std::string caption;    ///< such as the time; of letters a to z, digits and . - + = ( ) / :

  static constexpr std::int64_t rows = 30;            ///< of a legend
  static constexpr std::int64_t least_columns = 240;  ///< narrower pictures have no legend

  /// Pixels to stand below a picture so wide, row after row: a bar with its labels on the left, the caption on the
  /// right, cut where there is no room; none below a narrow picture.
  std::vector<Rgb> pixels(std::int64_t columns) const;
};

/// Writes a picture of 8 bits a channel in PNG format (ISO/IEC 15948), marked as sRGB, through NewFile.
/// @param pixels row after row from the top down, without gaps
/// @throws InvalidArgument unless they are whole rows, at least one; RuntimeFailure when the file cannot be written
void write_png_file(const std::filesystem::path& path, std::int64_t columns, std::span<const Rgb> pixels);

}  // namespace steelyard
