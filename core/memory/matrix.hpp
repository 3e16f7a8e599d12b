#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"

namespace steelyard {

/// Elements from row to row of a matrix: whole cache lines, and of long rows an odd number of them: rows a power of two
/// apart share places in the caches.
template <class Element>
constexpr std::int64_t padded_pitch(std::int64_t length) {
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(Element));
  constexpr std::int64_t few_lines = 8;
  const std::int64_t lines = (length + line - 1) / line;
  return (lines >= few_lines ? lines | 1 : lines) * line;
}

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

/// Part of a matrix, sharing its elements.
template <class Memory, class Scalar>
Kokkos::View<Scalar**, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>> matrix_block(
    const Kokkos::View<Scalar**, Kokkos::LayoutRight, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>& matrix,
    std::int64_t first_row, std::int64_t rows, std::int64_t first_column, std::int64_t columns) {
  const auto leading_dimension = static_cast<std::int64_t>(matrix.stride(0));
  return matrix_at<typename Memory::execution_space>(matrix.data() + first_row * leading_dimension + first_column, rows,
                                                     columns, leading_dimension);
}

/// A matrix in host memory, row after row without gaps, pinned where there is a device, and not initialised.
template <class Scalar>
class HostArray {
 public:
  HostArray() = default;
  HostArray(std::int64_t rows, std::int64_t columns)
      : row_count_(rows),
        columns_(columns),
        elements_("steelyard::core::host_array", static_cast<std::size_t>(rows * columns)) {}

  Matrix<HostExecution, Scalar> rows(std::int64_t first, std::int64_t count) const {
    return matrix_at<HostExecution>(elements_.data() + first * columns_, count, columns_, columns_);
  }
  std::span<Scalar> elements(std::int64_t first_row, std::int64_t rows) const {
    return {elements_.data() + first_row * columns_, static_cast<std::size_t>(rows * columns_)};
  }
  std::int64_t row_count() const { return row_count_; }

 private:
  std::int64_t row_count_ = 0;
  std::int64_t columns_ = 0;
  UntouchedArray<Scalar, PinnedMemory> elements_;
};

}  // namespace steelyard
