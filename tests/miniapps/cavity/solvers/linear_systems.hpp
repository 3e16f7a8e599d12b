#pragma once

#include <mpi.h>

#include <Eigen/Dense>
#include <cstdint>
#include <optional>
#include <random>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "comm/unit_grid.hpp"
#include "core/memory/host_copy.hpp"
#include "miniapps/cavity/multigrid/multigrid_preconditioner.hpp"
#include "miniapps/cavity/operators.hpp"
#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"
#include "tests/comm/shared_units.hpp"
#include "tests/miniapps/cavity/output/known_flow.hpp"

namespace steelyard::cavity::tests {

using steelyard::tests::TestUnits;
using Shares = std::vector<std::int64_t>;

/// Values of a whole grid: component c at (j, i) in place (j * components + c) * columns + i.
using Values = std::vector<double>;

inline Values random_values(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> distribution(-1.0, 1.0);
  Values values(static_cast<std::size_t>(count));
  for (double& value : values) value = distribution(engine);
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
inline void share(UnitGroup& group, Values& values) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, group.comm());
}

/// A matrix with the coefficients of a cavity: `matrix(coefficients, convecting)`, in a unit's memory.
template <int Components, class Matrix>
struct System {
  static constexpr int components = Components;

  Problem problem;
  Matrix matrix;
  double strength = 0.0;  ///< largest of the random velocities that convect
};
template <int Components, class Matrix>
System<Components, Matrix> system_of(Problem problem, double time_step, const Matrix& matrix, double strength = 0.0) {
  problem.time_step = time_step;
  return {problem, matrix, strength};
}

/// The pressure's, whose null space are constants. Values are about 1.
inline auto pressure_system(std::int64_t rows, std::int64_t columns) {
  return system_of<1>(cavity_of(rows, columns, 1.0, 1e4), 1.0,
                      [](const auto& of, const auto&) { return of.pressure(); });
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
inline auto shifted_system(std::int64_t rows, std::int64_t columns, double shift) {
  return system_of<1>(cavity_of(rows, columns, 1.0, 1e4), 1.0, [=](const auto& of, const auto&) {
    return ShiftedOperator{of.pressure(), shift};
  });
}

/// Momentum's, with a convecting velocity that is anything but a flow: strong enough, it is far from symmetric.
inline auto momentum_system(std::int64_t rows, std::int64_t columns, double time_step = 0.05, double strength = 4.0) {
  return system_of<2>(
      cavity_of(rows, columns), time_step,
      [](const auto& of, const RowAccess<2>& convecting) { return of.momentum(convecting); }, strength);
}

/// Random values, 0 for velocities in walls, which are no unknowns.
template <int components>
Values random_unknowns(const Problem& problem, unsigned seed) {
  Values values = random_values(components * problem.rows * problem.columns, seed);
  if (components == 1) return values;
  for (std::int64_t j = 0; j < problem.rows; ++j) values[static_cast<std::size_t>(2 * j * problem.columns)] = 0.0;
  for (std::int64_t i = 0; i < problem.columns; ++i) values[static_cast<std::size_t>(problem.columns + i)] = 0.0;
  return values;
}

/// Calls `body(grid, matrix)` for every unit.
template <class Solvable, class Body>
void with_matrix(UnitGroup& group, SharedGrid& shared, const Solvable& system, const Body& body) {
  Values velocities = random_unknowns<2>(system.problem, 77);
  for (double& value : velocities) value *= system.strength;
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

/// A system's matrix, by its effect on unit vectors; where a row is empty, 1 on the diagonal.
template <class Solvable>
Eigen::MatrixXd dense(TestUnits& units, const Solvable& system) {
  constexpr int components = Solvable::components;
  const Problem& problem = system.problem;
  const auto n = static_cast<std::size_t>(components * problem.rows * problem.columns);
  std::vector<Values> products(n, Values(n, 0.0));
  SharedGrid shared(units.group(), units.shares(problem.rows)[1], problem.columns);
  with_matrix(units.group(), shared, system, [&](const auto& grid, const auto& matrix) {
    auto x = grid.template field<components>(), y = grid.template field<components>();
    const Multiply<std::decay_t<decltype(matrix)>, components> multiply{matrix, x.access(), y.access()};
    for (std::size_t k = 0; k < n; ++k) {
      Values unit(n, 0.0);
      unit[k] = 1.0;
      fill(grid, x, unit);
      grid.exchange(x);
      grid.for_cells("multiply", each_component<components>(multiply));
      read(grid, y, products[k]);
    }
  });
  const auto size = static_cast<Eigen::Index>(n);
  Eigen::MatrixXd all(size, size);
  for (std::size_t k = 0; k < n; ++k) {
    share(units.group(), products[k]);
    all.col(static_cast<Eigen::Index>(k)) = Eigen::Map<Eigen::VectorXd>(products[k].data(), size);
  }
  for (Eigen::Index k = 0; k < size; ++k) {
    if (all.row(k).isZero(0.0)) all(k, k) = 1.0;
  }
  return all;
}

/// How a system is solved: by conjugate gradients or by BiCGSTAB.
struct Way {
  bool by_cg = false;
  Reductions reductions = Reductions::separate;
  bool multigrid = false;
};

struct Solved {
  SolveReport report;
  Values values;
};

/// The whole solution, on all ranks.
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

inline SolveSettings to(double relative) {
  SolveSettings settings;
  settings.relative = relative;
  settings.keep_history = true;
  return settings;
}

}  // namespace steelyard::cavity::tests
