#pragma once

#include <cstdint>
#include <span>

#include "core/memory/matrix.hpp"
#include "core/memory/untouched_array.hpp"

namespace steelyard {

/// A matrix in host memory, row after row without gaps, pinned where there is a device. Its elements are not
/// initialised: they end up near the threads that write them first.
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
