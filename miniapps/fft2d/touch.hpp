#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/spaces.hpp"

namespace steelyard::fft2d {

/// Sets elements in host memory with the unit's own threads, so that their pages are near these; fences.
template <class Execution, class Element>
void touch(const Execution& space, std::span<Element> elements, Element value) {
  if constexpr (runs_on_host<Execution>) {
    using Policy = Kokkos::RangePolicy<Execution, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;
    Element* const data = elements.data();
    Kokkos::parallel_for("steelyard::fft2d::touch", Policy(space, 0, static_cast<std::int64_t>(elements.size())),
                         [=](const std::int64_t i) { data[i] = value; });
    space.fence();
  } else {
    std::fill(elements.begin(), elements.end(), value);
  }
}

}  // namespace steelyard::fft2d
