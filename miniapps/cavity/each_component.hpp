#pragma once

#include <cstdint>
#include <type_traits>

#include "core/compatibility.hpp"
#include "miniapps/cavity/column.hpp"

namespace steelyard::cavity {

/// A sweep's body that is called for each component of a field in every cell, one or two: `body(c, j, i)`. Terms of
/// sums that it returns are added up. Components have nothing to do with each other: what sweeps write for one, no
/// body that is called behind them reads for the other. The calls are written out, for compilers do not vectorise cells
/// around a loop with a large body.
template <int Components, class Body>
struct EachComponent {
  static_assert(Components == 1 || Components == 2);

  Body body;

  KOKKOS_FORCEINLINE_FUNCTION auto operator()(const std::int64_t j, const Column i) const {
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

/// The body of one component.
template <int Component, class Body>
struct OneComponent {
  Body body;

  KOKKOS_FORCEINLINE_FUNCTION auto operator()(const std::int64_t j, const Column i) const {
    return body(Component, j, i);
  }
};

/// How many components a body can be called for one by one; 1 where it knows of none.
template <class Body>
inline constexpr int components_of = 1;
template <int Components, class Body>
inline constexpr int components_of<EachComponent<Components, Body>> = Components;

/// Which component a body is called for; 0 where it knows of none.
template <class Body>
inline constexpr int component_of = 0;
template <int Component, class Body>
inline constexpr int component_of<OneComponent<Component, Body>> = Component;

template <int Component, class Body>
KOKKOS_INLINE_FUNCTION Body one_component(const Body& body) {
  return body;
}
template <int Component, int Components, class Body>
KOKKOS_INLINE_FUNCTION OneComponent<Component, Body> one_component(const EachComponent<Components, Body>& all) {
  return {all.body};
}

/// Calls `sweep` with one component's bodies after the other's, for which memory is asked for half as many rows at a
/// time.
template <class Sweep, class... Bodies>
void by_component(const Sweep& sweep, const Bodies&... bodies) {
  constexpr bool has_two = ((components_of<Bodies> == 2) || ...);
  static_assert(((components_of<Bodies> == (has_two ? 2 : 1)) && ...), "all of as many components");
  sweep(one_component<0>(bodies)...);
  if constexpr (has_two) sweep(one_component<1>(bodies)...);
}

}  // namespace steelyard::cavity
