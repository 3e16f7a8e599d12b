#pragma once

#include <cstdint>
#include <type_traits>

#include "core/compatibility.hpp"

namespace steelyard::cavity {

/// A sweep's body that is called for each component of a field in every cell, one or two: `body(c, j, i)`. Terms of
/// sums that it returns are added up. The calls are written out, for compilers do not vectorise cells around a loop
/// with a large body; with a sweep for each component, there would be less at a time to ask memory for.
template <int Components, class Body>
struct EachComponent {
  static_assert(Components == 1 || Components == 2);

  Body body;

  KOKKOS_FORCEINLINE_FUNCTION auto operator()(const std::int64_t j, const std::int64_t i) const {
    if constexpr (Components == 1) {
      return body(0, j, i);
    } else if constexpr (std::is_void_v<decltype(body(0, j, i))>) {
      body(0, j, i);
      body(1, j, i);
    } else {
      auto terms = body(0, j, i);
      terms += body(1, j, i);
      return terms;
    }
  }
};
template <int Components, class Body>
EachComponent<Components, Body> each_component(const Body& body) {
  return {body};
}

}  // namespace steelyard::cavity
