#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard {

/// Elements from row to row of a matrix: whole cache lines, and of long rows an odd number of them, for rows a power of
/// two apart take each other's places in the caches.
template <class Element>
constexpr std::int64_t padded_pitch(std::int64_t length) {
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(Element));
  constexpr std::int64_t few_lines = 8;
  const std::int64_t lines = (length + line - 1) / line;
  return (lines >= few_lines ? lines | 1 : lines) * line;
}

}  // namespace steelyard
