#pragma once

#include <cstdint>

#include "core/matrix.hpp"

namespace steelyard::gemm {

/// The same matrix, for a unit that works in host memory.
template <class Execution, class Element>
Matrix<Execution, Element> seen_by(const Matrix<HostExecution, Element>& matrix) {
  return matrix_at<Execution>(matrix.data(), static_cast<std::int64_t>(matrix.extent(0)),
                              static_cast<std::int64_t>(matrix.extent(1)), static_cast<std::int64_t>(matrix.stride(0)));
}

}  // namespace steelyard::gemm
