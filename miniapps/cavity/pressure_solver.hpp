#pragma once

#include <utility>
#include <variant>

#include "miniapps/cavity/conjugate_gradient.hpp"
#include "miniapps/cavity/identity_preconditioner.hpp"
#include "miniapps/cavity/jacobi_preconditioner.hpp"
#include "miniapps/cavity/merged_conjugate_gradient.hpp"
#include "miniapps/cavity/multigrid_preconditioner.hpp"
#include "miniapps/cavity/numerics.hpp"
#include "miniapps/cavity/pressure_operator.hpp"

namespace steelyard::cavity {

/// Solves the pressure equation on one unit's part of a grid, together with all other units, the way that Numerics asks
/// for.
template <class Execution>
class PressureSolver {
 public:
  /// @param multigrid where that is the preconditioner, none otherwise
  PressureSolver(const UnitGrid<Execution>& grid, const PressureOperator& matrix, const Numerics& numerics,
                 MultigridLevels* multigrid)
      : settings_(numerics.pressure), matrix_(matrix), solver_(solver(grid, numerics.reductions)) {
    if (multigrid != nullptr) {
      preconditioner_.template emplace<MultigridPreconditioner<Execution>>(grid, *multigrid);
    } else if (numerics.pressure_preconditioner == PreconditionerKind::jacobi) {
      preconditioner_.template emplace<JacobiPreconditioner<PressureOperator>>(
          JacobiPreconditioner<PressureOperator>{matrix});
    }
  }

  /// From the pressure given, which has no valid ghost rows afterwards. All units call it.
  SolveReport solve(const RowField<Execution>& right_side, RowField<Execution>& pressure) {
    return std::visit(
        [&](auto& solver, auto& preconditioner) {
          return solver.solve(matrix_, preconditioner, right_side, pressure, settings_);
        },
        solver_, preconditioner_);
  }

 private:
  using Solver = std::variant<ConjugateGradient<Execution>, MergedConjugateGradient<Execution>>;

  static Solver solver(const UnitGrid<Execution>& grid, Reductions reductions) {
    if (reductions == Reductions::merged) return Solver(std::in_place_index<1>, grid);
    return Solver(std::in_place_index<0>, grid);
  }

  SolveSettings settings_;
  PressureOperator matrix_;
  Solver solver_;
  std::variant<IdentityPreconditioner, JacobiPreconditioner<PressureOperator>, MultigridPreconditioner<Execution>>
      preconditioner_;
};

}  // namespace steelyard::cavity
