#pragma once

#include <cstdint>
#include <utility>

#include "core/spaces.hpp"

namespace steelyard {

/// A matrix in a unit's memory that somebody else owns, row after row; stride(0), the leading dimension, is at least
/// the number of columns. Views of whole matrices in LayoutRight and their blocks convert to it.
template <class Execution, class Scalar>
using Matrix =
    Kokkos::View<Scalar**, Kokkos::LayoutRight, DeviceOf<Execution>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
template <class Execution, class Scalar>
using ConstMatrix = Matrix<Execution, const Scalar>;

/// The matrix whose rows begin `leading_dimension` elements apart, the first at `data`; `leading_dimension >= columns`.
template <class Execution, class Scalar>
Matrix<Execution, Scalar> matrix_at(Scalar* data, std::int64_t rows, std::int64_t columns,
                                    std::int64_t leading_dimension) {
  const Matrix<Execution, Scalar> whole(data, static_cast<std::size_t>(rows),
                                        static_cast<std::size_t>(leading_dimension));
  return Kokkos::subview(whole, Kokkos::ALL, std::make_pair(std::int64_t{0}, columns));
}

}  // namespace steelyard
