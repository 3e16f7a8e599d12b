#pragma once

#include "core/base/plot/rgb.hpp"

namespace steelyard {

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
/// lightness. It runs along the axis of blue and yellow, which people who confuse red with green tell apart, and the
/// others by lightness alone.
Rgb sequential_colour(double value);

}  // namespace steelyard
