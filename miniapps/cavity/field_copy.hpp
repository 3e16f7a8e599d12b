#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/host_copy.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {

namespace detail {

template <class Execution, int Components>
Kokkos::View<double*, PinnedMemory> staged_rows(const RowField<Execution, Components>& field) {
  return Kokkos::View<double*, PinnedMemory>(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "steelyard::cavity::staged_rows"),
      static_cast<std::size_t>(field.rows().count() * field.row_elements()));
}

}  // namespace detail

/// Copies a unit's own rows of a field to host memory, where each component's rows lie without gaps. Fences.
/// @param first_rows of each component: where the unit's first row goes
template <class Execution, int Components>
void copy_rows_out(const Execution& space, const RowField<Execution, Components>& field,
                   const std::array<double*, static_cast<std::size_t>(Components)>& first_rows) {
  if (field.rows().empty()) return;
  const auto staged = detail::staged_rows(field);
  copy_to_host(space, staged.data(), field.slice(), staged.size());
  space.fence();
  const std::int64_t columns = field.columns();
  for (std::int64_t j = 0; j < field.rows().count(); ++j) {
    for (int c = 0; c < Components; ++c) {
      const double* const row =
          staged.data() + j * field.row_elements() + c * field.pitch() + field.left_ghost_columns();
      std::copy(row, row + columns, first_rows[static_cast<std::size_t>(c)] + j * columns);
    }
  }
}

/// The other way; ghost columns become 0, ghost rows stay as they are.
template <class Execution, int Components>
void copy_rows_in(const Execution& space, const RowField<Execution, Components>& field,
                  const std::array<const double*, static_cast<std::size_t>(Components)>& first_rows) {
  if (field.rows().empty()) return;
  const auto staged = detail::staged_rows(field);
  std::fill(staged.data(), staged.data() + staged.size(), 0.0);
  const std::int64_t columns = field.columns();
  for (std::int64_t j = 0; j < field.rows().count(); ++j) {
    for (int c = 0; c < Components; ++c) {
      const double* const row = first_rows[static_cast<std::size_t>(c)] + j * columns;
      std::copy(row, row + columns,
                staged.data() + j * field.row_elements() + c * field.pitch() + field.left_ghost_columns());
    }
  }
  copy_from_host(space, field.slice(), staged.data(), staged.size());
  space.fence();
}

}  // namespace steelyard::cavity
