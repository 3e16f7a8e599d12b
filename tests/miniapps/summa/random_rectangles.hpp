#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "miniapps/summa/problem.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/miniapps/rectangles.hpp"

namespace steelyard::tests {

template <class Scalar>
const MPI_Datatype datatype = std::is_same_v<Scalar, double> ? MPI_DOUBLE : MPI_FLOAT;

inline constexpr std::array communications{summa::Communication::paper, summa::Communication::bcast,
                                           summa::Communication::pipelined};

/// This rank's.
template <class Part>
const Part& own(const std::vector<Part>& parts) {
  return parts[static_cast<std::size_t>(session().rank())];
}

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

/// Rectangles of `count` ranks, in any order, that cover so many blocks a side: all kinds, some of one row or column,
/// some empty; where there are five and more, some a pinwheel.
inline std::vector<partition::Rectangle> random_rectangles(std::int64_t blocks, int count, std::mt19937_64& random) {
  std::vector<partition::Rectangle> rectangles;
  if (count >= 5 && blocks >= 3 && random() % 2 == 0) {
    const auto first = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>((blocks - 1) / 2));
    rectangles = pinwheel(blocks, first, blocks - 1 - static_cast<std::int64_t>(random() % 2) * (first - 1));
    rectangles.resize(static_cast<std::size_t>(count));
  } else {
    for (const partition::Rectangle& rectangle : random_tiling(blocks, count, random)) {
      rectangles.push_back(rectangle.empty() ? partition::Rectangle{} : rectangle);
    }
  }
  std::shuffle(rectangles.begin(), rectangles.end(), random);
  return rectangles;
}

}  // namespace steelyard::tests
