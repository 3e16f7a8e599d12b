#pragma once

#include <span>

#include "miniapps/gemm/random_matrix.hpp"

namespace steelyard::gemm {

/// A block of a random matrix, row after row.
template <class Scalar>
struct RandomFill {
  RandomMatrix matrix;
  std::int64_t first_row, first_column;
  std::int64_t columns;
  Scalar* elements;

  KOKKOS_FUNCTION void operator()(const std::int64_t row) const {
    Scalar* const out = elements + row * columns;
    for (std::int64_t j = 0; j < columns; ++j)
      out[j] = static_cast<Scalar>(matrix.element(first_row + row, first_column + j));
  }
};

/// Fills `block`, `columns` columns of the matrix from an element on, with the host unit's threads; fences.
template <class Scalar>
void fill_random(const RandomMatrix& matrix, std::int64_t first_row, std::int64_t first_column, std::int64_t columns,
                 std::span<Scalar> block) {
  if (block.empty()) return;
  using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::IndexType<std::int64_t>>;
  const HostExecution space;
  Kokkos::parallel_for("steelyard::gemm::fill", Policy(space, 0, static_cast<std::int64_t>(block.size()) / columns),
                       RandomFill<Scalar>{matrix, first_row, first_column, columns, block.data()});
  space.fence();
}

}  // namespace steelyard::gemm
