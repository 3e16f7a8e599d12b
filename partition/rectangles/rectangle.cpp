#include "partition/rectangles/rectangle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

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

namespace {

/// Adds what `a` and `b` have in common, if anything, as an overlap with `unit`.
void add_common(const BlockRange& a, const BlockRange& b, std::size_t unit, std::vector<Overlap>& overlaps) {
  const std::int64_t first = std::max(a.first, b.first);
  const std::int64_t count = std::min(a.end, b.end) - first;
  if (count > 0) overlaps.push_back({static_cast<int>(unit), first, count});
}

void sort(std::vector<Overlap>& overlaps) {
  std::sort(overlaps.begin(), overlaps.end(),
            [](const Overlap& a, const Overlap& b) { return std::tie(a.first, a.unit) < std::tie(b.first, b.unit); });
}

template <typename Visit>
void for_each_ordered_pair(std::span<const Rectangle> rectangles, const Visit& visit) {
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    for (std::size_t j = 0; j < rectangles.size(); ++j) {
      if (i != j && !rectangles[i].empty() && !rectangles[j].empty()) visit(i, j);
    }
  }
}

std::vector<std::vector<Overlap>> overlaps_along(std::span<const Rectangle> rectangles,
                                                 BlockRange (*side)(const Rectangle&)) {
  std::vector<std::vector<Overlap>> overlaps(rectangles.size());
  for_each_ordered_pair(rectangles, [&](std::size_t i, std::size_t j) {
    add_common(side(rectangles[i]), side(rectangles[j]), j, overlaps[i]);
  });
  for (std::vector<Overlap>& of_unit : overlaps) sort(of_unit);
  return overlaps;
}

}  // namespace

std::vector<Contacts> edge_contacts(std::span<const Rectangle> rectangles) {
  std::vector<Contacts> contacts(rectangles.size());
  for_each_ordered_pair(rectangles, [&](std::size_t i, std::size_t j) {
    const Rectangle& one = rectangles[i];
    const Rectangle& other = rectangles[j];
    if (other.end_row() == one.row) add_common(columns_of(one), columns_of(other), j, contacts[i].above);
    if (other.row == one.end_row()) add_common(columns_of(one), columns_of(other), j, contacts[i].below);
    if (other.end_column() == one.column) add_common(rows_of(one), rows_of(other), j, contacts[i].left);
    if (other.column == one.end_column()) add_common(rows_of(one), rows_of(other), j, contacts[i].right);
  });
  for (Contacts& of_unit : contacts) {
    for (std::vector<Overlap>* edge : {&of_unit.above, &of_unit.below, &of_unit.left, &of_unit.right}) sort(*edge);
  }
  return contacts;
}

std::vector<std::vector<Overlap>> row_overlaps(std::span<const Rectangle> rectangles) {
  return overlaps_along(rectangles, rows_of);
}

std::vector<std::vector<Overlap>> column_overlaps(std::span<const Rectangle> rectangles) {
  return overlaps_along(rectangles, columns_of);
}

namespace {

/// A band ends wherever a rectangle begins or ends, for then its units change.
std::vector<Band> bands_along(std::span<const Rectangle> rectangles, BlockRange (*side)(const Rectangle&)) {
  std::vector<std::int64_t> cuts;
  for (const Rectangle& rectangle : rectangles) {
    if (rectangle.empty()) continue;
    cuts.push_back(side(rectangle).first);
    cuts.push_back(side(rectangle).end);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
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

}  // namespace

std::vector<Band> row_bands(std::span<const Rectangle> rectangles) { return bands_along(rectangles, rows_of); }

std::vector<Band> column_bands(std::span<const Rectangle> rectangles) { return bands_along(rectangles, columns_of); }

}  // namespace steelyard::partition
