#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "comm/unit_grid.hpp"
#include "tests/comm/shared_units.hpp"
#include "tests/core/sweep/unit_values.hpp"

namespace steelyard::test_unit_grid {

using namespace steelyard::tests;

namespace {

/// A sum over all neighbours, corners too, with everything beyond the grid 0.
template <class Access>
KOKKOS_FORCEINLINE_FUNCTION double around(const Access& f, const int c, const std::int64_t j, const std::int64_t i) {
  double sum = 0.0;
  for (int dj = -1; dj <= 1; ++dj) {
    for (int di = -1; di <= 1; ++di) sum += static_cast<double>(2 + dj + 3 * di) * f(c, j + dj, i + di);
  }
  return sum;
}

/// The whole grid on one thread.
struct SerialGrid {
  std::int64_t rows = 0, columns = 0;
  KOKKOS_INLINE_FUNCTION double operator()(int c, std::int64_t j, std::int64_t i) const {
    return j >= 0 && j < rows && i >= 0 && i < columns ? cell_value(c, j, i) : 0.0;
  }
};

struct Found {
  std::array<double, 2> totals = {};
  std::atomic<int> wrong_cells = 0;
  std::atomic<int> wrong_ghosts = 0;
};

/// The result's cells hold so many times the sum over neighbours, and all else is 0.
template <class Execution>
int wrong_cells(const Execution& space, const RowField<Execution, 2>& field, const SerialGrid& serial,
                const double times) {
  const std::vector<double> memory = memory_of(space, field);
  int wrong = 0;
  std::size_t at = 0;
  for (std::int64_t j = field.rows().begin - RowField<Execution>::ghost_rows;
       j < field.rows().end + RowField<Execution>::ghost_rows; ++j) {
    for (int c = 0; c < 2; ++c) {
      for (std::int64_t k = 0; k < field.pitch(); ++k, ++at) {
        const std::int64_t i = k - 8;
        const bool own = j >= field.rows().begin && j < field.rows().end && i >= 0 && i < serial.columns;
        if (memory[at] != (own ? times * around(serial, c, j, i) : 0.0)) ++wrong;
      }
    }
  }
  return wrong;
}

/// Whether a unit that owns rows holds `depth` rows of the grid on both sides, and 0 beyond the grid.
template <class Execution>
int wrong_ghosts(const Execution& space, const RowField<Execution, 2>& field, const SerialGrid& serial, int depth) {
  if (field.rows().empty()) return 0;
  const std::vector<double> memory = memory_of(space, field);
  int wrong = 0;
  std::size_t at = static_cast<std::size_t>((RowField<Execution>::ghost_rows - depth) * field.row_elements());
  for (std::int64_t j = field.rows().begin - depth; j < field.rows().end + depth; ++j) {
    for (int c = 0; c < 2; ++c) {
      for (std::int64_t k = 0; k < field.pitch(); ++k, ++at) {
        if (memory[at] != serial(c, j, k - 8)) ++wrong;
      }
    }
  }
  return wrong;
}

/// Updates followed by sums over neighbours find what the two sweeps find one after the other, `totals`; a second time
/// with twice the values, for which the halos are to be exchanged again.
template <class Execution>
void check_chain(const UnitGrid<Execution>& grid, const std::array<double, 2>& totals, Found& found) {
  auto field = grid.template field<2>(), image = grid.template field<2>();
  const auto f = field.access(), g = image.access();
  for (const double times : {1.0, 2.0}) {
    const auto sums = grid.template for_cells_then_totals<2>(
        field, "update",
        KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
          for (int c = 0; c < 2; ++c) f(c, j, i) = times * cell_value(c, j, i);
        },
        "around",
        KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
          Terms<2> terms;
          for (int c = 0; c < 2; ++c) {
            const double value = around(f, c, j, i);
            g(c, j, i) = value;
            terms.of[c] += value;
          }
          return terms;
        });
    // Twice is exact.
    for (std::size_t c = 0; c < 2; ++c) {
      if (sums[c] != times * totals[c]) ++found.wrong_cells;
    }
    found.wrong_cells += wrong_cells(grid.space(), image, SerialGrid{grid.shared().rows(), grid.columns()}, times);
  }
}

template <class Execution>
void sweep(const UnitPeer<Execution>& peer, SharedGrid& shared, Found& found) {
  const UnitGrid<Execution> grid(peer, shared);
  auto field = grid.template field<2>(), result = grid.template field<2>(), deep = grid.template field<2>();
  const auto f = field.access(), r = result.access(), d = deep.access();
  grid.for_cells(
      "fill", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
        for (int c = 0; c < 2; ++c) f(c, j, i) = d(c, j, i) = cell_value(c, j, i);
      });
  grid.for_cells_with_halo(
      field, "around", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
        for (int c = 0; c < 2; ++c) r(c, j, i) += around(f, c, j, i);
      });
  const auto first = grid.template totals_with_halo<2>(
      field, "around", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
        Terms<2> terms;
        for (int c = 0; c < 2; ++c) {
          const double value = around(f, c, j, i);
          r(c, j, i) += value;
          terms.of[c] += value;
        }
        return terms;
      });
  const auto second = grid.template totals<2>(
      "again", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
        Terms<2> terms;
        for (int c = 0; c < 2; ++c) terms.of[c] += 0.5 * r(c, j, i);
        return terms;
      });
  // Once by for_cells_with_halo(), once more by totals_with_halo().
  found.wrong_cells += wrong_cells(grid.space(), result, SerialGrid{shared.rows(), shared.columns()}, 2.0);
  // Halving is exact.
  if (first != second) ++found.wrong_cells;
  check_chain(grid, first, found);
  for (const int depth : {1, 2}) {
    grid.exchange(deep, depth);
    found.wrong_ghosts += wrong_ghosts(grid.space(), deep, SerialGrid{shared.rows(), shared.columns()}, depth);
  }
  if (shared.group().drives(peer.kind())) found.totals = first;
}

void sweep_all(UnitGroup& group, const std::vector<std::int64_t>& shares, std::int64_t columns, Found& found) {
  SharedGrid shared(group, shares, columns);
  group.run([&](const auto& peer) { sweep(peer, shared, found); });
}

}  // namespace

TEST_CASE("sweeps with halos find what a serial sweep finds, and the same sums, however rows are shared out") {
  TestUnits units;
  const std::size_t slots = units.group().slots().size();
  // Steps that leave all remainders of the lanes, fewer where ranks wait for cores.
  for (std::int64_t columns = 1; columns <= 40; columns += slots > 6 ? 13 : slots > 3 ? 5 : 1) {
    const std::int64_t rows = 1 + columns * 7 % 23;
    const auto shares = units.shares(rows);
    Found first;
    sweep_all(units.group(), shares.front(), columns, first);
    for (const auto& share : shares) {
      CAPTURE(rows, columns, share);
      Found found;
      sweep_all(units.group(), share, columns, found);
      CHECK(found.wrong_cells == 0);
      CHECK(found.wrong_ghosts == 0);
      // A device adds the cells of a row in another order.
      if (!companion_is_device) CHECK(found.totals == first.totals);
    }
  }
}

}  // namespace steelyard::test_unit_grid
