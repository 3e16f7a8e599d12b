#include <mpi.h>

#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>

#include "comm/unit_grid.hpp"
#include "core/memory/host_copy.hpp"
#include "miniapps/cavity/multigrid/multigrid_preconditioner.hpp"
#include "miniapps/cavity/operators.hpp"
#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"
#include "miniapps/cavity/solvers/krylov_method.hpp"
#include "tests/catch.hpp"
#include "tests/comm/shared_units.hpp"
#include "tests/miniapps/cavity/known_flow.hpp"

namespace steelyard::test_solvers {

using namespace steelyard::cavity;
using steelyard::cavity::tests::cavity_of;
using steelyard::tests::TestUnits;
using enum Reductions;
using enum SolveOutcome;
using Shares = std::vector<std::int64_t>;

namespace {

/// Values of a whole grid: component c at (j, i) in place (j * components + c) * columns + i.
using Values = std::vector<double>;

/// Random values, 0 for velocities in walls, which are no unknowns.
template <int components>
Values random_unknowns(const Problem& problem, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> distribution(-1.0, 1.0);
  Values values(static_cast<std::size_t>(components * problem.rows * problem.columns));
  for (double& value : values) value = distribution(engine);
  if (components == 1) return values;
  for (std::int64_t j = 0; j < problem.rows; ++j) values[static_cast<std::size_t>(2 * j * problem.columns)] = 0.0;
  for (std::int64_t i = 0; i < problem.columns; ++i) values[static_cast<std::size_t>(problem.columns + i)] = 0.0;
  return values;
}

/// Calls `copy(place, values)` for every row of a unit: where it is in the field's and in a whole grid's values.
template <class Execution, int Components, class AnyValues, class Copy>
void for_rows(const UnitGrid<Execution>& grid, const RowField<Execution, Components>& field, AnyValues& values,
              const Copy& copy) {
  const auto access = field.access();
  for (std::int64_t row = Components * grid.rows().begin; row < Components * grid.rows().end; ++row) {
    copy(access.place(static_cast<int>(row % Components), row / Components, 0), values.data() + row * grid.columns());
  }
  grid.space().fence();
}
template <class Execution, int Components>
void fill(const UnitGrid<Execution>& grid, RowField<Execution, Components>& field, const Values& values) {
  for_rows(grid, field, values, [&](auto* place, const double* row) {
    copy_from_host(grid.space(), place, row, static_cast<std::size_t>(grid.columns()));
  });
}
template <class Execution, int Components>
void read(const UnitGrid<Execution>& grid, const RowField<Execution, Components>& field, Values& values) {
  for_rows(grid, field, values, [&](const auto* place, double* row) {
    copy_to_host(grid.space(), row, place, static_cast<std::size_t>(grid.columns()));
  });
}
/// Gives all ranks all rows. @param values 0 in rows of others
void share(UnitGroup& group, Values& values) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, group.comm());
}

/// A matrix with the coefficients of a cavity: `matrix(coefficients, convecting)`, in a unit's memory.
template <int Components, class Matrix>
struct System {
  static constexpr int components = Components;

  Problem problem;
  Matrix matrix;
};

/// The pressure's, whose null space are constants. Values are about 1.
auto pressure_system(std::int64_t rows, std::int64_t columns) {
  Problem problem = cavity_of(rows, columns, 1.0, 1e4);
  problem.time_step = 1.0;
  const auto matrix = [](const auto& of, const auto&) { return of.pressure(); };
  return System<1, decltype(matrix)>{problem, matrix};
}

/// The pressure's and `shift` times the identity: indefinite for some negative ones.
struct ShiftedOperator {
  static constexpr int components = 1;
  PressureOperator pressure;
  double shift = 0.0;

  std::tuple<> fields() const { return {}; }

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const RowAccess<1>& p, int, const std::int64_t j,
                                                const Column i) const {
    return pressure(p, 0, j, i) + shift * p(j, i);
  }
  KOKKOS_FORCEINLINE_FUNCTION double quadratic_form(const RowAccess<1>& p, const std::int64_t j, const Column i) const {
    return p(j, i) * (*this)(p, 0, j, i);
  }
};
auto shifted_system(std::int64_t rows, std::int64_t columns, double shift) {
  const auto matrix = [=](const auto& of, const auto&) { return ShiftedOperator{of.pressure(), shift}; };
  return System<1, decltype(matrix)>{pressure_system(rows, columns).problem, matrix};
}

/// Momentum's, with a convecting velocity that is anything but a flow: strong enough, it is far from symmetric.
auto momentum_system(std::int64_t rows, std::int64_t columns) {
  Problem problem = cavity_of(rows, columns);
  problem.time_step = 0.05;
  const auto matrix = [](const auto& of, const RowAccess<2>& convecting) { return of.momentum(convecting); };
  return System<2, decltype(matrix)>{problem, matrix};
}

/// Calls `body(grid, matrix)` for every unit.
template <class Solvable, class Body>
void with_matrix(UnitGroup& group, SharedGrid& shared, const Solvable& system, const Body& body) {
  Values velocities = random_unknowns<2>(system.problem, 77);
  for (double& value : velocities) value *= 4.0;
  group.run([&](const auto& peer) {
    using Execution = std::decay_t<decltype(peer.space())>;
    const UnitGrid<Execution> grid(peer, shared);
    const UnitCoefficients<Execution> coefficients(peer.space(), Coefficients(system.problem));
    auto convecting = grid.template field<2>();
    fill(grid, convecting, velocities);
    grid.exchange(convecting);
    body(grid, system.matrix(coefficients, convecting.access()));
  });
}

template <class Operator, int Components>
struct Multiply {
  Operator matrix;
  RowAccess<Components> x, y;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    y(c, j, i) = matrix(x, c, j, i);
  }
};

/// The matrix times what the whole grid has.
template <class Solvable>
Values multiplied(TestUnits& units, const Solvable& system, const Values& values) {
  constexpr int components = Solvable::components;
  Values result(values.size(), 0.0);
  SharedGrid shared(units.group(), units.shares(system.problem.rows)[1], system.problem.columns);
  with_matrix(units.group(), shared, system, [&](const auto& grid, const auto& matrix) {
    auto x = grid.template field<components>(), y = grid.template field<components>();
    const Multiply<std::decay_t<decltype(matrix)>, components> multiply{matrix, x.access(), y.access()};
    fill(grid, x, values);
    grid.exchange(x);
    grid.for_cells("multiply", each_component<components>(multiply));
    read(grid, y, result);
  });
  share(units.group(), result);
  return result;
}

/// How a system is solved: by conjugate gradients or by BiCGSTAB.
struct Way {
  bool by_cg = false;
  Reductions reductions = Reductions::separate;
  bool multigrid = false;
};

/// The whole solution, on all ranks.
struct Solved {
  SolveReport report;
  Values values;
};

template <class Solvable>
Solved solve(TestUnits& units, const Shares& shares, const Solvable& system, const Way& way, const Values& right_side,
             const SolveSettings& settings, const Values& guess = {}) {
  constexpr int components = Solvable::components;
  UnitGroup& group = units.group();
  SharedGrid shared(group, shares, system.problem.columns);
  std::optional<MultigridLevels> levels;
  if (way.multigrid) levels.emplace(shared, Coefficients(system.problem));
  Solved solved{{}, Values(right_side.size(), 0.0)};
  with_matrix(group, shared, system, [&](const auto& grid, const auto& matrix) {
    using Execution = std::decay_t<decltype(grid.space())>;
    auto b = grid.template field<components>(), x = grid.template field<components>();
    fill(grid, b, right_side);
    if (!guess.empty()) fill(grid, x, guess);
    SolveReport report;
    if constexpr (components == 1) {
      if (way.by_cg) {
        std::optional<MultigridPreconditioner<Execution>> multigrid;
        if (levels) multigrid.emplace(grid, *levels);
        typename ConjugateGradient<Execution>::Preconditioner cycle;
        if (levels) cycle = [&](auto& r, auto& z) { multigrid->apply(grid, r, z); };
        report = ConjugateGradient<Execution>(grid, way.reductions).solve(matrix, b, x, settings, cycle);
      }
    }
    if (!way.by_cg) report = BiCgStab<Execution, components>(grid, way.reductions).solve(matrix, b, x, settings);
    read(grid, x, solved.values);
    if (group.drives(grid.peer().kind())) solved.report = report;
  });
  share(group, solved.values);
  return solved;
}

SolveSettings to(double relative) {
  SolveSettings settings;
  settings.relative = relative;
  return settings;
}

constexpr Way bicgstab[] = {{false, separate}, {false, merged}}, cg[] = {{true, separate}, {true, merged}};

double product(const Values& a, const Values& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }
double norm(const Values& values) { return std::sqrt(product(values, values)); }

Values without_mean(Values values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
  return values;
}

/// Checks that a solution solves, and that it is the same bits however rows are shared out. Where constants are the
/// null space, b's mean is left out. @param most iterations for each unknown
template <class Solvable>
void check_solution(TestUnits& units, const Solvable& system, const Way& way, unsigned seed, int most = 1) {
  CAPTURE(seed, system.problem.rows, system.problem.columns, way.by_cg, way.reductions == merged, way.multigrid);
  const Values b = random_unknowns<Solvable::components>(system.problem, seed);
  const bool is_singular = norm(multiplied(units, system, Values(b.size(), 1.0))) < 1e-9;
  const Values right = is_singular ? without_mean(b) : b;
  Values first;
  for (const Shares& share : units.shares(system.problem.rows)) {
    const auto [report, values] = solve(units, share, system, way, b, to(1e-12));
    CHECK(report.outcome == converged);
    CHECK(report.iterations <= most * static_cast<int>(b.size()));
    CHECK(std::abs(report.right_side - norm(b)) <= 1e-14 * norm(b));
    if (first.empty()) first = values;
    CHECK(values == first);
  }
  Values residual = multiplied(units, system, first);
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= right[i];
  CHECK(norm(residual) <= 1e-11 * norm(right));
}

/// The multigrid preconditioner's M^-1 r, for a system of the pressure.
template <class Solvable>
Values apply(TestUnits& units, const Shares& shares, const Solvable& system, const Values& r) {
  SharedGrid shared(units.group(), shares, system.problem.columns);
  MultigridLevels levels(shared, Coefficients(system.problem));
  Values result(r.size(), 0.0);
  with_matrix(units.group(), shared, system, [&](const auto& grid, const auto&) {
    MultigridPreconditioner<std::decay_t<decltype(grid.space())>> multigrid(grid, levels);
    auto right = grid.field(), z = grid.field();
    fill(grid, right, r);
    multigrid.apply(grid, right, z);
    read(grid, z, result);
  });
  share(units.group(), result);
  return result;
}

}  // namespace

TEST_CASE("solvers solve random systems, in the same bits however rows are shared out") {
  TestUnits units;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    std::mt19937 random(seed);
    const auto rows = static_cast<std::int64_t>(2 + random() % 6),
               columns = static_cast<std::int64_t>(2 + random() % 7);
    for (Way way : cg) {
      check_solution(units, shifted_system(rows, columns, 0.5), way, seed);
      check_solution(units, pressure_system(rows, columns), way, seed);
      way.multigrid = true;
      check_solution(units, pressure_system(3 * rows, 2 * columns), way, seed);
    }
    for (const Way& way : bicgstab) check_solution(units, momentum_system(rows, columns), way, seed);
  }
}

TEST_CASE("merged reductions take the same way") {
  TestUnits units;
  const auto check = [&](const auto& system, const Way* ways) {
    const Values b = random_unknowns<std::decay_t<decltype(system)>::components>(system.problem, 8);
    const Shares share = units.shares(system.problem.rows)[1];
    const auto report = [&](const Way& way, const SolveSettings& settings) {
      return solve(units, share, system, way, b, settings).report;
    };
    const int one = report(ways[0], to(1e-10)).iterations, other = report(ways[1], to(1e-10)).iterations;
    CHECK(one > 5);
    CHECK(std::abs(one - other) <= 2);
    for (int i = 0; i < 5; ++i) {
      SolveSettings few = to(1e-10);
      few.most_iterations = i;
      const double residual = report(ways[0], few).residual;
      CHECK(std::abs(report(ways[1], few).residual - residual) <= 1e-8 * residual);
    }
    // They end with the first residual that is small enough.
    for (const Way* const way : {&ways[0], &ways[1]}) {
      SolveSettings fewer = to(1e-10);
      fewer.most_iterations = (way == &ways[0] ? one : other) - 1;
      CHECK(report(*way, fewer).outcome == too_many_iterations);
    }
  };
  check(shifted_system(20, 24, 1e-3), cg);
  check(momentum_system(20, 24), bicgstab);
}

TEST_CASE("solvers find nothing to do where b is 0 or x solves, and say why they do not solve") {
  TestUnits units;
  const auto check = [&](const auto& system, const Way& way) {
    constexpr int components = std::decay_t<decltype(system)>::components;
    const Shares share = units.shares(system.problem.rows).back();
    Values b = random_unknowns<components>(system.problem, 7);
    const Values zero(b.size(), 0.0), exact = solve(units, share, system, way, b, to(1e-12)).values;
    const auto nothing = [&](const Values& right, const Values& guess, const Values& expected) {
      const Solved solved = solve(units, share, system, way, right, to(1e-10), guess);
      CHECK(solved.report.outcome == converged);
      CHECK(solved.report.iterations == 0);
      CHECK(solved.values == expected);
    };
    nothing(zero, {}, zero);
    nothing(zero, b, zero);
    nothing(b, exact, exact);

    const auto report = [&](const SolveSettings& settings) {
      return solve(units, share, system, way, b, settings).report;
    };
    SolveSettings settings = to(1e-12);
    for (const int most : {0, 2}) {
      settings.most_iterations = most;
      const SolveReport few = report(settings);
      CHECK(few.outcome == too_many_iterations);
      CHECK(few.iterations == most);
      CHECK(few.residual > few.tolerance);
    }
    // Less than what rounding leaves.
    const SolveOutcome tight = report(to(1e-19)).outcome;
    CHECK((tight != converged && tight != not_finite));
    if (way.by_cg) CHECK(tight == stagnated);
    for (const double value : {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
      b[b.size() / 2 + 1] = value;
      CHECK(report(to(1e-12)).outcome == not_finite);
    }
  };
  for (const Way& way : cg) check(shifted_system(9, 8, 0.01), way);
  for (const Way& way : bicgstab) check(momentum_system(9, 8), way);
}

TEST_CASE("BiCGSTAB restarts after a breakdown") {
  TestUnits units;
  for (const Way& way : bicgstab) {
    // r0^T A r0 is 0: another shadow vector helps.
    const auto pressure = pressure_system(5, 6);
    const Values b = random_unknowns<1>(pressure.problem, 7);
    const auto orthogonal = shifted_system(5, 6, -product(b, multiplied(units, pressure, b)) / product(b, b));
    CHECK(solve(units, units.shares(5).back(), orthogonal, way, b, to(1e-10)).report.restarts >= 1);
    check_solution(units, orthogonal, way, 7, 3);
  }
}

TEST_CASE("a solve ends where nothing helps any more: iterations, restarts from true residuals or after breakdowns") {
  SolveSettings settings = to(1e-3);
  settings.most_iterations = 5000;
  settings.most_restarts = 2;
  SolveMonitor none(settings, 4, 5), slow = none, useless = none, false_hope = none, broken = none;
  for (SolveMonitor* const monitor : {&none, &slow, &useless, &false_hope, &broken}) {
    CHECK(monitor->should_iterate(2000.0, 2000.0));
  }
  while (none.should_continue(1999.0)) continue;
  CHECK(none.report().outcome == stagnated);
  CHECK(none.report().iterations == none.patience());
  for (double residual = 1996.0; slow.should_continue(residual);) residual *= 0.998;
  CHECK(slow.seems_solved());
  for (const double residual : {500.0, 490.0}) CHECK(useless.should_restart(residual) == (residual == 500.0));
  CHECK(useless.report().outcome == stagnated);
  for (const double residual : {500.0, 100.0, 10.0}) CHECK(false_hope.should_restart(residual) == (residual > 10.0));
  CHECK(false_hope.report().outcome == stagnated);
  for (const bool helps : {true, true, false}) CHECK(broken.should_restart_after_breakdown(0.0) == helps);
  CHECK(broken.report().outcome == broke_down);
}

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
    const Values x = without_mean(random_unknowns<1>(problem, 1)), y = without_mean(random_unknowns<1>(problem, 2));
    const Values mx = apply(units, shares[0], system, x), my = apply(units, shares[0], system, y);
    CHECK(std::abs(product(x, my) - product(y, mx)) <= 1e-12 * product(x, mx));
    if (cells > 1) CHECK(product(x, mx) > 0.0);
    for (const Shares& share : shares) CHECK(apply(units, share, system, x) == mx);

    const Way way{.by_cg = true, .multigrid = true};
    const Values b = random_unknowns<1>(problem, 4);
    const SolveReport report = solve(units, shares[1], system, way, b, to(1e-8)).report;
    CHECK(report.outcome == converged);
    // Small ones are solved directly; otherwise 10 or 11 were measured, and 14 where cells stay half as long again.
    double longer = std::max(problem.dx() / problem.dy(), problem.dy() / problem.dx());
    while (longer > 1.5) longer *= 0.5;
    CHECK(report.iterations <= (cells <= 64 ? 1 : longer > 1.4 ? 14 : 12));
  }
}

}  // namespace steelyard::test_solvers
