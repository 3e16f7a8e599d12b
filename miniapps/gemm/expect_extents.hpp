#pragma once

#include <fmt/format.h>

#include <cstdint>

#include "core/base/errors.hpp"
#include "core/matrix.hpp"

namespace steelyard::gemm {

/// @throws InvalidArgument unless the matrix has these extents
template <class Scalar>
void expect_extents(const char* name, const ConstMatrix<HostExecution, Scalar>& matrix, std::int64_t rows,
                    std::int64_t columns) {
  if (static_cast<std::int64_t>(matrix.extent(0)) != rows || static_cast<std::int64_t>(matrix.extent(1)) != columns) {
    throw InvalidArgument(fmt::format("check of C: {} is {} x {}; expected {} x {}", name, matrix.extent(0),
                                      matrix.extent(1), rows, columns));
  }
}

}  // namespace steelyard::gemm
