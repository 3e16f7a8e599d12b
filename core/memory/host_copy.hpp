#pragma once

#include <cstddef>
#include <cstring>

#include "core/spaces.hpp"

namespace steelyard {
namespace detail {

template <class Execution, class ToMemory, class FromMemory, class Element>
void copy(const Execution& space, Element* to, const Element* from, std::size_t count) {
  using Trait = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  if constexpr (runs_on_host<Execution>) {
    // Not deep_copy: between host memories it may run on the default host space, which is the other unit's.
    std::memcpy(to, from, count * sizeof(Element));
  } else {
    Kokkos::deep_copy(space, Kokkos::View<Element*, ToMemory, Trait>(to, count),
                      Kokkos::View<const Element*, FromMemory, Trait>(from, count));
  }
}

}  // namespace detail

/// Copies contiguous elements from a unit's own memory to pinned host memory, on the unit's queue; the caller fences.
template <class Execution, class Element>
void copy_to_host(const Execution& space, Element* host, const Element* own, std::size_t count) {
  detail::copy<Execution, PinnedMemory, typename Execution::memory_space>(space, host, own, count);
}

/// The other way.
template <class Execution, class Element>
void copy_from_host(const Execution& space, Element* own, const Element* host, std::size_t count) {
  detail::copy<Execution, typename Execution::memory_space, PinnedMemory>(space, own, host, count);
}

}  // namespace steelyard
