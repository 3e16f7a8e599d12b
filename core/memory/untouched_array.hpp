#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <string>
#include <type_traits>

#include "core/device/device.hpp"
#include "core/memory/huge_pages.hpp"

namespace steelyard {

/// Elements in a memory space, not initialised: they end up near the threads that write them first. On a host they lie
/// in huge pages, where there are enough of them, and begin with one; a device's memory, and what is pinned for it, has
/// its pages already. Pinned memory of a machine without a device is a host's. Copies share the elements.
template <class Element, class MemorySpace>
class UntouchedArray {
 public:
  UntouchedArray() = default;
  /// @param label what Kokkos' tools call the memory
  UntouchedArray(const std::string& label, std::size_t elements) {
    const auto properties = Kokkos::view_alloc(Kokkos::WithoutInitializing, label);
    if (is_pinned && device_count() == 0) {
      allocate(unpinned_, properties, elements);
    } else {
      allocate(memory_, properties, elements);
    }
  }
  /// Allocates in the order of a unit's queue, where its backend does.
  template <class Execution>
  UntouchedArray(const Execution& space, const std::string& label, std::size_t elements) {
    allocate(memory_, Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), elements);
  }

  Element* data() const { return first_; }

 private:
  using HostView = Kokkos::View<Element*, Kokkos::HostSpace>;
  static constexpr bool is_pinned =
      std::is_same_v<MemorySpace, PinnedMemory> && !std::is_same_v<MemorySpace, Kokkos::HostSpace>;

  /// In huge pages less than a page stays free before the first element, and less than a page behind the last.
  template <class View, class Properties>
  void allocate(View& memory, const Properties& properties, std::size_t elements) {
    const bool in_huge_pages = std::is_same_v<View, HostView> && worth_huge_pages(elements * sizeof(Element));
    memory = View(properties, elements + (in_huge_pages ? 2 * huge_page_bytes / sizeof(Element) : 0));
    first_ = memory.data();
    if (!in_huge_pages) return;
    first_ = static_cast<Element*>(begin_of_huge_page(first_));
    advise_huge_pages(first_, elements * sizeof(Element));
  }

  Kokkos::View<Element*, MemorySpace> memory_;
  HostView unpinned_;  ///< instead, without a device to pin it for
  Element* first_ = nullptr;
};

}  // namespace steelyard
