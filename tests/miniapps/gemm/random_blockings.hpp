#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "miniapps/gemm/out_of_core/blocking.hpp"

namespace steelyard::tests {

inline std::int64_t any_of(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// As many whole blocks as make `blocks` with the last one, which may be smaller.
inline std::int64_t extent_of(std::mt19937_64& random, std::int64_t blocks, std::int64_t size) {
  return blocks == 0 ? 0 : (blocks - 1) * size + any_of(random, 1, size);
}

/// Up to `most_blocks` in each direction, of up to `most_size` rows, columns and products each, in five buffers. There
/// may be no products to add up.
inline gemm::Blocking random_blocking(std::mt19937_64& random, std::int64_t most_blocks, std::int64_t most_size) {
  gemm::Blocking blocking;
  blocking.in_core = false;
  blocking.a_buffers = blocking.c_buffers = 2;
  gemm::BlockGrid& grid = blocking.grid;
  for (std::int64_t* size : {&grid.height, &grid.width, &grid.depth}) *size = any_of(random, 1, most_size);
  grid.m = extent_of(random, any_of(random, 1, most_blocks), grid.height);
  grid.n = extent_of(random, any_of(random, 1, most_blocks), grid.width);
  grid.k = extent_of(random, any_of(random, 0, most_blocks), grid.depth);
  return blocking;
}

/// All of it in buffers, C and A in up to `most_rows` rows of blocks.
inline gemm::Blocking random_in_core(std::mt19937_64& random, std::int64_t most_rows, std::int64_t most_size) {
  gemm::Blocking blocking;
  gemm::BlockGrid& grid = blocking.grid;
  for (std::int64_t* size : {&grid.height, &grid.width, &grid.depth}) *size = any_of(random, 1, most_size);
  grid.m = extent_of(random, any_of(random, 1, most_rows), grid.height);
  grid.n = any_of(random, 1, grid.width);
  grid.k = any_of(random, 0, grid.depth);
  blocking.a_buffers = blocking.c_buffers = grid.rows();
  return blocking;
}

/// Elements of each matrix that steps load, and of C that they store.
struct MovedElements {
  std::int64_t a = 0, b = 0, c = 0, stored = 0;
  double all() const { return static_cast<double>(a + b + c + stored); }
};

inline MovedElements moved_by_steps(const gemm::Blocking& blocking, bool reads_c) {
  const gemm::BlockGrid& grid = blocking.grid;
  MovedElements moved;
  for (const gemm::BlockStep& step : make_block_steps(blocking, reads_c)) {
    const std::int64_t rows = std::min(grid.height, grid.m - step.row * grid.height);
    const std::int64_t columns = std::min(grid.width, grid.n - step.column * grid.width);
    const std::int64_t depth = std::min(grid.depth, grid.k - step.panel * grid.depth);
    if (step.load_a) moved.a += rows * depth;
    if (step.load_b) moved.b += depth * columns;
    if (step.load_c) moved.c += rows * columns;
    if (step.store_c) moved.stored += rows * columns;
  }
  return moved;
}

}  // namespace steelyard::tests
