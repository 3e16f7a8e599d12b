#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace steelyard::tests {

/// Sums what Kokkos allocates while this lives; one at a time.
class Allocations {
 public:
  /// @param label of the allocations that count; all count without
  explicit Allocations(std::string label = {}) {
    sum_bytes = 0.0;
    counted_label = std::move(label);
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](auto, const char* name, const void*, std::uint64_t bytes) {
          if (counted_label.empty() || counted_label == name) sum_bytes = sum_bytes + static_cast<double>(bytes);
        });
  }
  ~Allocations() { Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr); }
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;
  double bytes() const { return sum_bytes; }

 private:
  inline static std::atomic<double> sum_bytes{0.0};
  inline static std::string counted_label;
};

}  // namespace steelyard::tests
