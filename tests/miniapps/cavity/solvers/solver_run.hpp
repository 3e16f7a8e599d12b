#pragma once

#include <mpi.h>

#include <vector>

#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"
#include "tests/comm/shared_units.hpp"
#include "tests/miniapps/cavity/solvers/linear_systems.hpp"

namespace steelyard::cavity::tests {

using steelyard::tests::TestUnits;

/// Solvers and preconditioners to choose from by type.
template <Reductions chosen>
struct CgWith {
  static constexpr bool is_cg = true;
  static constexpr Reductions reductions = chosen;
  template <class Execution, int>
  using Solver = ConjugateGradient<Execution>;
};
using Cg = CgWith<Reductions::separate>;
using MergedCg = CgWith<Reductions::merged>;
template <Reductions chosen>
struct BicgstabWith {
  static constexpr bool is_cg = false;
  static constexpr Reductions reductions = chosen;
  template <class Execution, int Components>
  using Solver = BiCgStab<Execution, Components>;
};
using Bicgstab = BicgstabWith<Reductions::separate>;
using MergedBicgstab = BicgstabWith<Reductions::merged>;

struct None {
  template <class Execution, class Operator>
  static typename ConjugateGradient<Execution>::Preconditioner of(const UnitGrid<Execution>&, const Operator&) {
    return {};
  }
};
/// z = r / diagonal of A.
template <class Operator>
struct DivideByDiagonal {
  Operator matrix;
  RowAccess<1> r, z;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const Column i) const {
    z(j, i) = r(j, i) / diagonal(matrix, j, i);
  }
};
struct Jacobi {
  template <class Execution, class Operator>
  static typename ConjugateGradient<Execution>::Preconditioner of(const UnitGrid<Execution>& grid,
                                                                  const Operator& matrix) {
    return [&grid, matrix](auto& r, auto& z) {
      grid.for_cells("jacobi", DivideByDiagonal<Operator>{matrix, r.access(), z.access()});
    };
  }
};

struct Solved {
  SolveReport report;
  Values values;
};

/// A program for all units: solves one system, once or several times over from the same guess.
template <class Choice, class Preconditioning, class System>
struct SolverRun {
  SharedGrid& shared;
  const System& system;
  const Values& right_side;
  const Values& guess;
  const SolveSettings& settings;
  int times;
  Solved& solved;

  template <class Execution>
  void operator()(const UnitPeer<Execution>& peer) const {
    constexpr int components = System::components;
    const UnitGrid<Execution> grid(peer, shared);
    UnitOperands<Execution> operands(grid);
    const auto matrix = system.matrix(operands);
    auto b = grid.template field<components>(), x = grid.template field<components>();
    typename Choice::template Solver<Execution, components> solver(grid, Choice::reductions);
    SolveReport report;
    fill(grid, b, right_side);
    for (int time = 0; time < times; ++time) {
      fill(grid, x, guess);
      if constexpr (Choice::is_cg) {
        report = solver.solve(matrix, b, x, settings, Preconditioning::of(grid, matrix));
      } else {
        report = solver.solve(matrix, b, x, settings);
      }
    }
    read(grid, x, solved.values);
    if (peer.group().drives(peer.kind())) solved.report = report;
  }
};

/// The whole solution, on all ranks.
template <class Choice, class Preconditioning, class System>
Solved solve(UnitGroup& group, const std::vector<std::int64_t>& shares, const System& system, const Values& right_side,
             const SolveSettings& settings, Values guess = {}, int times = 1) {
  SharedGrid shared(group, shares, system.columns);
  Solved solved;
  solved.values.assign(right_side.size(), 0.0);
  if (guess.empty()) guess.assign(right_side.size(), 0.0);
  group.run(SolverRun<Choice, Preconditioning, System>{shared, system, right_side, guess, settings, times, solved});
  MPI_Allreduce(MPI_IN_PLACE, solved.values.data(), static_cast<int>(solved.values.size()), MPI_DOUBLE, MPI_SUM,
                group.comm());
  return solved;
}

}  // namespace steelyard::cavity::tests
