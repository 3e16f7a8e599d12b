#pragma once

#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "core/memory/streamed_store.hpp"
#include "core/spaces.hpp"
#include "core/sweep/compensated_sum.hpp"
#include "core/sweep/row_field.hpp"

namespace steelyard {

/// A column of the grid in a sweep's body. A uniform grid's coefficients are the same in all columns but the first and
/// the last one; in sweeps on the host, `is_inner` is a constant of whole loops, which do not read them each time.
class Column {
 public:
  KOKKOS_FORCEINLINE_FUNCTION Column(const std::int64_t index, const bool is_inner = false)
      : index_(index), is_inner_(is_inner) {}

  KOKKOS_FORCEINLINE_FUNCTION operator std::int64_t() const { return index_; }
  /// Neither the first nor the last column; false as well where the caller has not checked.
  KOKKOS_FORCEINLINE_FUNCTION bool is_inner() const { return is_inner_; }

 private:
  std::int64_t index_;
  bool is_inner_;
};

/// Terms of a cell in N sums.
template <int N>
struct Terms {
  double of[N] = {};

  KOKKOS_INLINE_FUNCTION void operator+=(const Terms& other) {
    for (int k = 0; k < N; ++k) of[k] += other.of[k];
  }
};

/// A sweep's body that is called for each component of a field in every cell, one or two: `body(c, j, i)`. Terms of
/// sums that it returns are added up. What sweeps write for one component, no body that is called behind them reads for
/// the other. The calls are written out: compilers do not vectorise cells around a loop with a large body.
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

/// How many components a body can be called for one by one; 1 for a body without components.
template <class Body>
inline constexpr int components_of = 1;
template <int Components, class Body>
inline constexpr int components_of<EachComponent<Components, Body>> = Components;

/// Which component a body is called for; 0 for a body without components.
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

/// Calls `sweep` for one component after the other, which halves the number of rows that are prefetched at a time.
template <class Sweep, class... Bodies>
void by_component(const Sweep& sweep, const Bodies&... bodies) {
  constexpr bool has_two = ((components_of<Bodies> == 2) || ...);
  static_assert(((components_of<Bodies> == (has_two ? 2 : 1)) && ...), "all of as many components");
  sweep(one_component<0>(bodies)...);
  if constexpr (has_two) sweep(one_component<1>(bodies)...);
}

/// A field that a body reads in the cell's own component, there and in the cells around it.
template <int Components>
struct AroundCells {
  RowAccess<Components> field;
};
template <int Components>
AroundCells<Components> around_cells(const RowAccess<Components>& field) {
  return {field};
}

/// A sweep's body with the fields that it is the first to read, or to write, whose values hosts prefetch: processors by
/// themselves prefetch too few rows for products with matrices. Most passes over fields alone are faster without.
template <class Body, class... Fields>
struct Reading {
  Body body;
  std::tuple<Fields...> fields;
};

/// @param fields RowAccess, AroundCells, or operators, which have `std::tuple<RowAccess…> fields() const`: what they
/// read of their own, all components, around cells
template <class... Fields>
std::tuple<Fields...> fields(const Fields&... fields) {
  return {fields...};
}
template <class Body, class... Fields>
Reading<Body, Fields...> reading(const std::tuple<Fields...>& fields, const Body& body) {
  return {body, fields};
}

template <class Body, class... Fields>
inline constexpr int components_of<Reading<Body, Fields...>> = components_of<Body>;

template <int Component, class Body, class... Fields>
auto one_component(const Reading<Body, Fields...>& whole) {
  return reading(whole.fields, one_component<Component>(whole.body));
}

/// factor x, and 0 for a factor of 0 whatever x is. Reads x in any case, for compilers to vectorise what is around it.
KOKKOS_FORCEINLINE_FUNCTION double scaled_or_zero(const double factor, const double x) {
  const double product = factor * x;
  return factor == 0.0 ? 0.0 : product;
}

namespace detail {

/// A body without its list of fields.
template <class Body>
const Body& bare(const Body& body) {
  return body;
}
template <class Body, class... Fields>
const Body& bare(const Reading<Body, Fields...>& whole) {
  return whole.body;
}

/// Calls `visit` with the beginnings of the rows of which a body is the first to read values in row j.
template <int Component, int Components, class Visit>
void each_row_read(const RowAccess<Components>& field, const std::int64_t j, const Visit& visit) {
  if constexpr (Component < Components) visit(field.place(Component, j, 0));
}
template <int Component, int Components, class Visit>
void each_row_read(const AroundCells<Components>& around, const std::int64_t j, const Visit& visit) {
  if constexpr (Component < Components) visit(around.field.place(Component, j + 1, 0));
}
template <int Component, class Operator, class Visit>
requires requires(const Operator& matrix) { matrix.fields(); }
void each_row_read(const Operator& matrix, const std::int64_t j, const Visit& visit) {
  // Those of all components in the first one, for they are in the cache in the second one.
  if constexpr (Component == 0) {
    const auto all_of = [&]<int Components>(const RowAccess<Components>& field) {
      for (int c = 0; c < Components; ++c) visit(field.place(c, j + 1, 0));
    };
    std::apply([&](const auto&... field) { (all_of(field), ...); }, matrix.fields());
  }
}

/// Prefetches what a body will read of its fields a page's length behind some columns of row j, be it there or not.
template <class Body>
void prefetch_ahead(const Body&, std::int64_t, std::int64_t, std::int64_t) {}
template <class Body, class... Fields>
void prefetch_ahead(const Reading<Body, Fields...>& whole, const std::int64_t j, const std::int64_t begin,
                    const std::int64_t end) {
  constexpr std::int64_t page = 4096 / sizeof(double), line = cache_line_bytes / sizeof(double);
  const auto prefetch = [=](const double* row) {
    for (std::int64_t i = begin; i < end; i += line) prefetch_line(row + i + page);
  };
  std::apply([&](const auto&... field) { (each_row_read<component_of<Body>>(field, j, prefetch), ...); }, whole.fields);
}

}  // namespace detail

/// A value that a cell gets, and what it adds to sums.
template <int N>
struct ValueAndTerms {
  double value = 0.0;
  Terms<N> terms;
};

/// A sweep's body that returns the values of a field, ValueAndTerms, which are not read before the sweep has ended. On
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

  /// Stores a block's values from column `begin` on, by a host thread. Others see them after its finish().
  void store(const int c, const std::int64_t j, const std::int64_t begin, const int count, const double* values) const {
    constexpr int line = cache_line_bytes / sizeof(double);
    double* const to = &field(c, j, begin);
    int i = 0;
    if (past_caches && begins_cache_line(to)) {
      for (; i + line <= count; i += line) store_streamed(to + i, values + i);
    }
    for (; i < count; ++i) to[i] = values[i];
  }
  void finish() const {
    if (past_caches) finish_streamed_stores();
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

/// For sums that are the same in whatever order rows are added up.
struct AddTerms {
  using Total = CompensatedSum;
  KOKKOS_INLINE_FUNCTION static void add(double& sum, double term) { sum += term; }
  template <class Term>
  KOKKOS_INLINE_FUNCTION static void add(CompensatedSum& sum, const Term& term) {
    sum.add(term);
  }
};

/// The larger one of a term and the largest one so far; infinity for a term that is not a number.
KOKKOS_FORCEINLINE_FUNCTION double larger(const double term, const double largest) {
  const double known = term == term ? term : HUGE_VAL;
  return known > largest ? known : largest;
}

/// For the largest terms, none of which is negative.
struct KeepLarger {
  using Total = double;
  KOKKOS_INLINE_FUNCTION static void add(double& largest, double term) { largest = larger(term, largest); }
};

}  // namespace detail

}  // namespace steelyard
