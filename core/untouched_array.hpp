#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <string>
#include <type_traits>

#include "core/huge_pages.hpp"

namespace steelyard {

/// Elements in a memory space, not initialised: they end up near the threads that write them first. On a host they lie
/// in huge pages, where there are enough of them, and begin with one; a device's memory, and what is pinned for it, has
/// its pages already. Copies share the elements.
template <class Element, class MemorySpace>
class UntouchedArray {
 public:
  UntouchedArray() = default;
  /// @param label what Kokkos' tools call the memory
  UntouchedArray(const std::string& label, std::size_t elements)
      : memory_(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), elements + room(elements)) {
    find_first(elements);
  }
  /// Allocates in the order of a unit's queue, where its backend does.
  template <class Execution>
  UntouchedArray(const Execution& space, const std::string& label, std::size_t elements)
      : memory_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), elements + room(elements)) {
    find_first(elements);
  }

  Element* data() const { return first_; }

 private:
  static constexpr bool in_huge_pages(std::size_t elements) {
    return std::is_same_v<MemorySpace, Kokkos::HostSpace> && worth_huge_pages(elements * sizeof(Element));
  }
  /// More elements: less than a page before the first, less than a page behind the last.
  static constexpr std::size_t room(std::size_t elements) {
    return in_huge_pages(elements) ? 2 * huge_page_bytes / sizeof(Element) : 0;
  }

  void find_first(std::size_t elements) {
    first_ = memory_.data();
    if (!in_huge_pages(elements)) return;
    first_ = static_cast<Element*>(begin_of_huge_page(first_));
    advise_huge_pages(first_, elements * sizeof(Element));
  }

  Kokkos::View<Element*, MemorySpace> memory_;
  Element* first_ = nullptr;
};

}  // namespace steelyard
