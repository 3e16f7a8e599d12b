#pragma once

#include "core/compatibility.hpp"

namespace steelyard::cavity {

/// Calls `body(c)` for every component of a field, one or two, in a kernel. Not a loop: compilers leave loops with
/// large bodies as they are, and do not vectorise the one over cells around them.
template <int Components, class Body>
KOKKOS_FORCEINLINE_FUNCTION void each_component(const Body& body) {
  static_assert(Components == 1 || Components == 2);
  body(0);
  if constexpr (Components == 2) body(1);
}

}  // namespace steelyard::cavity
