#pragma once

#include <algorithm>
#include <cstdint>

#include "core/spaces.hpp"
#include "core/timing.hpp"

namespace steelyard {

/// The kernel whose speed no plain sweep that reads two arrays and writes one of them back can pass:
/// a[i] = b[i] - a[i], 3 elements of traffic per point and 1 flop. One pass over the arrays per run().
template <class Execution>
class MemoryBoundProbe {
 public:
  static constexpr double bytes_per_element = 3.0 * sizeof(double);

  /// Allocates and touches on the calling thread. @param elements of each of the two arrays
  MemoryBoundProbe(const Execution& space, std::int64_t elements)
      : space_(space),
        written_(Kokkos::view_alloc(space, "steelyard::memory_bound::written"), static_cast<std::size_t>(elements)),
        read_(Kokkos::view_alloc(space, "steelyard::memory_bound::read"), static_cast<std::size_t>(elements)) {
    space.fence();
  }

  /// One pass; fences.
  void run() const {
    Kokkos::parallel_for("steelyard::memory_bound::update",
                         Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::int64_t>>(
                             space_, 0, static_cast<std::int64_t>(written_.extent(0))),
                         Update{written_.data(), read_.data()});
    space_.fence();
  }

  double bytes() const { return bytes_per_element * static_cast<double>(written_.extent(0)); }

 private:
  struct Update {
    double* written;
    const double* read;
    KOKKOS_FUNCTION void operator()(const std::int64_t i) const { written[i] = read[i] - written[i]; }
  };

  Execution space_;
  Kokkos::View<double*, DeviceOf<Execution>> written_;
  Kokkos::View<double*, DeviceOf<Execution>> read_;
};

}  // namespace steelyard
