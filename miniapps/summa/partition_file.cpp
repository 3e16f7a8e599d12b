#include "miniapps/summa/partition_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/json_file.hpp"

namespace steelyard::summa {
namespace {

using partition::Rectangle;

/// A whole number of blocks, so small that sums of two fit.
std::int64_t blocks(const JsonReader& reader, const std::string& key) {
  const double value = reader.number(key);
  if (!(value >= 0.0 && value <= static_cast<double>(partition::most_blocks_per_side) && std::floor(value) == value)) {
    reader.fail(key,
                fmt::format("is {} (expected a whole number from 0 to {})", value, partition::most_blocks_per_side));
  }
  return static_cast<std::int64_t>(value);
}

bool overlap(const Rectangle& one, const Rectangle& other) {
  return !one.empty() && !other.empty() && one.row < other.end_row() && other.row < one.end_row() &&
         one.column < other.end_column() && other.column < one.end_column();
}

Rectangle read_rectangle(const JsonReader& reader, const partition::Extents& extents) {
  const Rectangle rectangle{blocks(reader, "row"), blocks(reader, "column"), blocks(reader, "rows"),
                            blocks(reader, "columns")};
  if (rectangle.empty()) return {};
  if (rectangle.end_row() > extents.rows || rectangle.end_column() > extents.columns) {
    reader.fail("", fmt::format("ends at block row {}, column {} (expected at most {}, {})", rectangle.end_row(),
                                rectangle.end_column(), extents.rows, extents.columns));
  }
  return rectangle;
}

}  // namespace

std::vector<Rectangle> read_rectangles(const std::filesystem::path& path, const partition::Extents& extents,
                                       int processes) {
  const nlohmann::json json = read_json_file(path);
  const JsonReader top(path.string(), json);
  const std::vector<JsonReader> readers = top.array("rectangles");
  if (readers.size() != static_cast<std::size_t>(processes)) {
    top.fail("rectangles", fmt::format("holds {} (expected one for each of {} processes)", readers.size(), processes));
  }
  std::vector<Rectangle> rectangles;
  std::int64_t covered = 0;
  for (const JsonReader& reader : readers) {
    rectangles.push_back(read_rectangle(reader, extents));
    const Rectangle& last = rectangles.back();
    const auto same = std::find_if(rectangles.begin(), rectangles.end() - 1,
                                   [&](const Rectangle& other) { return overlap(last, other); });
    if (same != rectangles.end() - 1) {
      reader.fail("", fmt::format("has blocks in common with rectangles[{}]", same - rectangles.begin()));
    }
    covered += last.area();
  }
  if (covered != extents.rows * extents.columns) {
    top.fail("rectangles",
             fmt::format("cover {} blocks (expected all {} x {})", covered, extents.rows, extents.columns));
  }
  return rectangles;
}

}  // namespace steelyard::summa
