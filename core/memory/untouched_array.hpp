#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace steelyard {

/// Bytes of a huge page on most systems.
inline constexpr std::size_t huge_page_bytes = std::size_t{1} << 21;

/// Whether an array is large enough for huge pages to be worth asking for.
constexpr bool worth_huge_pages(std::size_t bytes) { return bytes >= huge_page_bytes / 2; }

/// Asks the system for huge pages in host memory that has not been written to yet, up to the end of the last one that
/// it reaches into: large arrays then need fewer entries of the TLB. Nothing for arrays that are not
/// worth_huge_pages().
/// @param data where a huge page may begin; up to huge_page_bytes behind the end must be the caller's
inline void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const std::size_t pages = (bytes + huge_page_bytes - 1) / huge_page_bytes;
  if (worth_huge_pages(bytes)) madvise(data, pages * huge_page_bytes, MADV_HUGEPAGE);
#endif
}

/// Elements in a memory space, not initialised: they end up near the threads that write them first. Large arrays on a
/// host begin with a huge page. Copies share the elements.
template <class Element, class MemorySpace>
class UntouchedArray {
 public:
  UntouchedArray() = default;
  /// @param label what Kokkos' tools call the memory
  UntouchedArray(const std::string& label, std::size_t elements) {
    allocate(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), elements);
  }
  /// Allocates in the order of a unit's queue, where its backend does.
  template <class Execution>
  UntouchedArray(const Execution& space, const std::string& label, std::size_t elements) {
    allocate(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, label), elements);
  }

  Element* data() const { return first_; }

 private:
  using Memory = Kokkos::View<Element*, MemorySpace>;

  /// In huge pages less than a page stays free before the first element, and less than a page behind the last.
  template <class Properties>
  void allocate(const Properties& properties, std::size_t elements) {
    const std::size_t bytes = elements * sizeof(Element);
    const bool in_huge_pages = std::is_same_v<MemorySpace, Kokkos::HostSpace> && worth_huge_pages(bytes);
    memory_ = Memory(properties, elements + (in_huge_pages ? 2 * huge_page_bytes / sizeof(Element) : 0));
    first_ = memory_.data();
    if (!in_huge_pages) return;
    void* first = first_;
    std::size_t room = bytes + huge_page_bytes;
    first_ = static_cast<Element*>(std::align(huge_page_bytes, bytes, first, room));
    advise_huge_pages(first, bytes);
  }

  Memory memory_;
  Element* first_ = nullptr;
};

}  // namespace steelyard
