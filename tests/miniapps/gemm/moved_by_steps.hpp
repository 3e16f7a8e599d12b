#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "miniapps/gemm/out_of_core/blocking.hpp"

namespace steelyard::tests {

/// Elements of each matrix that steps load, and of C that they store.
struct MovedElements {
  std::int64_t a = 0, b = 0, c = 0, stored = 0;
  std::int64_t all() const { return a + b + c + stored; }
};

inline MovedElements moved_by(const gemm::BlockGrid& grid, const std::vector<gemm::BlockStep>& steps) {
  MovedElements moved;
  for (const gemm::BlockStep& step : steps) {
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
