#pragma once

#include <utility>
#include <variant>

#include "miniapps/cavity/bicgstab.hpp"
#include "miniapps/cavity/identity_preconditioner.hpp"
#include "miniapps/cavity/jacobi_preconditioner.hpp"
#include "miniapps/cavity/merged_bicgstab.hpp"
#include "miniapps/cavity/momentum_operator.hpp"
#include "miniapps/cavity/numerics.hpp"

namespace steelyard::cavity {

/// Solves the momentum equations on one unit's part of a grid, together with all other units, the way that Numerics
/// asks for.
template <class Execution>
class MomentumSolver {
 public:
  MomentumSolver(const UnitGrid<Execution>& grid, const Numerics& numerics)
      : settings_(numerics.momentum),
        preconditioner_(numerics.momentum_preconditioner),
        solver_(solver(grid, numerics.reductions)) {}

  /// From the velocity given, which has no valid ghost rows afterwards. All units call it.
  SolveReport solve(const MomentumOperator& matrix, const RowField<Execution, 2>& right_side,
                    RowField<Execution, 2>& velocity) {
    return std::visit(
        [&](auto& solver) {
          if (preconditioner_ == PreconditionerKind::jacobi) {
            JacobiPreconditioner<MomentumOperator> jacobi{matrix};
            return solver.solve(matrix, jacobi, right_side, velocity, settings_);
          }
          IdentityPreconditioner none;
          return solver.solve(matrix, none, right_side, velocity, settings_);
        },
        solver_);
  }

 private:
  using Solver = std::variant<BiCgStab<Execution, 2>, MergedBiCgStab<Execution, 2>>;

  static Solver solver(const UnitGrid<Execution>& grid, Reductions reductions) {
    if (reductions == Reductions::merged) return Solver(std::in_place_index<1>, grid);
    return Solver(std::in_place_index<0>, grid);
  }

  SolveSettings settings_;
  PreconditionerKind preconditioner_;
  Solver solver_;
};

}  // namespace steelyard::cavity
