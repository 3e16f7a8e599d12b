#include "partition/rectangles/bands.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace steelyard::partition {
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
