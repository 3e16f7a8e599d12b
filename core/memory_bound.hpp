#pragma once

#include <cstddef>
#include <cstdint>

#include "core/memory/array_pass.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/sweep/row_pointer.hpp"

namespace steelyard {

/// a[i] = b[i] - a[i].
struct MemoryBoundUpdate {
  RowPointer<double> written;
  RowPointer<const double> read;
  KOKKOS_FORCEINLINE_FUNCTION double value(const std::int64_t i) const { return read[i] - written[i]; }
  KOKKOS_FORCEINLINE_FUNCTION void set(const std::int64_t i, const double value) const { written[i] = value; }
};

/// The arrays' first touch.
struct MemoryBoundTouch {
  RowPointer<double> written, read;
  KOKKOS_FORCEINLINE_FUNCTION double value(std::int64_t) const { return 1.0; }
  KOKKOS_FORCEINLINE_FUNCTION void set(const std::int64_t i, const double value) const {
    read[i] = value;
    written[i] = 0.5 * value;
  }
};

/// The plain sweep that kernels are compared with, which reads two arrays and writes one of them back:
/// a[i] = b[i] - a[i], 3 elements of traffic per point and 1 flop. One pass over the arrays per run().
template <class Execution>
class MemoryBoundProbe {
 public:
  static constexpr double bytes_per_element = 3.0 * sizeof(double);

  /// Allocates and touches on the calling thread; fences. @param elements of each of the two arrays
  MemoryBoundProbe(const Execution& space, std::int64_t elements) : space_(space), elements_(elements) {
    // Half a page from one array to the other: a store delays later loads at the same place of another page.
    constexpr std::int64_t page = 4096 / sizeof(double);
    const std::int64_t stride = (elements + page - 1) / page * page + page / 2;
    // In huge pages on hosts, as fields of the apps are: memory gives more.
    arrays_ = {space, "steelyard::memory_bound::arrays", static_cast<std::size_t>(2 * stride)};
    written_ = row_pointer(arrays_.data(), 0, elements);
    read_ = row_pointer(arrays_.data() + stride, 0, elements);
    ArrayPass<Execution, MemoryBoundTouch>{{written_, read_}, elements_}.launch(space_,
                                                                                "steelyard::memory_bound::touch");
    space_.fence();
  }

  /// One pass; fences.
  void run() const {
    ArrayPass<Execution, MemoryBoundUpdate>{{written_, read_}, elements_}.launch(space_,
                                                                                 "steelyard::memory_bound::update");
    space_.fence();
  }

  double bytes() const { return bytes_per_element * static_cast<double>(elements_); }

 private:
  Execution space_;
  std::int64_t elements_;
  UntouchedArray<double, typename Execution::memory_space> arrays_;
  RowPointer<double> written_ = nullptr, read_ = nullptr;
};

}  // namespace steelyard
