#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "partition/rectangles/rectangle.hpp"

namespace steelyard::fft2d {

/// Of a transform.
using Extents = partition::Extents;

/// Zeros that are appended to the input before it is transformed.
struct Padding {
  enum class Kind { none, automatic, given };
  Kind kind = Kind::none;
  Extents extents;  ///< of the transform, where they are given
};

/// `none`, `auto` or `ROWSxCOLUMNS`. @throws InvalidArgument naming these
Padding parse_padding(const std::string& text);

/// Lengths that a transform of `length` points may be padded to: itself, and a few of the numbers up to an eighth
/// larger whose prime factors are 2, 3, 5 and 7, ascending. With few points there is nothing to gain: below 32 only
/// itself. Source: the companion work of 002 (PFFT-FPM-PAD) takes any length from the model; smooth ones are what FFT
/// libraries are fast at.
std::vector<std::int64_t> padded_lengths(std::int64_t length);

/// The extents with the least predicted time of both passes, rows / v(columns) + spectrum columns / v(rows), where v(n)
/// rows of n points per second are transformed by all units together. Of equal ones the smallest.
/// @param speed_of asked once for each length, and kind of pass
Extents fastest_extents(const Extents& input, bool real,
                        const std::function<double(std::int64_t length, bool real)>& speed_of);

}  // namespace steelyard::fft2d
