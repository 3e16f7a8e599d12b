#pragma once

#include <cstdint>
#include <tuple>

#include "core/compatibility.hpp"
#include "core/streamed_store.hpp"
#include "miniapps/cavity/column.hpp"
#include "miniapps/cavity/each_component.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {

/// A field that a body reads in the cell's own component, there and in the cells around it.
template <int Components>
struct AroundCells {
  RowAccess<Components> field;
};
template <int Components>
AroundCells<Components> around_cells(const RowAccess<Components>& field) {
  return {field};
}

/// A sweep's body with the fields that it is the first to read, or to write, for hosts to ask memory for their values
/// early: of as many rows at once as products with matrices read, processors by themselves ask for too few. Most passes
/// over fields alone are faster without. What sweeps compute does not depend on it.
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

namespace detail {

/// A body without what it says of its fields.
template <class Body>
const Body& bare(const Body& body) {
  return body;
}
template <class Body, class... Fields>
const Body& bare(const Reading<Body, Fields...>& whole) {
  return whole.body;
}

/// Calls `ask` with the beginnings of the rows of which a body is the first to read values in row j; that of a field
/// which has fewer components in the first component.
template <int Component, int Components, class Ask>
void each_row_read(const RowAccess<Components>& field, const std::int64_t j, const Ask& ask) {
  if constexpr (Component < Components) ask(&field(Component, j, 0));
}
template <int Component, int Components, class Ask>
void each_row_read(const AroundCells<Components>& around, const std::int64_t j, const Ask& ask) {
  if constexpr (Component < Components) ask(&around.field(Component, j + 1, 0));
}
template <int Component, class Operator, class Ask>
requires requires(const Operator& matrix) { matrix.fields(); }
void each_row_read(const Operator& matrix, const std::int64_t j, const Ask& ask) {
  // Those of all components in the first one, for they are in the cache in the second one.
  if constexpr (Component == 0) {
    const auto all_of = [&]<int Components>(const RowAccess<Components>& field) {
      for (int c = 0; c < Components; ++c) ask(&field(c, j + 1, 0));
    };
    std::apply([&](const auto&... field) { (all_of(field), ...); }, matrix.fields());
  }
}

/// Asks for what a body will read of its fields a page's length behind some columns of row j; what is behind the last
/// column are the next values that sweeps come to. No memory needs to be there.
template <class Body>
void ask_ahead(const Body&, std::int64_t, std::int64_t, std::int64_t) {}
template <class Body, class... Fields>
void ask_ahead(const Reading<Body, Fields...>& whole, const std::int64_t j, const std::int64_t begin,
               const std::int64_t end) {
  constexpr std::int64_t page = 4096 / sizeof(double), line = cache_line_bytes / sizeof(double);
  const auto ask = [=](const double* row) {
    for (std::int64_t i = begin; i < end; i += line) prefetch_line(row + i + page);
  };
  std::apply([&](const auto&... field) { (each_row_read<component_of<Body>>(field, j, ask), ...); }, whole.fields);
}

}  // namespace detail
}  // namespace steelyard::cavity
