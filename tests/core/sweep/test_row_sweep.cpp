#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/sweep/row_sweep.hpp"
#include "tests/core/sweep/unit_values.hpp"

namespace steelyard::test_row_sweep {

using Catch::Matchers::WithinRel;
using namespace steelyard::tests;

namespace {

/// What a unit makes of some rows: sums of three terms, in one sweep and row by row from the last to the first, and
/// what the sweep's body has written.
struct Swept {
  std::array<double, 3> at_once = {};
  std::array<double, 3> by_rows = {};
  std::vector<double> memory;
};

template <class Execution>
Swept sweep(const Execution& space, RowRange rows, std::int64_t columns) {
  Swept swept;
  const CellSums<Execution> cell_sums(space, rows);
  RowField<Execution> field(space, rows, columns);
  const auto access = field.access();
  const auto body = KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
    const double value = cell_value(0, j, i);
    access(j, i) += value;
    Terms<3> terms;
    terms.of[0] = value;
    terms.of[1] = value * value;
    terms.of[2] = 1.0;
    return terms;
  };
  cell_sums.template sweep<3>(space, "at once", {rows, {}}, columns, body);
  const Sums<3> at_once = cell_sums.template total<3>(space, columns);
  for (std::int64_t j = rows.end; j-- > rows.begin;) {
    cell_sums.template sweep<3>(space, "by rows", {{j, j + 1}, {}}, columns, body);
  }
  const Sums<3> by_rows = cell_sums.template total<3>(space, columns);
  for (std::size_t k = 0; k < 3; ++k) {
    swept.at_once[k] = at_once[k].value();
    swept.by_rows[k] = by_rows[k].value();
  }
  swept.memory = memory_of(space, field);
  return swept;
}

}  // namespace

TEST_CASE("sums over cells are the same bits at once and row by row, on hosts and devices, for all widths") {
  for (std::int64_t columns = 1; columns <= 40; ++columns) {
    const RowRange rows{3, 3 + columns % 5 + 1};
    const std::array<Swept, 2> swept{sweep(HostExecution(), rows, columns), sweep(CompanionExecution(), rows, columns)};
    double sum = 0.0, squares = 0.0;
    std::vector<double> expected(swept[0].memory.size(), 0.0);
    const std::int64_t pitch = RowField<HostExecution>::pitch_of(columns);
    for (std::int64_t j = rows.begin; j < rows.end; ++j) {
      for (std::int64_t i = 0; i < columns; ++i) {
        const double value = cell_value(0, j, i);
        sum += value;
        squares += value * value;
        expected[static_cast<std::size_t>((j - rows.begin + RowField<HostExecution>::ghost_rows) * pitch + 8 + i)] =
            value + value;
      }
    }
    for (const Swept& own : swept) {
      CAPTURE(columns);
      CHECK(own.at_once == own.by_rows);
      CHECK(std::abs(own.at_once[0] - sum) <= 1e-12 * std::sqrt(squares));
      CHECK_THAT(own.at_once[1], WithinRel(squares, 1e-13));
      CHECK(own.at_once[2] == static_cast<double>(rows.count() * columns));
      CHECK(own.memory == expected);
      CHECK(own.at_once == swept[0].at_once);
    }
  }
}

TEST_CASE("chunks of rows follow one another, of two rows at least where there is more than one") {
  for (std::int64_t count = 0; count <= 20; ++count) {
    for (int threads = 1; threads <= 8; ++threads) {
      const detail::RowChunks chunks({5, 5 + count}, threads);
      CAPTURE(count, threads);
      REQUIRE(chunks.count >= 1);
      CHECK(chunks.count <= threads);
      CHECK(chunks[0].begin == 5);
      CHECK(chunks[chunks.count - 1].end == 5 + count);
      for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
        if (chunk > 0) CHECK(chunks[chunk].begin == chunks[chunk - 1].end);
        if (chunks.count > 1) CHECK(chunks[chunk].count() >= 2);
      }
    }
  }
}

TEST_CASE("sweeps over no rows or no columns do nothing") {
  for (const auto& [rows, columns] : {std::pair{RowRange{4, 4}, std::int64_t{5}}, {RowRange{4, 6}, std::int64_t{0}}}) {
    on_both_units([rows = rows, columns = columns](const auto& space) {
      CHECK(sweep(space, rows, columns).at_once == std::array<double, 3>{});
    });
  }
}

namespace {

/// The largest magnitude of a value and of its double, in all cells but one, where it is `odd`.
template <class Execution>
std::array<double, 2> maxima_with(const Execution& space, RowRange rows, std::int64_t columns, std::int64_t odd_j,
                                  std::int64_t odd_i, double odd) {
  return CellSums<Execution>(space, rows)
      .template maxima<2>(
          space, "maxima", columns, KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            const double value = j == odd_j && i == odd_i ? odd : std::fabs(cell_value(0, j, i));
            return Terms<2>{{value, 2.0 * cell_value(0, j, i) * cell_value(0, j, i)}};
          });
}

}  // namespace

TEST_CASE("the largest terms are found in whatever cell they are, and what is not a number counts as infinite") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (std::int64_t columns : {1, 7, 8, 9, 16, 21}) {
    const RowRange rows{2, 4};
    double largest = 0.0, largest_square = 0.0;
    for (std::int64_t j = rows.begin; j < rows.end; ++j) {
      for (std::int64_t i = 0; i < columns; ++i) {
        largest = std::max(largest, std::fabs(cell_value(0, j, i)));
        largest_square = std::max(largest_square, 2.0 * cell_value(0, j, i) * cell_value(0, j, i));
      }
    }
    const double larger = 2.0 * largest + 1.0;
    int wrong = 0;
    on_both_units([&](const auto& space) {
      const auto expect = [&](std::int64_t odd_j, std::int64_t odd_i, double odd, double expected) {
        wrong += maxima_with(space, rows, columns, odd_j, odd_i, odd) == std::array{expected, largest_square} ? 0 : 1;
      };
      expect(-1, -1, 0.0, largest);
      for (std::int64_t j = rows.begin; j < rows.end; ++j) {
        for (std::int64_t i = 0; i < columns; ++i) {
          expect(j, i, larger, larger);
          expect(j, i, std::nan(""), infinity);
        }
      }
      wrong += maxima_with(space, RowRange{2, 2}, columns, -1, -1, 0.0) == std::array{0.0, 0.0} ? 0 : 1;
      wrong += maxima_with(space, rows, 0, -1, -1, 0.0) == std::array{0.0, 0.0} ? 0 : 1;
    });
    CAPTURE(columns);
    CHECK(wrong == 0);
  }
}

}  // namespace steelyard::test_row_sweep
