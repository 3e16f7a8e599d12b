#pragma once

#include <cstdint>
#include <vector>

#include "core/memory/host_copy.hpp"
#include "core/spaces.hpp"
#include "core/sweep/row_field.hpp"

namespace steelyard::tests {

/// Calls `test` with the execution space of either unit; twice with the same where a build has no companion.
template <class Test>
void on_both_units(const Test& test) {
  test(HostExecution());
  test(CompanionExecution());
}

/// A unit's memory of a field as the host sees it, from its first ghost row on.
template <class Execution, int Components>
std::vector<double> memory_of(const Execution& space, const RowField<Execution, Components>& field) {
  constexpr std::int64_t ghosts = RowField<Execution, Components>::ghost_rows;
  const std::int64_t rows = field.rows().count() + 2 * ghosts;
  std::vector<double> values(static_cast<std::size_t>(rows * field.row_elements()));
  copy_to_host(space, values.data(), field.slice() - ghosts * field.row_elements(), values.size());
  space.fence();
  return values;
}

/// A number for every cell, of either sign and of sizes apart, the same on all backends.
KOKKOS_INLINE_FUNCTION double cell_value(const int c, const std::int64_t j, const std::int64_t i) {
  const std::int64_t mixed = (j * 7919 + i * 104729 + std::int64_t{31} * c) % 2003 - 1001;
  return static_cast<double>(mixed) / static_cast<double>(1 + (3 * i + 5 * j) % 17);
}

}  // namespace steelyard::tests
