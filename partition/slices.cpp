#include "partition/slices.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"

namespace steelyard::partition {

std::vector<Slice> make_slices(std::span<const std::int64_t> units) {
  std::vector<Slice> slices;
  std::int64_t next = 0;
  int last = -1;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] < 0) throw InvalidArgument(fmt::format("slice {} of {} computation units", i, units[i]));
    Slice slice{next, units[i], -1, -1};
    next += units[i];
    if (units[i] > 0) {
      slice.above = last;
      if (last >= 0) slices[static_cast<std::size_t>(last)].below = static_cast<int>(i);
      last = static_cast<int>(i);
    }
    slices.push_back(slice);
  }
  return slices;
}

}  // namespace steelyard::partition
