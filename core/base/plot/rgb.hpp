#pragma once

#include <cstdint>

namespace steelyard {

/// A colour of sRGB (IEC 61966-2-1), as screens and pictures have it: three bytes without gaps.
struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  friend bool operator==(const Rgb&, const Rgb&) = default;
};
static_assert(sizeof(Rgb) == 3);

}  // namespace steelyard
