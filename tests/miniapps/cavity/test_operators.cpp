#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "miniapps/cavity/operators.hpp"
#include "tests/comm/shared_units.hpp"
#include "tests/miniapps/cavity/solvers/linear_systems.hpp"

namespace steelyard::test_operators {

using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;
using steelyard::tests::TestUnits;

namespace {

struct Poisson : PoissonSystem {
  Poisson(std::int64_t row_count, std::int64_t column_count) : PoissonSystem{row_count, column_count} {}
};
struct Momentum : MomentumSystem {
  Momentum(std::int64_t row_count, std::int64_t column_count) : MomentumSystem{row_count, column_count, 0.05, 4.0} {}
};

/// A x and the matrix's diagonal as sweeps find them, by a sweep that sums up and by one that does not.
struct Images {
  Values product, diagonal;
};

template <class System, class Execution>
void sweep(const UnitGrid<Execution>& grid, const System& system, const Values& values, Images& images) {
  constexpr int components = System::components;
  UnitOperands<Execution> operands(grid);
  const auto matrix = system.matrix(operands);
  auto from = grid.template field<components>();
  const auto product = grid.template field<components>(), diagonal = grid.template field<components>();
  fill(grid, from, values);
  const auto x = from.access(), y = product.access(), d = diagonal.access();
  grid.template totals_with_halo<1>(
      from, "product", each_component<components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) {
        const double value = matrix(x, c, j, i);
        y(c, j, i) = value;
        return Terms<1>{{value}};
      }));
  grid.for_cells("diagonal",
                 each_component<components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) {
                   d(c, j, i) = matrix.diagonal(c, j, i);
                 }));
  read(grid, product, images.product);
  read(grid, diagonal, images.diagonal);
}

/// The same without sweeps, from what is known of each column by itself.
template <class System>
Images images_of(const System& system, const Values& values) {
  constexpr int components = System::components;
  WholeOperands operands(system.rows, system.columns), memory(system.rows, system.columns);
  const auto matrix = system.matrix(operands);
  const auto x = memory.template field<components>(values);
  Images images{values, values};
  std::size_t at = 0;
  for (std::int64_t j = 0; j < system.rows; ++j) {
    for (int c = 0; c < components; ++c) {
      for (std::int64_t i = 0; i < system.columns; ++i, ++at) {
        images.product[at] = matrix(x, c, j, i);
        images.diagonal[at] = matrix.diagonal(c, j, i);
      }
    }
  }
  return images;
}

/// How far a unit's images are off.
struct Found {
  double product = 0.0, diagonal = 0.0;
};

}  // namespace

TEMPLATE_TEST_CASE("matrices are the same in sweeps over long rows as cell by cell", "", Poisson, Momentum) {
  TestUnits units;
  const auto rows = static_cast<std::int64_t>(2 * units.slots().size());
  for (const std::int64_t columns : {1, 2, 3, 31, 32, 33, 64, 65, 97, 130}) {
    const TestType system(rows, columns);
    const Values x = random_values(TestType::components * rows * columns, 11);
    const Images expected = images_of(system, x);
    SharedGrid shared(units.group(), units.shares(rows)[1], columns);
    Found host, companion;
    units.group().run([&](const auto& peer) {
      Found& found = peer.kind() == ProcessingUnit::Kind::host ? host : companion;
      const UnitGrid grid(peer, shared);
      Images images = expected;
      // Rows of other units stay what they should be.
      for (std::int64_t k = TestType::components * columns * grid.rows().begin;
           k < TestType::components * columns * grid.rows().end; ++k) {
        images.product[static_cast<std::size_t>(k)] = images.diagonal[static_cast<std::size_t>(k)] = 1e99;
      }
      sweep(grid, system, x, images);
      found.product = largest_difference(images.product, expected.product);
      found.diagonal = largest_difference(images.diagonal, expected.diagonal);
    });
    CAPTURE(columns);
    CHECK(host.product == 0.0);
    CHECK(host.diagonal == 0.0);
    // A device rounds in another way.
    CHECK(companion.product <= (companion_is_device ? 1e-14 * largest(expected.product) : 0.0));
    CHECK(companion.diagonal == 0.0);
  }
}

}  // namespace steelyard::test_operators
