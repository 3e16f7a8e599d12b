#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "comm/unit_grid.hpp"
#include "core/sweep/sweep_body.hpp"
#include "miniapps/cavity/problem.hpp"

// Start and end of both solvers.

namespace steelyard::cavity {

/// For messages: the solver …
inline const char* to_string(SolveOutcome outcome) {
  constexpr std::array words{"converged", "did not converge within the iterations allowed", "stagnated", "broke down",
                             "met a number that is not finite"};
  return words.at(static_cast<std::size_t>(outcome));
}

/// Watches a linear solver's residuals and decides when it has done enough, and when it does not get anywhere. Solvers
/// update residuals by recurrences, which rounding lets drift from b - A x: what they call solved counts only once the
/// true residual, computed from x, says so too; otherwise they restart from it, as long as that brings it down.
class SolveMonitor {
 public:
  /// Factor by which the true residual may exceed the tolerance where the recurrence's does not.
  static constexpr double slack = 1.1;
  /// Stagnation is a best residual that has not come down by this factor within patience() iterations.
  static constexpr double least_progress = 0.9;
  /// Restarts that leave more than this part of the true residual do not help.
  static constexpr double least_restart_progress = 0.5;

  /// @param rows,columns of the grid, which a Krylov solver needs as many iterations to cross
  SolveMonitor(const SolveSettings& settings, std::int64_t rows, std::int64_t columns)
      : settings_(settings),
        patience_(static_cast<int>(std::min<std::int64_t>(100 + 4 * (rows + columns), 1'000'000'000))) {}

  /// Whether iterations from a true residual are needed and make sense, at the start and after a restart.
  bool should_iterate(double residual, double right_side) {
    seems_solved_ = false;
    report_.residual = best_ = residual;
    best_iteration_ = report_.iterations;
    report_.right_side = right_side;
    report_.tolerance = settings_.relative * right_side;
    if (report_.iterations == 0) last_true_ = residual;
    if (settings_.fixed_iterations) return residual > 0.0 && report_.iterations < settings_.most_iterations;
    if (!std::isfinite(residual) || !std::isfinite(right_side)) return fail(SolveOutcome::not_finite);
    if (residual <= report_.tolerance) return false;
    if (report_.iterations >= settings_.most_iterations) return fail(SolveOutcome::too_many_iterations);
    return true;
  }

  /// Counts an iteration. @param residual after it, by the recurrence
  bool should_continue(double residual) {
    ++report_.iterations;
    report_.residual = residual;
    if (settings_.fixed_iterations) {
      seems_solved_ = report_.iterations >= settings_.most_iterations;
      return residual > 0.0 && !seems_solved_;
    }
    if (!std::isfinite(residual)) return fail(SolveOutcome::not_finite);
    seems_solved_ = residual <= report_.tolerance;
    if (seems_solved_) return false;
    if (report_.iterations >= settings_.most_iterations) return fail(SolveOutcome::too_many_iterations);
    if (residual <= least_progress * best_) {
      best_ = residual;
      best_iteration_ = report_.iterations;
    } else if (report_.iterations - best_iteration_ >= patience_) {
      return fail(SolveOutcome::stagnated);
    }
    return true;
  }

  /// Where should_continue() was false: whether the recurrence's residual is small enough.
  bool seems_solved() const { return seems_solved_; }

  /// Whether to restart from the true residual of what seems solved.
  bool should_restart(double true_residual) {
    report_.residual = true_residual;
    if (settings_.fixed_iterations) return false;
    if (!std::isfinite(true_residual)) return fail(SolveOutcome::not_finite);
    if (true_residual <= slack * report_.tolerance) return false;
    const bool helps = true_residual <= least_restart_progress * last_true_;
    last_true_ = true_residual;
    return helps ? count_restart(SolveOutcome::stagnated) : fail(SolveOutcome::stagnated);
  }

  /// Whether to restart in another way, where a divisor has vanished or is not finite.
  bool should_restart_after_breakdown(double divisor) {
    if (settings_.fixed_iterations) return false;
    return std::isfinite(divisor) ? count_restart(SolveOutcome::broke_down) : fail(SolveOutcome::not_finite);
  }

  /// Ends the solve for a reason that the solver found. @return false
  bool fail(SolveOutcome outcome) {
    if (!settings_.fixed_iterations) report_.outcome = outcome;
    return false;
  }

  /// Whether b is 0, so that x = 0, which the caller sets, solves the system.
  bool ends_with_zero() {
    if (report_.right_side != 0.0) return false;
    report_.residual = 0.0;
    return true;
  }

  double tolerance() const { return report_.tolerance; }
  int patience() const { return patience_; }
  const SolveReport& report() const { return report_; }

 private:
  bool count_restart(SolveOutcome otherwise) {
    if (report_.restarts >= settings_.most_restarts) return fail(otherwise);
    ++report_.restarts;
    return true;
  }

  SolveSettings settings_;
  int patience_;
  SolveReport report_;
  bool seems_solved_ = false;
  double best_ = 0.0;  ///< residual at the last progress
  int best_iteration_ = 0;
  double last_true_ = 0.0;
};

namespace detail {

/// r = b - offset - A x, and a copy of r, which may be r itself; r^T r and b^T b.
template <class Operator, int Components>
struct StartResidual {
  Operator matrix;
  RowAccess<Components> b, x, r, copy;
  double offset;

  KOKKOS_FORCEINLINE_FUNCTION Terms<2> operator()(const int c, const std::int64_t j, const Column i) const {
    const double residual = b(c, j, i) - offset - matrix(x, c, j, i);
    r(c, j, i) = residual;
    copy(c, j, i) = residual;
    return {{residual * residual, b(c, j, i) * b(c, j, i)}};
  }
};

/// r^T r of r = b - offset - A x.
template <class Operator, int Components>
struct SquaredResidual {
  Operator matrix;
  RowAccess<Components> b, x;
  double offset;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const int c, const std::int64_t j, const Column i) const {
    const double residual = b(c, j, i) - offset - matrix(x, c, j, i);
    return {{residual * residual}};
  }
};

/// The sum of x.
struct SumOfCells {
  RowAccess<1> x;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const std::int64_t j, const Column i) const { return {{x(j, i)}}; }
};

/// x = 0.
template <int Components>
struct SetToZero {
  RowAccess<Components> x;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    x(c, j, i) = 0.0;
  }
};

}  // namespace detail

/// Mean of the values of all units' cells.
template <class Execution>
double mean(const UnitGrid<Execution>& grid, const RowField<Execution>& field) {
  const double sum = grid.template totals<1>("steelyard::cavity::mean", detail::SumOfCells{field.access()})[0];
  return sum / (static_cast<double>(grid.shared().rows()) * static_cast<double>(grid.columns()));
}

/// x = 0 in the unit's own rows.
template <class Execution, int Components>
void set_to_zero(const UnitGrid<Execution>& grid, RowField<Execution, Components>& field) {
  grid.for_cells("steelyard::cavity::zero", each_component<Components>(detail::SetToZero<Components>{field.access()}));
}

/// Solves A x = b - offset from the x given: computes r = b - offset - A x, lets the method iterate from there, and
/// does so again from the true residual where that is necessary. All units call it.
/// @param copy gets a copy of every such r; may be r itself
/// @param iterate called with the monitor, r^T r and whether the last call ended by a breakdown; returns the divisor
/// that has vanished, if that has ended the iterations
template <class Execution, int Components, class Operator, class Iterate>
SolveReport solve_by(const UnitGrid<Execution>& grid, const Operator& matrix,
                     const RowField<Execution, Components>& right_side, const double offset,
                     RowField<Execution, Components>& solution, const RowField<Execution, Components>& r,
                     const RowField<Execution, Components>& copy, const SolveSettings& settings,
                     const Iterate& iterate) {
  const auto b = right_side.access(), x = solution.access();
  const auto true_residual = [&] {
    const detail::SquaredResidual<Operator, Components> squared{matrix, b, x, offset};
    return std::sqrt(grid.template totals_with_halo<1>(solution, "steelyard::cavity::true_residual",
                                                       each_component<Components>(squared))[0]);
  };
  SolveMonitor monitor(settings, grid.shared().rows(), grid.columns());
  std::optional<double> vanished;
  do {
    const detail::StartResidual<Operator, Components> start{matrix, b, x, r.access(), copy.access(), offset};
    const auto [rr, bb] = grid.template totals_with_halo<2>(
        solution, "steelyard::cavity::start_residual",
        reading(fields(b, around_cells(x), matrix), each_component<Components>(start)));
    if (!monitor.should_iterate(std::sqrt(rr), std::sqrt(bb))) break;
    if (monitor.ends_with_zero()) {
      set_to_zero(grid, solution);
      break;
    }
    vanished = iterate(monitor, rr, vanished.has_value());
  } while (vanished ? monitor.should_restart_after_breakdown(*vanished)
                    : monitor.seems_solved() && monitor.should_restart(true_residual()));
  return monitor.report();
}

}  // namespace steelyard::cavity
