#pragma once

#include <cstdint>
#include <span>

#include "core/huge_pages.hpp"
#include "core/matrix.hpp"

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
        memory_(Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::core::host_array"),
                static_cast<std::size_t>(rows * columns) + room(rows * columns)),
        elements_(memory_.data()) {
    if (room(rows * columns) == 0) return;
    elements_ = static_cast<Scalar*>(begin_of_huge_page(memory_.data()));
    advise_huge_pages(elements_, static_cast<std::size_t>(rows * columns) * sizeof(Scalar));
  }

  Matrix<HostExecution, Scalar> rows(std::int64_t first, std::int64_t count) const {
    return matrix_at<HostExecution>(elements_ + first * columns_, count, columns_, columns_);
  }
  std::span<Scalar> elements(std::int64_t first_row, std::int64_t rows) const {
    return {elements_ + first_row * columns_, static_cast<std::size_t>(rows * columns_)};
  }
  std::int64_t row_count() const { return row_count_; }

 private:
  /// More elements, so that these can begin and end with a huge page. Pinned memory has its pages already.
  static constexpr std::size_t room(std::int64_t elements) {
    const bool is_worth_it =
        !companion_is_device && worth_huge_pages(static_cast<std::size_t>(elements) * sizeof(Scalar));
    return is_worth_it ? 2 * huge_page_bytes / sizeof(Scalar) : 0;
  }

  std::int64_t row_count_ = 0;
  std::int64_t columns_ = 0;
  Kokkos::View<Scalar*, PinnedMemory> memory_;
  Scalar* elements_ = nullptr;
};

}  // namespace steelyard
