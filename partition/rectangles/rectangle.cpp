#include "partition/rectangles/rectangle.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"

namespace steelyard::partition {

void require_extents(const Extents& extents) {
  const auto allowed = [](std::int64_t blocks) { return blocks >= 1 && blocks <= most_blocks_per_side; };
  if (!allowed(extents.rows) || !allowed(extents.columns)) {
    throw InvalidArgument(fmt::format("{} x {} blocks to partition (expected 1 to {} per side)", extents.rows,
                                      extents.columns, most_blocks_per_side));
  }
}

Rectangle common_part(const Rectangle& a, const Rectangle& b) {
  Rectangle part;
  part.row = std::max(a.row, b.row);
  part.column = std::max(a.column, b.column);
  part.rows = std::min(a.end_row(), b.end_row()) - part.row;
  part.columns = std::min(a.end_column(), b.end_column()) - part.column;
  return part.rows > 0 && part.columns > 0 ? part : Rectangle{};
}

std::int64_t half_perimeters(std::span<const Rectangle> rectangles) {
  std::int64_t sum = 0;
  for (const Rectangle& rectangle : rectangles) sum += rectangle.half_perimeter();
  return sum;
}

}  // namespace steelyard::partition
