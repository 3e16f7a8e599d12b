#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "miniapps/cavity/grid/sweep_body.hpp"
#include "miniapps/cavity/grid/unit_grid.hpp"
#include "tests/miniapps/cavity/grid/grid_run.hpp"

namespace steelyard::test_each_component {

using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;

namespace {

constexpr std::int64_t columns = 37;

/// A whole number, for sums to be exact.
KOKKOS_INLINE_FUNCTION double number(const int c, const std::int64_t j, const std::int64_t i) {
  return static_cast<double>((1 + 1000 * c) * (1 + 3 * j + 7 * i));
}

/// Adds numbers to a field of zeros by component. @return sums of the values of either component
template <int Components, class Execution>
std::array<double, 2> filled_sums(const UnitPeer<Execution>& peer, SharedGrid& shared) {
  const UnitGrid<Execution> grid(peer, shared);
  const auto field = grid.template field<Components>();
  const auto access = field.access();
  grid.for_cells("fill",
                 each_component<Components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const std::int64_t i) {
                   access(c, j, i) += number(c, j, i);
                 }));
  return grid.template totals<2>(
      "sum", each_component<Components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const std::int64_t i) {
        const double value = access(c, j, i);
        return Terms<2>{{c == 0 ? value : 0.0, c == 1 ? value : 0.0}};
      }));
}

}  // namespace

TEST_CASE("a body is called once for each component of every cell, and its terms are added up") {
  TestUnits units;
  const std::int64_t rows = 2 * static_cast<std::int64_t>(units.slots().size());
  for (const auto& share : units.shares(rows)) {
    SharedGrid shared(units.group(), share, columns);
    std::array<double, 2> one = {}, two = {};
    units.group().run([&](const auto& peer) {
      const auto of_one = filled_sums<1>(peer, shared), of_two = filled_sums<2>(peer, shared);
      if (!units.group().drives(peer.kind())) return;
      one = of_one;
      two = of_two;
    });
    double sum = 0.0;
    for (std::int64_t j = 0; j < rows; ++j) {
      for (std::int64_t i = 0; i < columns; ++i) sum += number(0, j, i);
    }
    CAPTURE(share);
    CHECK(one == std::array<double, 2>{sum, 0.0});
    CHECK(two == std::array<double, 2>{sum, 1001.0 * sum});
  }
}

}  // namespace steelyard::test_each_component
