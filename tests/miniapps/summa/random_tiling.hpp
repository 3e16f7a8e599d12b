#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "miniapps/summa/problem.hpp"

namespace steelyard::tests {

/// Adds `count` tiles that cover `all` to `tiles`: cut in two anywhere, again and again, so that some have one row or
/// column and some are empty.
inline void cut_into_tiles(const summa::Tile& all, int count, std::mt19937_64& random,
                           std::vector<summa::Tile>& tiles) {
  if (count == 1) {
    // An empty one may be anywhere.
    tiles.push_back(all.empty() && random() % 2 == 0 ? summa::Tile{} : all);
    return;
  }
  const int in_first = 1 + static_cast<int>(random() % static_cast<unsigned>(count - 1));
  const bool rows = random() % 2 == 0;
  const auto extent = static_cast<std::uint64_t>(rows ? all.rows : all.columns);
  const auto at = static_cast<std::int64_t>(random() % (extent + 1));
  summa::Tile first = all, second = all;
  (rows ? first.rows : first.columns) = at;
  (rows ? second.rows : second.columns) -= at;
  (rows ? second.row : second.column) += at;
  cut_into_tiles(first, in_first, random, tiles);
  cut_into_tiles(second, count - in_first, random, tiles);
}

/// A tile of an n x n matrix for each of `count` ranks.
inline std::vector<summa::Tile> random_tiling(std::int64_t n, int count, std::mt19937_64& random) {
  std::vector<summa::Tile> tiles;
  cut_into_tiles({0, 0, n, n}, count, random, tiles);
  return tiles;
}

}  // namespace steelyard::tests
