#include "partition/rectangles/rectangle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::partition {
namespace {

/// What two ranges have in common, as an overlap with `unit`; of count 0 where that is nothing.
Overlap overlap(const BlockRange& a, const BlockRange& b, std::size_t unit) {
  const std::int64_t first = std::max(a.first, b.first);
  return {static_cast<int>(unit), first, std::max<std::int64_t>(0, std::min(a.end, b.end) - first)};
}

/// By first common row or column, then by unit.
void sort(std::vector<Overlap>& overlaps) {
  std::ranges::sort(overlaps, {}, [](const Overlap& each) { return std::tuple(each.first, each.unit); });
}

std::vector<std::vector<Overlap>> overlaps_along(std::span<const Rectangle> rectangles,
                                                 BlockRange (*side)(const Rectangle&)) {
  std::vector<std::vector<Overlap>> overlaps(rectangles.size());
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    for (std::size_t j = 0; j < rectangles.size(); ++j) {
      if (i == j || rectangles[i].empty() || rectangles[j].empty()) continue;
      const Overlap common = overlap(side(rectangles[i]), side(rectangles[j]), j);
      if (common.count > 0) overlaps[i].push_back(common);
    }
    sort(overlaps[i]);
  }
  return overlaps;
}

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

void require(std::span<const Rectangle> rectangles, double bytes) {
  if (rectangles.empty()) throw InvalidArgument("communication of no rectangles (expected at least one)");
  if (!(std::isfinite(bytes) && bytes >= 0.0)) {
    throw InvalidArgument(fmt::format("{} bytes (expected a finite number >= 0)", bytes));
  }
}

models::MessagePattern pattern(const char* name, std::span<const Rectangle> rectangles,
                               std::vector<models::Phase> phases) {
  return {name, static_cast<int>(rectangles.size()), std::move(phases)};
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

std::int64_t half_perimeters(std::span<const Rectangle> rectangles) {
  std::int64_t sum = 0;
  for (const Rectangle& rectangle : rectangles) sum += rectangle.half_perimeter();
  return sum;
}

std::vector<std::vector<Overlap>> row_overlaps(std::span<const Rectangle> rectangles) {
  return overlaps_along(rectangles, rows_of);
}

std::vector<std::vector<Overlap>> column_overlaps(std::span<const Rectangle> rectangles) {
  return overlaps_along(rectangles, columns_of);
}

std::vector<Band> row_bands(std::span<const Rectangle> rectangles) { return bands_along(rectangles, rows_of); }

std::vector<Band> column_bands(std::span<const Rectangle> rectangles) { return bands_along(rectangles, columns_of); }

models::MessagePattern halo_pattern(std::span<const Rectangle> rectangles, double bytes_per_point) {
  require(rectangles, bytes_per_point);
  models::Phase phase;
  phase.sends = models::Phase::Sends::at_once;
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    const Rectangle& one = rectangles[i];
    std::array<std::vector<Overlap>, 4> edges;  // above, right, below, left
    for (std::size_t j = 0; j < rectangles.size(); ++j) {
      const Rectangle& other = rectangles[j];
      if (i == j || one.empty() || other.empty()) continue;
      const Overlap columns = overlap(columns_of(one), columns_of(other), j);
      const Overlap rows = overlap(rows_of(one), rows_of(other), j);
      if (other.end_row() == one.row) edges[0].push_back(columns);
      if (other.column == one.end_column()) edges[1].push_back(rows);
      if (other.row == one.end_row()) edges[2].push_back(columns);
      if (other.end_column() == one.column) edges[3].push_back(rows);
    }
    for (std::vector<Overlap>& edge : edges) {
      sort(edge);
      for (const Overlap& with : edge) {
        if (with.count == 0) continue;
        phase.messages.push_back({static_cast<int>(i), with.unit, bytes_per_point * static_cast<double>(with.count)});
      }
    }
  }
  return pattern("2D halo exchange", rectangles, {std::move(phase)});
}

models::MessagePattern summa_pattern(std::span<const Rectangle> rectangles, std::int64_t first, std::int64_t depth,
                                     double element_bytes) {
  require(rectangles, element_bytes);
  if (depth < 0) throw InvalidArgument(fmt::format("pivots of depth {} (expected >= 0)", depth));
  models::Phase pivot_column;
  models::Phase pivot_row;
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    const Rectangle& owner = rectangles[i];
    const bool has_column = !owner.empty() && owner.column <= first && first < owner.end_column();
    const bool has_row = !owner.empty() && owner.row <= first && first < owner.end_row();
    if (!has_column && !has_row) continue;
    for (std::size_t j = 0; j < rectangles.size(); ++j) {
      const Rectangle& other = rectangles[j];
      if (i == j || other.empty()) continue;
      const std::int64_t rows = overlap(rows_of(owner), rows_of(other), j).count;
      const std::int64_t columns = overlap(columns_of(owner), columns_of(other), j).count;
      const auto add = [&](models::Phase& phase, std::int64_t length) {
        phase.messages.push_back(
            {static_cast<int>(i), static_cast<int>(j), element_bytes * static_cast<double>(length * depth)});
      };
      if (has_column && rows > 0) add(pivot_column, rows);
      if (has_row && columns > 0) add(pivot_row, columns);
    }
  }
  return pattern("SUMMA iteration", rectangles, {std::move(pivot_column), std::move(pivot_row)});
}

}  // namespace steelyard::partition
