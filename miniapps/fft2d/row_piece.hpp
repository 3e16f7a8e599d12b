#pragma once

#include <cstdint>

#include "core/home.hpp"

namespace steelyard::fft2d {

/// Columns [first, first + count) of the rows of a slice: element (i, j) is data[i * pitch + j - first].
template <class Element>
struct RowPiece {
  const Element* data = nullptr;
  std::int64_t pitch = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  Home home = Home::host;
};

/// The same columns as they are stored: element (i, j) is data[(j - first) * pitch + i] where the store transposes, and
/// data[i * pitch + j - first] where it does not.
template <class Element>
struct StoredPiece {
  Element* data = nullptr;
  std::int64_t pitch = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  Home home = Home::host;
};

}  // namespace steelyard::fft2d
