#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "partition/rectangle.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/miniapps/summa/random_tiling.hpp"

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

/// Five rectangles around each other, none of which ends where another does, and empty ones up to `count`, in any
/// order. At least 3 blocks a side.
inline std::vector<partition::Rectangle> pinwheel(std::int64_t blocks, int count, std::mt19937_64& random) {
  const auto arm = [&] {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>((blocks - 1) / 2));
  };
  const std::int64_t high = arm(), wide = arm();
  std::vector<partition::Rectangle> rectangles{{0, 0, high, blocks - wide},
                                               {0, blocks - wide, blocks - high, wide},
                                               {blocks - high, wide, high, blocks - wide},
                                               {high, 0, blocks - high, wide},
                                               {high, wide, blocks - 2 * high, blocks - 2 * wide}};
  rectangles.resize(static_cast<std::size_t>(count));
  std::shuffle(rectangles.begin(), rectangles.end(), random);
  return rectangles;
}

/// Rectangles of `count` ranks that cover so many blocks a side: all kinds, some of one row or column, some empty;
/// where there are five and more, some a pinwheel.
inline std::vector<partition::Rectangle> random_rectangles(std::int64_t blocks, int count, std::mt19937_64& random) {
  if (count >= 5 && blocks >= 3 && random() % 2 == 0) return pinwheel(blocks, count, random);
  std::vector<partition::Rectangle> rectangles;
  for (const summa::Tile& tile : random_tiling(blocks, count, random)) {
    const partition::Rectangle rectangle{tile.row, tile.column, tile.rows, tile.columns};
    rectangles.push_back(rectangle.empty() ? partition::Rectangle{} : rectangle);
  }
  std::shuffle(rectangles.begin(), rectangles.end(), random);
  return rectangles;
}

}  // namespace steelyard::tests
