#pragma once

#include <cstdint>

#include "core/compatibility.hpp"
#include "core/streamed_store.hpp"
#include "miniapps/cavity/column.hpp"
#include "miniapps/cavity/each_component.hpp"
#include "miniapps/cavity/row_field.hpp"
#include "miniapps/cavity/terms.hpp"

namespace steelyard::cavity {

/// A value that a cell gets, and what it adds to sums.
template <int N>
struct ValueAndTerms {
  double value = 0.0;
  Terms<N> terms;
};

/// A sweep's body that returns the values of a field, ValueAndTerms, which nobody reads before the sweep has ended. On
/// hosts they go past the caches where the field is too large for them: memory is then not read before it is written.
template <int Components, class Body>
struct Storing {
  RowAccess<Components> field;
  bool past_caches = false;
  Body body;

  KOKKOS_FORCEINLINE_FUNCTION auto operator()(const int c, const std::int64_t j, const Column i) const {
    const auto result = body(c, j, i);
    field(c, j, i) = result.value;
    return result.terms;
  }
};
template <class Execution, int Components, class Body>
Storing<Components, Body> storing(const RowField<Execution, Components>& field, const Body& body) {
  return {field.access(), field.exceeds_caches(), body};
}

namespace detail {

template <class Body>
inline constexpr bool is_storing = false;
template <int Component, int Components, class Body>
inline constexpr bool is_storing<OneComponent<Component, Storing<Components, Body>>> = true;

template <int N, int Component, int Components, class Body>
KOKKOS_FORCEINLINE_FUNCTION ValueAndTerms<N> value_and_terms(
    const OneComponent<Component, Storing<Components, Body>>& part, const std::int64_t j, const Column i) {
  return part.body.body(Component, j, i);
}

/// Stores a block's values from `begin` on. Other threads see them after finish_values().
template <int Component, int Components, class Body>
void store_values(const OneComponent<Component, Storing<Components, Body>>& part, const std::int64_t j,
                  const std::int64_t begin, const int count, const double* values) {
  constexpr int line = cache_line_bytes / sizeof(double);
  double* const to = &part.body.field(Component, j, begin);
  int i = 0;
  if (part.body.past_caches && begins_cache_line(to)) {
    for (; i + line <= count; i += line) store_streamed(to + i, values + i);
  }
  for (; i < count; ++i) to[i] = values[i];
}

/// To be called by the thread that has stored them.
template <class Body>
void finish_values(const Body&) {}
template <int Component, int Components, class Body>
void finish_values(const OneComponent<Component, Storing<Components, Body>>& part) {
  if (part.body.past_caches) finish_streamed_stores();
}

}  // namespace detail
}  // namespace steelyard::cavity
