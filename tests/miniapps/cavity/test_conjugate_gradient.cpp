#include "miniapps/cavity/conjugate_gradient.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <mutex>
#include <vector>

#include "miniapps/cavity/identity_preconditioner.hpp"
#include "miniapps/cavity/pressure_operator.hpp"
#include "tests/miniapps/cavity/grid_run.hpp"

using namespace steelyard;
using namespace steelyard::cavity;
using steelyard::cavity::tests::TestUnits;

namespace {

constexpr double pi = 3.14159265358979323846;

/// Faces of a uniform grid of the unit square: 0 at walls.
std::vector<double> faces(std::int64_t cells) {
  std::vector<double> all(static_cast<std::size_t>(cells + 1), static_cast<double>(cells));
  all.front() = all.back() = 0.0;
  return all;
}
std::vector<double> weights(std::int64_t cells) {
  return std::vector<double>(static_cast<std::size_t>(cells), 1.0 / static_cast<double>(cells));
}

template <class Execution>
struct OnUnit {
  Kokkos::View<double*, DeviceOf<Execution>> memory;
  OnUnit(const Execution& space, const std::vector<double>& values) : memory(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "values"), values.size()) {
    copy_from_host(space, memory.data(), values.data(), values.size());
    space.fence();
  }
};

struct Solution {
  SolveReport report;
  double sum = 0.0;
  double largest_error = 0.0;
};

Solution solve_poisson(UnitGroup& group, const std::vector<std::int64_t>& shares, std::int64_t rows,
                       std::int64_t columns) {
  SharedGrid shared(group, shares, columns);
  Solution solution;
  group.run([&](const auto& peer) {
    using Execution = std::decay_t<decltype(peer.space())>;
    const UnitGrid<Execution> grid(peer, shared);
    const OnUnit<Execution> x(peer.space(), faces(columns)), t(peer.space(), faces(rows)),
        y(peer.space(), weights(rows)), s(peer.space(), weights(columns));
    const PressureOperator matrix{x.memory.data(), y.memory.data(), t.memory.data(), s.memory.data()};
    auto b = grid.field(), solved = grid.field(), exact = grid.field();
    const auto e = exact.access();
    const double n = static_cast<double>(rows), m = static_cast<double>(columns);
    grid.for_cells("exact", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
          e(j, i) = cos(pi * (static_cast<double>(j) + 0.5) / n) * cos(2.0 * pi * (static_cast<double>(i) + 0.5) / m);
        });
    const auto right = b.access(), result = solved.access();
    grid.for_cells_with_halo(exact, "right", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
          right(j, i) = matrix(e, 0, j, i) + (i % 7 == 3 ? 1e-3 * (j % 2 == 0 ? 1.0 : -1.0) : 0.0);
        });
    ConjugateGradient<Execution> solver(grid);
    IdentityPreconditioner none;
    SolveSettings settings;
    settings.relative = 1e-10;
    const SolveReport report = solver.solve(matrix, none, b, solved, settings);
    const auto sums = grid.template totals<2>("error", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
          Terms<2> terms;
          terms.of[0] = (result(j, i) - e(j, i)) * (result(j, i) - e(j, i));
          terms.of[1] = result(j, i) * static_cast<double>(1 + (3 * j + i) % 5);
          return terms;
        });
    if (!group.drives(peer.kind())) return;
    solution.report = report;
    solution.largest_error = std::sqrt(sums[0]);
    solution.sum = sums[1];
  });
  return solution;
}

}  // namespace

TEST_CASE("conjugate gradients give the same bits however rows are shared out") {
  TestUnits units;
  const std::int64_t rows = 30, columns = 37;
  const auto shares = units.shares(rows);
  const Solution first = solve_poisson(units.group(), shares.front(), rows, columns);
  CHECK(first.report.outcome == SolveOutcome::converged);
  CHECK(first.report.iterations > 10);
  for (const auto& share : shares) {
    const Solution other = solve_poisson(units.group(), share, rows, columns);
    CHECK(other.report.iterations == first.report.iterations);
    CHECK(other.report.residual == first.report.residual);
    CHECK(other.sum == first.sum);
  }
}
