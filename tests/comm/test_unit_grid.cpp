#include <atomic>

#include "comm/unit_grid.hpp"
#include "tests/catch.hpp"
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
};

/// Numbers of the unit's rows and `depth` rows on both sides, padding too, that are not as expected.
template <class Execution, class Expected>
int wrong_cells(const Execution& space, const RowField<Execution, 2>& field, std::int64_t depth,
                const Expected& expected) {
  const std::vector<double> memory = memory_of(space, field);
  int wrong = 0;
  std::size_t at = static_cast<std::size_t>((RowField<Execution>::ghost_rows - depth) * field.row_elements());
  for (std::int64_t j = field.rows().begin - depth; j < field.rows().end + depth; ++j) {
    for (int c = 0; c < 2; ++c) {
      for (std::int64_t k = 0; k < field.pitch(); ++k, ++at) {
        if (memory[at] != expected(c, j, k - 8)) ++wrong;
      }
    }
  }
  return wrong;
}

/// Own cells hold so many times the sum over neighbours, and all else is 0.
template <class Execution>
int wrong_sums(const UnitGrid<Execution>& grid, const RowField<Execution, 2>& field, double times) {
  const SerialGrid serial{grid.shared().rows(), grid.columns()};
  return wrong_cells(grid.space(), field, RowField<Execution>::ghost_rows, [&](int c, std::int64_t j, std::int64_t i) {
    const bool own = j >= field.rows().begin && j < field.rows().end && i >= 0 && i < serial.columns;
    return own ? times * around(serial, c, j, i) : 0.0;
  });
}

/// Adds the sums over neighbours to another field, and sums them up.
template <class Access>
struct AddAround {
  Access from, to;
  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const std::int64_t j, const std::int64_t i) const {
    Terms<2> terms;
    for (int c = 0; c < 2; ++c) {
      const double value = around(from, c, j, i);
      to(c, j, i) += value;
      terms.of[c] += value;
    }
    return terms;
  }
};

template <class Execution>
void sweep(const UnitPeer<Execution>& peer, SharedGrid& shared, Found& found) {
  const UnitGrid<Execution> grid(peer, shared);
  auto field = grid.template field<2>(), deep = grid.template field<2>();
  auto result = grid.template field<2>(), chained = grid.template field<2>();
  const auto f = field.access(), d = deep.access(), r = result.access();
  const AddAround<decltype(field.access())> add{f, r}, chain{f, chained.access()};
  grid.for_cells(
      "fill", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
        for (int c = 0; c < 2; ++c) f(c, j, i) = d(c, j, i) = cell_value(c, j, i);
      });
  for (const int depth : {1, 2}) {
    grid.exchange(deep, depth);
    const SerialGrid serial{shared.rows(), shared.columns()};
    if (!deep.rows().empty()) found.wrong_cells += wrong_cells(grid.space(), deep, depth, serial);
  }
  grid.for_cells_with_halo(
      field, "around", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) { add(j, i); });
  const auto totals = grid.template totals_with_halo<2>(field, "around", add);
  const auto again = grid.template totals<2>(
      "again", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
        Terms<2> terms;
        for (int c = 0; c < 2; ++c) terms.of[c] += 0.5 * r(c, j, i);
        return terms;
      });
  // Halving is exact, and so is doubling.
  if (totals != again) ++found.wrong_cells;
  found.wrong_cells += wrong_sums(grid, result, 2.0);
  // Other values, whose halos are to be exchanged again.
  for (const double times : {2.0, 4.0}) {
    const auto update = KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
      for (int c = 0; c < 2; ++c) f(c, j, i) = times * cell_value(c, j, i);
    };
    const auto sums = grid.template for_cells_then_totals<2>(field, "update", update, "around", chain);
    for (std::size_t c = 0; c < 2; ++c) {
      if (sums[c] != times * totals[c]) ++found.wrong_cells;
    }
  }
  found.wrong_cells += wrong_sums(grid, chained, 6.0);
  if (shared.group().drives(peer.kind())) found.totals = totals;
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
      // A device adds the cells of a row in another order.
      if (!companion_is_device) CHECK(found.totals == first.totals);
    }
  }
}

}  // namespace steelyard::test_unit_grid
