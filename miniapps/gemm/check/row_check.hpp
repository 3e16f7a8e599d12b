#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "core/base/errors.hpp"
#include "core/matrix.hpp"

namespace steelyard::gemm {

/// A matrix in host memory, to be read.
template <class Scalar>
using ConstHostMatrix = ConstMatrix<HostExecution, Scalar>;

/// Result of a check of some rows of C.
struct RowCheck {
  double error = 0.0;            ///< largest deviation, as a share of what rounding alone may amount to; infinity where
                                 ///< a NaN or Inf is missing or should not be there
  std::int64_t worst_row = -1;   ///< row (counted from the first of those checked) of that deviation; -1: none deviates
  std::int64_t masked_rows = 0;  ///< rows of which only the NaNs and Infs could be checked

  bool passed() const { return error <= 1.0; }
};

/// Calls work(row) for all rows on the host unit's threads; fences.
template <class Work>
void for_host_rows(std::int64_t rows, const Work& work) {
  const HostExecution space;
  using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("steelyard::gemm::check", Policy(space, 0, rows), work);
  space.fence();
}

/// @throws InvalidArgument unless the matrix has these extents
template <class Scalar>
void expect_extents(const char* name, const ConstHostMatrix<Scalar>& matrix, std::int64_t rows, std::int64_t columns) {
  if (static_cast<std::int64_t>(matrix.extent(0)) != rows || static_cast<std::int64_t>(matrix.extent(1)) != columns) {
    throw InvalidArgument(fmt::format("check of C: {} is {} x {}; expected {} x {}", name, matrix.extent(0),
                                      matrix.extent(1), rows, columns));
  }
}

}  // namespace steelyard::gemm
