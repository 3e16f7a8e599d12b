#pragma once

#include <variant>

#include "miniapps/cavity/multigrid/multigrid_preconditioner.hpp"
#include "miniapps/cavity/operators.hpp"
#include "miniapps/cavity/problem.hpp"
#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"
#include "miniapps/cavity/solvers/preconditioner.hpp"

namespace steelyard::cavity {

/// Solves the momentum equations on one unit's part of a grid, together with all other units, the way that Numerics
/// asks for.
template <class Execution>
class MomentumSolver {
 public:
  MomentumSolver(const UnitGrid<Execution>& grid, const Numerics& numerics)
      : settings_(numerics.momentum),
        preconditioner_(numerics.momentum_preconditioner),
        solver_(grid, numerics.reductions) {}

  /// From the velocity given, which has no valid ghost rows afterwards. All units call it.
  SolveReport solve(const MomentumOperator& matrix, const RowField<Execution, 2>& right_side,
                    RowField<Execution, 2>& velocity) {
    if (preconditioner_ == PreconditionerKind::jacobi) {
      JacobiPreconditioner<MomentumOperator> jacobi{matrix};
      return solver_.solve(matrix, jacobi, right_side, velocity, settings_);
    }
    IdentityPreconditioner none;
    return solver_.solve(matrix, none, right_side, velocity, settings_);
  }

 private:
  SolveSettings settings_;
  PreconditionerKind preconditioner_;
  BiCgStab<Execution, 2> solver_;
};

/// The same for the pressure equation.
template <class Execution>
class PressureSolver {
 public:
  /// @param multigrid where that is the preconditioner, none otherwise
  PressureSolver(const UnitGrid<Execution>& grid, const PressureOperator& matrix, const Numerics& numerics,
                 MultigridLevels* multigrid)
      : settings_(numerics.pressure), matrix_(matrix), solver_(grid, numerics.reductions) {
    using Jacobi = JacobiPreconditioner<PressureOperator>;
    if (multigrid != nullptr) {
      preconditioner_.template emplace<MultigridPreconditioner<Execution>>(grid, *multigrid);
    } else if (numerics.pressure_preconditioner == PreconditionerKind::jacobi) {
      preconditioner_.template emplace<Jacobi>(Jacobi{matrix});
    }
  }

  /// From the pressure given, which has no valid ghost rows afterwards. All units call it.
  SolveReport solve(const RowField<Execution>& right_side, RowField<Execution>& pressure) {
    return std::visit(
        [&](auto& preconditioner) { return solver_.solve(matrix_, preconditioner, right_side, pressure, settings_); },
        preconditioner_);
  }

 private:
  SolveSettings settings_;
  PressureOperator matrix_;
  ConjugateGradient<Execution> solver_;
  std::variant<IdentityPreconditioner, JacobiPreconditioner<PressureOperator>, MultigridPreconditioner<Execution>>
      preconditioner_;
};

}  // namespace steelyard::cavity
