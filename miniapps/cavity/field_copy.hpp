#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/host_copy.hpp"
#include "core/untouched_array.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {

namespace detail {

template <class Execution, int Components>
std::size_t slice_elements(const RowField<Execution, Components>& field) {
  return static_cast<std::size_t>(field.rows().count() * field.row_elements());
}

using StagedRows = UntouchedArray<double, PinnedMemory>;

}  // namespace detail

/// Copies a unit's own rows of a field to host memory, where each component's rows lie without gaps. Fences.
/// @param first_rows of each component: where the unit's first row goes
template <class Execution, int Components>
void copy_rows_out(const Execution& space, const RowField<Execution, Components>& field,
                   const std::array<double*, static_cast<std::size_t>(Components)>& first_rows) {
  if (field.rows().empty()) return;
  const std::size_t elements = detail::slice_elements(field);
  const detail::StagedRows staged("steelyard::cavity::staged_rows", elements);
  copy_to_host(space, staged.data(), field.slice(), elements);
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
  const std::size_t elements = detail::slice_elements(field);
  const detail::StagedRows staged("steelyard::cavity::staged_rows", elements);
  std::fill_n(staged.data(), elements, 0.0);
  const std::int64_t columns = field.columns();
  for (std::int64_t j = 0; j < field.rows().count(); ++j) {
    for (int c = 0; c < Components; ++c) {
      const double* const row = first_rows[static_cast<std::size_t>(c)] + j * columns;
      std::copy(row, row + columns,
                staged.data() + j * field.row_elements() + c * field.pitch() + field.left_ghost_columns());
    }
  }
  copy_from_host(space, field.slice(), staged.data(), elements);
  space.fence();
}

}  // namespace steelyard::cavity
