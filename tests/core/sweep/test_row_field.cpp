#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "core/sweep/row_field.hpp"
#include "core/sweep/row_sweep.hpp"
#include "tests/core/sweep/unit_values.hpp"

namespace steelyard::test_row_field {

using namespace steelyard::tests;

namespace {

/// Writes all cells of some rows on a unit. @return its memory
template <int Components, class Execution>
std::vector<double> written(const Execution& space, RowRange rows, std::int64_t columns) {
  RowField<Execution, Components> field(space, rows, columns);
  const auto access = field.access();
  for_cells(
      space, "write", rows, columns, KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
        for (int c = 0; c < Components; ++c) access(c, j, i) = 1.0 + cell_value(c, j, i) * cell_value(c, j, i);
      });
  space.fence();
  return memory_of(space, field);
}

template <int Components>
int wrong_elements(const std::vector<double>& memory, RowRange rows, std::int64_t columns) {
  using Field = RowField<HostExecution, Components>;
  const std::int64_t pitch = Field::pitch_of(columns);
  int wrong = 0;
  std::size_t at = 0;
  for (std::int64_t j = rows.begin - Field::ghost_rows; j < rows.end + Field::ghost_rows; ++j) {
    for (int c = 0; c < Components; ++c) {
      for (std::int64_t k = 0; k < pitch; ++k, ++at) {
        const std::int64_t i = k - 8;
        const bool cell = j >= rows.begin && j < rows.end && i >= 0 && i < columns;
        const double expected = cell ? 1.0 + cell_value(c, j, i) * cell_value(c, j, i) : 0.0;
        if (memory[at] != expected) ++wrong;
      }
    }
  }
  return at == memory.size() ? wrong : -1;
}

}  // namespace

TEST_CASE("rows of a field begin on a cache line, hold a ghost column on both sides and are not a page apart") {
  for (std::int64_t columns = 1; columns < 3000; ++columns) {
    const std::int64_t pitch = RowField<HostExecution>::pitch_of(columns);
    CHECK((pitch % 8 == 0 && pitch % 512 != 0 && pitch >= columns + 9));
  }
}

TEST_CASE("a field exceeds its unit's caches from two MiB a thread on") {
  const HostExecution space;
  constexpr std::int64_t columns = 500, ghosts = 2 * RowField<HostExecution>::ghost_rows;
  const std::int64_t row_bytes = RowField<HostExecution>::pitch_of(columns) * static_cast<std::int64_t>(sizeof(double));
  const std::int64_t most_rows = (std::int64_t{2} << 20) * space.concurrency() / row_bytes - ghosts;
  CHECK_FALSE(RowField<HostExecution>(space, {10, 10 + most_rows}, columns).exceeds_caches());
  CHECK(RowField<HostExecution>(space, {10, 10 + most_rows + 1}, columns).exceeds_caches());
}

TEST_CASE("a field is zero but where its cells have been written") {
  for (const RowRange rows : {RowRange{0, 0}, RowRange{5, 5}, RowRange{0, 1}, RowRange{1000, 1007}}) {
    for (const std::int64_t columns : {1, 2, 7, 8, 9, 31, 503, 504}) {
      CAPTURE(rows.begin, rows.end, columns);
      on_both_units([&, columns = columns](const auto& space) {
        CHECK(wrong_elements<1>(written<1>(space, rows, columns), rows, columns) == 0);
        CHECK(wrong_elements<2>(written<2>(space, rows, columns), rows, columns) == 0);
      });
    }
  }
}

}  // namespace steelyard::test_row_field
