#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>

#include "core/memory/host_copy.hpp"
#include "core/memory/matrix.hpp"
#include "core/memory/untouched_array.hpp"
#include "tests/core/started_units.hpp"

namespace steelyard::tests {

/// Value of elements between the rows of a matrix, which no multiplication and no copy may touch.
template <class Scalar>
inline constexpr Scalar between_rows = Scalar{-12345};

/// A matrix in a unit's memory with its copy on the host: `at` reads and writes the copy, `send` and `fetch` move it.
template <class Execution, class Scalar>
class UnitMatrix {
 public:
  UnitMatrix(std::int64_t rows, std::int64_t columns, std::int64_t leading)
      : rows_(rows),
        columns_(columns),
        leading_(leading),
        pinned_("host", static_cast<std::size_t>(rows * leading)),
        host_(pinned_.data(), static_cast<std::size_t>(rows * leading)),
        own_(Kokkos::view_alloc(Execution(), "own"), static_cast<std::size_t>(rows * leading)) {
    std::fill_n(host_.data(), host_.size(), between_rows<Scalar>);
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t leading() const { return leading_; }
  Scalar& at(std::int64_t row, std::int64_t column) const {
    return host_(static_cast<std::size_t>(row * leading_ + column));
  }
  Matrix<Execution, Scalar> view() const { return matrix_at<Execution>(own_.data(), rows_, columns_, leading_); }
  Matrix<HostExecution, Scalar> host() const {
    return matrix_at<HostExecution>(host_.data(), rows_, columns_, leading_);
  }

  template <class Random>
  void fill(Random& random) const {
    std::uniform_real_distribution<Scalar> value(Scalar{-1}, Scalar{1});
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) at(i, j) = value(random);
    }
  }
  void fill_with(Scalar value) const {
    for (std::int64_t i = 0; i < rows_; ++i) std::fill_n(host_.data() + i * leading_, columns_, value);
  }
  void send() const {
    copy_from_host(Execution(), own_.data(), static_cast<const Scalar*>(host_.data()), host_.size());
    Execution().fence();
  }
  void fetch() const {
    copy_to_host(Execution(), host_.data(), static_cast<const Scalar*>(own_.data()), host_.size());
    Execution().fence();
  }
  bool untouched_between_rows() const {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = columns_; j < leading_; ++j) {
        if (at(i, j) != between_rows<Scalar>) return false;
      }
    }
    return true;
  }

 private:
  std::int64_t rows_, columns_, leading_;
  UntouchedArray<Scalar, PinnedMemory> pinned_;
  Kokkos::View<Scalar*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host_;
  Kokkos::View<Scalar*, DeviceOf<Execution>> own_;
};

}  // namespace steelyard::tests
