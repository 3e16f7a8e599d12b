#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "core/sweep/field_operations.hpp"
#include "core/sweep/row_sweep.hpp"
#include "tests/core/sweep/unit_values.hpp"

namespace steelyard::test_field_operations {
namespace {

constexpr RowRange rows{2, 5};
constexpr std::int64_t columns = 37;

/// a^T b of fields x + x and x in two components, then their sum over one component after they have been set to 0.
template <class Execution>
void check(const Execution& space) {
  const RowField<Execution, 2> a(space, rows, columns), b(space, rows, columns);
  const auto x = a.access(), y = b.access();
  for_cells(
      space, "fill", rows, columns, KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
        for (int c = 0; c < 2; ++c) x(c, j, i) = y(c, j, i) = static_cast<double>(j + i + c);
      });
  for_cells(space, "add", rows, columns, each_component<2>(AddMultiple<2>{x, y, 1.0}));
  const CellSums<Execution> sums(space, rows);
  sums.template sweep<1>(space, "product", {rows, {}}, columns, each_component<2>(InnerProduct<2>{x, y}));
  double expected = 0.0;
  for (std::int64_t j = rows.begin; j < rows.end; ++j) {
    for (std::int64_t i = 0; i < columns; ++i) {
      for (int c = 0; c < 2; ++c) expected += 2.0 * static_cast<double>((j + i + c) * (j + i + c));
    }
  }
  CHECK(sums.template total<1>(space, columns)[0].value() == expected);
  for_cells(space, "zero", rows, columns, each_component<2>(SetToZero<2>{x}));
  for (const double value : tests::memory_of(space, a)) CHECK(value == 0.0);

  const RowField<Execution> field(space, rows, columns);
  const auto p = field.access();
  for_cells(
      space, "ones", rows, columns, KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) { p(j, i) = 1.0; });
  sums.template sweep<1>(space, "sum", {rows, {}}, columns, SumOfCells{p});
  CHECK(sums.template total<1>(space, columns)[0].value() == static_cast<double>(rows.count() * columns));
}

}  // namespace

TEST_CASE("operations on fields are those of all cells, on both units") {
  tests::on_both_units([](const auto& space) { check(space); });
}

TEST_CASE("a factor of 0 leaves nothing of any number") {
  for (const double x : {3.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(scaled_or_zero(0.0, x) == 0.0);
  }
  CHECK(scaled_or_zero(-2.0, 3.0) == -6.0);
}

}  // namespace steelyard::test_field_operations
