#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace steelyard::partition {

/// A contiguous range of computation units in a linear array of slices, and who lies next to it.
struct Slice {
  std::int64_t first = 0;
  std::int64_t count = 0;
  int above = -1;  ///< index of the nearest slice before this one that is not empty; -1 for none
  int below = -1;  ///< likewise after it

  std::int64_t end() const { return first + count; }
};

/// Slices one after the other, `units[i]` computation units for slice i; empty slices have no neighbours and are
/// nobody's.
/// @throws InvalidArgument for a negative count
std::vector<Slice> make_slices(std::span<const std::int64_t> units);

}  // namespace steelyard::partition
