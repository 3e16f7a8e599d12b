#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "partition/rectangles/rectangle.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::tests {

using Rectangles = std::vector<partition::Rectangle>;

/// Whether every block of a side x side matrix is in one of them exactly.
inline bool tile(const Rectangles& rectangles, std::int64_t side) {
  std::vector<int> owners(static_cast<std::size_t>(side * side));
  for (const partition::Rectangle& rectangle : rectangles) {
    if (rectangle.row < 0 || rectangle.column < 0 || rectangle.end_row() > side || rectangle.end_column() > side) {
      return false;
    }
    for (std::int64_t i = rectangle.row; i < rectangle.end_row(); ++i) {
      for (std::int64_t j = rectangle.column; j < rectangle.end_column(); ++j) {
        ++owners[static_cast<std::size_t>(i * side + j)];
      }
    }
  }
  return std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; });
}

/// Five around a square, of which no cut from side to side separates any:
/// 0 0 1
/// 3 4 1
/// 3 2 2
/// @param first block rows and columns of the thin ends at the start @param second those up to the thin ends at the end
inline Rectangles pinwheel(std::int64_t side, std::int64_t first, std::int64_t second) {
  return {{0, 0, first, second},
          {0, second, second, side - second},
          {second, first, side - second, side - first},
          {first, 0, side - first, first},
          {first, first, second - first, second - first}};
}

inline std::string json_of(const Rectangles& rectangles) {
  nlohmann::json json{{"rectangles", nlohmann::json::array()}};
  for (const partition::Rectangle& rectangle : rectangles) {
    json["rectangles"].push_back({{"row", rectangle.row},
                                  {"column", rectangle.column},
                                  {"rows", rectangle.rows},
                                  {"columns", rectangle.columns}});
  }
  return json.dump();
}

inline Rectangles rectangles_of(const nlohmann::json& json) {
  Rectangles rectangles;
  for (const auto& rectangle : json.at("rectangles")) {
    rectangles.push_back({rectangle.at("row"), rectangle.at("column"), rectangle.at("rows"), rectangle.at("columns")});
  }
  return rectangles;
}

/// Writes a file for `--partition` of summa and returns its path.
inline std::string write_rectangles(const TemporaryFolder& folder, const std::string& name,
                                    const Rectangles& rectangles) {
  return folder.write(name, json_of(rectangles));
}

}  // namespace steelyard::tests
