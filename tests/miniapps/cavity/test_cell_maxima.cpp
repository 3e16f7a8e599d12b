#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "miniapps/cavity/row_sweep.hpp"
#include "tests/miniapps/cavity/grid_run.hpp"
#include "tests/miniapps/cavity/unit_values.hpp"

namespace steelyard::test_cell_maxima {

using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;

namespace {

/// The largest magnitude of a value and of its double, in all cells but one, where it is `odd`; by every unit.
template <class Execution>
std::array<double, 2> maxima_with(const UnitPeer<Execution>& peer, RowRange rows, std::int64_t columns,
                                  std::int64_t odd_j, std::int64_t odd_i, double odd) {
  return CellSums<Execution>(peer.space(), rows)
      .template maxima<2>(
          peer.space(), "maxima", columns, KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            const double value = j == odd_j && i == odd_i ? odd : std::fabs(cell_value(0, j, i));
            return Terms<2>{{value, 2.0 * cell_value(0, j, i) * cell_value(0, j, i)}};
          });
}

}  // namespace

TEST_CASE("the largest terms are found in whatever cell they are, and what is not a number counts as infinite") {
  TestUnits units;
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
    std::array<int, 2> wrong = {};  // each unit counts its own
    units.group().run([&](const auto& peer) {
      int& own = wrong[unit_index(peer.kind())];
      const auto expect = [&](std::int64_t odd_j, std::int64_t odd_i, double odd, double expected) {
        own += maxima_with(peer, rows, columns, odd_j, odd_i, odd) == std::array{expected, largest_square} ? 0 : 1;
      };
      expect(-1, -1, 0.0, largest);
      for (std::int64_t j = rows.begin; j < rows.end; ++j) {
        for (std::int64_t i = 0; i < columns; ++i) {
          expect(j, i, larger, larger);
          expect(j, i, std::nan(""), infinity);
        }
      }
      own += maxima_with(peer, RowRange{2, 2}, columns, -1, -1, 0.0) == std::array{0.0, 0.0} ? 0 : 1;
      own += maxima_with(peer, rows, 0, -1, -1, 0.0) == std::array{0.0, 0.0} ? 0 : 1;
    });
    CAPTURE(columns);
    CHECK(wrong == std::array{0, 0});
  }
}

}  // namespace steelyard::test_cell_maxima
