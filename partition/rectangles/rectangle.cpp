#include "partition/rectangles/rectangle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::partition {
namespace {

/// Returns the intersection of two ranges as an overlap with `unit`; count 0 where they are disjoint.
Overlap overlap(const BlockRange& a, const BlockRange& b, std::size_t unit) {
  const std::int64_t first = std::max(a.first, b.first);
  return {static_cast<int>(unit), first, std::max<std::int64_t>(0, std::min(a.end, b.end) - first)};
}

using Side = BlockRange (*)(const Rectangle&);

/// Overlaps of the others with each rectangle, by first common row or column, then by unit.
std::vector<std::vector<Overlap>> overlaps_along(std::span<const Rectangle> rectangles, Side side) {
  std::vector<std::vector<Overlap>> all;
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    std::vector<Overlap>& overlaps = all.emplace_back();
    for (std::size_t j = 0; j < rectangles.size(); ++j) {
      if (i == j || rectangles[i].empty() || rectangles[j].empty()) continue;
      const Overlap common = overlap(side(rectangles[i]), side(rectangles[j]), j);
      if (common.count > 0) overlaps.push_back(common);
    }
    std::ranges::sort(overlaps, {}, [](const Overlap& each) { return std::tuple(each.first, each.unit); });
  }
  return all;
}

/// A band ends wherever a rectangle begins or ends, for then its units change.
std::vector<Band> bands_along(std::span<const Rectangle> rectangles, Side side) {
  std::set<std::int64_t> ends;
  for (const Rectangle& rectangle : rectangles) {
    if (!rectangle.empty()) ends.insert({side(rectangle).first, side(rectangle).end});
  }
  const std::vector<std::int64_t> cuts(ends.begin(), ends.end());
  std::vector<Band> bands;
  for (std::size_t cut = 1; cut < cuts.size(); ++cut) {
    Band band{cuts[cut - 1], cuts[cut] - cuts[cut - 1], {}};
    for (std::size_t unit = 0; unit < rectangles.size(); ++unit) {
      if (rectangles[unit].empty()) continue;
      const BlockRange range = side(rectangles[unit]);
      if (range.first <= band.first && band.first < range.end) band.units.push_back(static_cast<int>(unit));
    }
    if (!band.units.empty()) bands.push_back(std::move(band));
  }
  return bands;
}

/// Messages of a pivot: by the units whose `pivot_side` holds block `first`, to all that they have part of the
/// other side in common with.
models::Phase pivot_phase(std::span<const Rectangle> rectangles, std::int64_t first, std::int64_t depth,
                          double element_bytes, Side pivot_side, Side other_side) {
  models::Phase phase;
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    const BlockRange pivots = pivot_side(rectangles[i]);
    if (rectangles[i].empty() || first < pivots.first || first >= pivots.end) continue;
    for (std::size_t j = 0; j < rectangles.size(); ++j) {
      if (i == j || rectangles[j].empty()) continue;
      const std::int64_t length = overlap(other_side(rectangles[i]), other_side(rectangles[j]), j).count;
      if (length == 0) continue;
      phase.messages.push_back(
          {static_cast<int>(i), static_cast<int>(j), element_bytes * static_cast<double>(length * depth)});
    }
  }
  return phase;
}

}  // namespace

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

std::vector<std::vector<Overlap>> row_overlaps(std::span<const Rectangle> rectangles) {
  return overlaps_along(rectangles, rows_of);
}

std::vector<std::vector<Overlap>> column_overlaps(std::span<const Rectangle> rectangles) {
  return overlaps_along(rectangles, columns_of);
}

std::vector<Band> row_bands(std::span<const Rectangle> rectangles) { return bands_along(rectangles, rows_of); }

std::vector<Band> column_bands(std::span<const Rectangle> rectangles) { return bands_along(rectangles, columns_of); }

models::MessagePattern summa_pattern(std::span<const Rectangle> rectangles, std::int64_t first, std::int64_t depth,
                                     double element_bytes) {
  if (rectangles.empty()) throw InvalidArgument("communication of no rectangles (expected at least one)");
  if (!(std::isfinite(element_bytes) && element_bytes >= 0.0)) {
    throw InvalidArgument(fmt::format("{} bytes (expected a finite number >= 0)", element_bytes));
  }
  if (depth < 0) throw InvalidArgument(fmt::format("pivots of depth {} (expected >= 0)", depth));
  return {"SUMMA iteration",
          static_cast<int>(rectangles.size()),
          {pivot_phase(rectangles, first, depth, element_bytes, columns_of, rows_of),
           pivot_phase(rectangles, first, depth, element_bytes, rows_of, columns_of)}};
}

}  // namespace steelyard::partition
