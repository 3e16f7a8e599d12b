#include <numeric>
#include <type_traits>

#include "tests/catch.hpp"
#include "tests/miniapps/cavity/solvers/linear_systems.hpp"

namespace steelyard::test_multigrid {

using namespace steelyard::cavity;
using namespace steelyard::cavity::tests;

namespace {

/// M^-1 r.
Values apply(TestUnits& units, const Shares& shares, const Problem& problem, const Values& r) {
  SharedGrid shared(units.group(), shares, problem.columns);
  MultigridLevels levels(shared, Coefficients(problem));
  Values result(r.size(), 0.0);
  units.group().run([&](const auto& peer) {
    using Execution = std::decay_t<decltype(peer.space())>;
    const UnitGrid<Execution> grid(peer, shared);
    MultigridPreconditioner<Execution> multigrid(grid, levels);
    auto right = grid.field(), z = grid.field();
    fill(grid, right, r);
    multigrid.apply(grid, right, z);
    read(grid, z, result);
  });
  share(units.group(), result);
  return result;
}

/// Random values whose sum is 0.
Values zero_sum(std::int64_t count, unsigned seed) {
  Values values = random_values(count, seed);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(count);
  for (double& value : values) value -= mean;
  return values;
}

double product(const Values& a, const Values& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

}  // namespace

TEST_CASE("multigrid is symmetric, the same bits however rows are shared out, and leaves few iterations on any grid") {
  TestUnits units;
  std::mt19937 random(1);
  for (int trial = 0; trial < 28; ++trial) {
    // From single cells to some levels that are shared out; cells of many shapes.
    const std::int64_t most = trial < 12 ? 12 : trial < 26 ? 300 : 520;
    const std::int64_t rows = 1 + static_cast<std::int64_t>(random()) % most;
    auto system = pressure_system(rows, 1 + static_cast<std::int64_t>(random()) % most);
    Problem& problem = system.problem;
    problem.height = std::vector{0.1, 0.5, 1.0, 4.0}[random() % 4];
    // The longer the step, the less weigh rows and columns next to walls.
    problem.time_step = std::vector{1e-9, 1e9}[random() % 2];
    CAPTURE(trial, problem.rows, problem.columns, problem.height, problem.time_step);
    const auto shares = units.shares(problem.rows);
    const std::int64_t cells = problem.rows * problem.columns;
    const Values x = zero_sum(cells, 1), y = zero_sum(cells, 2);
    const Values mx = apply(units, shares[0], problem, x), my = apply(units, shares[0], problem, y);
    CHECK(std::abs(product(x, my) - product(y, mx)) <= 1e-12 * product(x, mx));
    if (cells > 1) CHECK(product(x, mx) > 0.0);
    for (const Shares& share : shares) CHECK(apply(units, share, problem, x) == mx);

    const Way way{.by_cg = true, .multigrid = true};
    const SolveReport report = solve(units, shares[1], system, way, random_values(cells, 4), to(1e-8)).report;
    CHECK(report.outcome == SolveOutcome::converged);
    // Small ones are solved directly; otherwise 10 or 11 were measured, and 14 where cells stay half as long again.
    double longer = std::max(problem.dx() / problem.dy(), problem.dy() / problem.dx());
    while (longer > 1.5) longer *= 0.5;
    CHECK(report.iterations <= (cells <= 64 ? 1 : longer > 1.4 ? 14 : 12));
  }
}

}  // namespace steelyard::test_multigrid
