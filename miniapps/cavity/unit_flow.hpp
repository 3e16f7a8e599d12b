#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/memory/host_copy.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/sweep/row_field.hpp"
#include "core/sweep/row_sweep.hpp"
#include "core/sweep/sweep_body.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/multigrid/multigrid_preconditioner.hpp"
#include "miniapps/cavity/operators.hpp"
#include "miniapps/cavity/problem.hpp"
#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"

namespace steelyard::cavity {
namespace detail {

/// w = 3/2 u - 1/2 of u before.
struct Extrapolate {
  RowAccess<2> w, u, before;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    w(c, j, i) = 1.5 * u(c, j, i) - 0.5 * before(c, j, i);
  }
};

/// Component c of grad p where that of the velocity is.
struct PressureGradient {
  RowAccess<1> p;
  double over_dx, over_dy;

  KOKKOS_FORCEINLINE_FUNCTION double operator()(const int c, const std::int64_t j, const Column i) const {
    return c == 0 ? over_dx * (p(j, i) - p(j, i - 1)) : over_dy * (p(j, i) - p(j - 1, i));
  }
};

/// b = u / dt + lid, 2 nu / dy^2 in the top row of u, and for Crank-Nicolson the old half; right = b - grad p; x = u.
struct AssembleMomentumRhs {
  MomentumOperator momentum;
  PressureGradient gradient;
  RowAccess<2> u, x, b, right;
  double over_dt;
  std::int64_t top;
  double lid;
  bool old_half;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = u(c, j, i);
    double known = over_dt * value;
    // M has one half of convection and diffusion beside 1 / dt.
    if (old_half) known -= (momentum.diagonal(c, j, i) - over_dt) * value + momentum.neighbours(u, c, j, i);
    if (c == 0 && j == top) known += lid;
    const double slope = gradient(c, j, i);
    b(c, j, i) = known;
    right(c, j, i) = (known - slope) * momentum.unknown(c, j, i);
    x(c, j, i) = value;
  }
};

/// h = (b - N x) / a.
struct EstimateVelocity {
  MomentumOperator momentum;
  RowAccess<2> x, b, h;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    const double value = (b(c, j, i) - momentum.neighbours(x, c, j, i)) / momentum.diagonal(c, j, i);
    h(c, j, i) = value * momentum.unknown(c, j, i);
  }
};

/// -div h, integrated over cells.
struct NegativeDivergence {
  RowAccess<2> h;
  RowAccess<1> source;
  double dx, dy;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const Column i) const {
    source(j, i) = dy * (h(0, j, i) - h(0, j, i + 1)) + dx * (h(1, j, i) - h(1, j + 1, i));
  }
};

/// x = h - grad p / a.
struct CorrectVelocity {
  MomentumOperator momentum;
  PressureGradient gradient;
  RowAccess<2> x, h;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const int c, const std::int64_t j, const Column i) const {
    const double slope = gradient(c, j, i);
    const double value = h(c, j, i) - slope / momentum.diagonal(c, j, i);
    x(c, j, i) = value * momentum.unknown(c, j, i);
  }
};

/// p = p - number.
struct Subtract {
  RowAccess<1> p;
  double number;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const Column i) const { p(j, i) -= number; }
};

/// |net flux| over a cell's longer edge, and changes of both velocities over the time step.
struct ImbalanceAndChanges {
  RowAccess<2> u, before;
  double dx, dy, over_edge, over_dt;

  KOKKOS_FORCEINLINE_FUNCTION Terms<3> operator()(const std::int64_t j, const Column i) const {
    const double flux = dy * (u(0, j, i + 1) - u(0, j, i)) + dx * (u(1, j + 1, i) - u(1, j, i));
    return {{over_edge * fabs(flux), over_dt * fabs(u(0, j, i) - before(0, j, i)),
             over_dt * fabs(u(1, j, i) - before(1, j, i))}};
  }
};

/// Copies a unit's own rows between a field and host memory, where each component's rows lie without gaps: out of the
/// field or, of const values, into it, where ghost columns become 0 and ghost rows stay as they are. Fences.
/// @param first_rows of each component: the unit's first row in host memory
template <class Value, class Execution, int Components>
void copy_rows(const Execution& space, const RowField<Execution, Components>& field,
               const std::array<Value*, static_cast<std::size_t>(Components)>& first_rows) {
  if (field.rows().empty()) return;
  constexpr bool into_field = std::is_const_v<Value>;
  const auto elements = static_cast<std::size_t>(field.rows().count() * field.row_elements());
  const UntouchedArray<double, PinnedMemory> staged("steelyard::sweep::staged_rows", elements);
  if constexpr (into_field) std::fill_n(staged.data(), elements, 0.0);
  if constexpr (!into_field) copy_to_host(space, staged.data(), field.slice(), elements);
  space.fence();
  for (std::int64_t row = 0; row < field.rows().count() * Components; ++row) {
    double* const padded = staged.data() + row * field.pitch() + field.left_ghost_columns();
    Value* const dense = first_rows[static_cast<std::size_t>(row % Components)] + row / Components * field.columns();
    if constexpr (into_field) std::copy_n(dense, field.columns(), padded);
    if constexpr (!into_field) std::copy_n(padded, field.columns(), dense);
  }
  if constexpr (into_field) copy_from_host(space, field.slice(), staged.data(), elements);
  space.fence();
}

}  // namespace detail

/// One unit's part of the flow, and the steps of PISO there, together with all other units. Between time steps the
/// velocities' and the pressure's halos, one row deep, are valid. Source: 000, section 5.3.1; Issa's PISO.
///
/// With M split into its diagonal a and N, what neighbours contribute, a step from n to n + 1 is
///   M x = b - grad p^n,   b = u^n / dt + lid, and for Crank-Nicolson the old half of convection and diffusion;
/// then for every corrector
///   h = (b - N x) / a,   L p = -div h,   x = h - grad p / a,
/// so that the net flux out of each cell is what the last pressure solution left of its equation.
template <class Execution>
class UnitFlow {
 public:
  /// At rest. To be called by the unit's own thread, as all else. @param multigrid null without preconditioner
  UnitFlow(Execution, const UnitPeer<Execution>& peer, SharedGrid& grid, const Problem& problem,
           const Numerics& numerics, const Coefficients& coefficients, MultigridLevels* multigrid)
      : problem_(problem),
        grid_(peer, grid),
        coefficients_(peer.space(), coefficients),
        now_(grid_.template field<2>()),
        other_(grid_.template field<2>()),
        known_(grid_.template field<2>()),
        estimate_(grid_.template field<2>()),
        pressure_(grid_.field()),
        source_(grid_.field()),
        numerics_(numerics),
        momentum_solver_(grid_, numerics.reductions),
        pressure_solver_(grid_, numerics.reductions) {
    if (extrapolates()) convecting_ = grid_.template field<2>();
    if (multigrid == nullptr) return;
    multigrid_.emplace(grid_, *multigrid);
    cycle_ = [this](auto& r, auto& z) { multigrid_->apply(grid_, r, z); };
  }
  UnitFlow(const UnitFlow&) = delete;
  UnitFlow& operator=(const UnitFlow&) = delete;

  /// All units call it.
  void load(const FlowState& state) {
    const Execution& space = grid_.space();
    const std::size_t first = state.index(grid_.rows().begin, 0);
    detail::copy_rows<const double>(space, now_, {state.u.data() + first, state.v.data() + first});
    detail::copy_rows<const double>(space, other_, {state.u_before.data() + first, state.v_before.data() + first});
    detail::copy_rows<const double>(space, pressure_, {state.p.data() + first});
    grid_.exchange(now_);
    grid_.exchange(other_);
    grid_.exchange(pressure_);
  }

  /// Goes back to rest.
  void clear() {
    set_to_zero(grid_, now_);
    set_to_zero(grid_, other_);
    set_to_zero(grid_, pressure_);
  }

  /// Writes the unit's rows. @param first_row of the grid that `state` has memory for
  void store(FlowState& state, std::int64_t first_row) const {
    const Execution& space = grid_.space();
    const std::size_t first = state.index(grid_.rows().begin - first_row, 0);
    detail::copy_rows<double>(space, now_, {state.u.data() + first, state.v.data() + first});
    detail::copy_rows<double>(space, other_, {state.u_before.data() + first, state.v_before.data() + first});
    detail::copy_rows<double>(space, pressure_, {state.p.data() + first});
  }

  /// One time step. All units call it. Where a solver fails, its report is the last one, and the flow is unusable then.
  /// @param phases of the unit's time are added to @return with the imbalance and change of the unit's own cells only
  StepReport step(StepPhases& phases) {
    const auto syncs_before = grid_.sync_seconds();
    const double start_s = grid_.own_clock_s();
    StepPhases spent;
    StepReport report = iterate(spent);
    spent[StepPhase::multigrid] = multigrid_ ? multigrid_->take_work_s() : 0.0;
    spent[StepPhase::pressure] -= spent[StepPhase::multigrid];
    spent[StepPhase::rest] = grid_.own_clock_s() - start_s - spent.own_s();
    spent[StepPhase::sums] = grid_.sync_seconds().sums_s - syncs_before.sums_s;
    spent[StepPhase::halos] = grid_.sync_seconds().halos_s - syncs_before.halos_s;
    phases += spent;
    return report;
  }

 private:
  /// The step; the momentum's solve is M x = b - grad p from x on. @param spent by the solves is set
  StepReport iterate(StepPhases& spent) {
    StepReport report;
    // Half a step ahead, with its halo.
    if (extrapolates()) {
      sweep_with_halo("steelyard::cavity::extrapolate",
                      each_component<2>(detail::Extrapolate{convecting_.access(), now_.access(), other_.access()}));
    }
    const MomentumOperator momentum = coefficients_.momentum(extrapolates() ? convecting_.access() : now_.access());
    assemble_momentum_rhs(momentum);
    report.momentum = timed(spent[StepPhase::momentum],
                            [&] { return momentum_solver_.solve(momentum, estimate_, other_, numerics_.momentum); });
    if (report.momentum.outcome != SolveOutcome::converged) return report;
    for (int corrector = 0; corrector < problem_.correctors; ++corrector) {
      estimate(momentum);
      report.pressure.push_back(timed(spent[StepPhase::pressure], [&] {
        return pressure_solver_.solve(coefficients_.pressure(), source_, pressure_, numerics_.pressure, cycle_);
      }));
      if (report.pressure.back().outcome != SolveOutcome::converged) return report;
      correct(momentum);
    }
    std::swap(now_, other_);
    // Its equation leaves the pressure's mean open.
    sweep_with_halo("steelyard::cavity::center_pressure", detail::Subtract{pressure_.access(), mean(grid_, pressure_)});
    grid_.exchange(now_);
    compute_diagnostics(report);
    return report;
  }

  /// b, the right side of momentum b - grad p, in the estimate's memory, and the old velocity to start from.
  void assemble_momentum_rhs(const MomentumOperator& momentum) {
    const auto u = now_.access(), x = other_.access(), b = known_.access(), right = estimate_.access();
    const auto p = pressure_.access();
    const double over_dt = 1.0 / problem_.time_step, dy = problem_.dy();
    const double lid_source = 2.0 * problem_.viscosity() / (dy * dy);
    const detail::AssembleMomentumRhs body{momentum,   gradient(),    u, x, b, right, over_dt, problem_.rows - 1,
                                           lid_source, extrapolates()};
    // The fields are named so that hosts sweep one component after the other: both together read more rows than they
    // prefetch well.
    grid_.for_cells("steelyard::cavity::momentum_rhs", reading(fields(u, p, b, right, x), each_component<2>(body)));
  }

  /// h, and from it the right side of the pressure equation.
  void estimate(const MomentumOperator& momentum) {
    const auto x = other_.access(), b = known_.access(), h = estimate_.access();
    grid_.for_cells_with_halo(other_, "steelyard::cavity::estimate",
                              reading(fields(around_cells(x), b, momentum, h),
                                      each_component<2>(detail::EstimateVelocity{momentum, x, b, h})));
    grid_.for_cells_with_halo(estimate_, "steelyard::cavity::divergence",
                              detail::NegativeDivergence{h, source_.access(), problem_.dx(), problem_.dy()});
  }

  void correct(const MomentumOperator& momentum) {
    grid_.for_cells_with_halo(
        pressure_, "steelyard::cavity::correct",
        each_component<2>(detail::CorrectVelocity{momentum, gradient(), other_.access(), estimate_.access()}));
  }

  void compute_diagnostics(StepReport& report) const {
    const double dx = problem_.dx(), dy = problem_.dy(), edge = std::max(dx, dy);
    const detail::ImbalanceAndChanges body{now_.access(), other_.access(),         dx, dy,
                                           1.0 / edge,    1.0 / problem_.time_step};
    std::array<double, 3> maxima = {};
    grid_.peer().compute([&] {
      maxima =
          grid_.cell_sums().template maxima<3>(grid_.space(), "steelyard::cavity::diagnostics", grid_.columns(), body);
    });
    report.mass_imbalance = maxima[0];
    report.change = std::max(maxima[1], maxima[2]);
  }

  template <class Solve>
  SolveReport timed(double& work_s, const Solve& solve) const {
    const double start_s = grid_.own_clock_s();
    SolveReport report = solve();
    work_s += grid_.own_clock_s() - start_s;
    return report;
  }

  detail::PressureGradient gradient() const { return {pressure_.access(), 1.0 / problem_.dx(), 1.0 / problem_.dy()}; }
  bool extrapolates() const { return problem_.scheme == TimeScheme::crank_nicolson; }

  /// Sweeps over the unit's rows and the ghost rows beside them.
  template <class Body>
  void sweep_with_halo(const char* label, const Body& body) const {
    RowRange rows = grid_.rows();
    if (rows.empty()) return;
    rows = {std::max<std::int64_t>(rows.begin - 1, 0), std::min(rows.end + 1, problem_.rows)};
    grid_.peer().compute([&] { for_cells(grid_.space(), label, rows, grid_.columns(), body); });
  }

  Problem problem_;
  UnitGrid<Execution> grid_;
  UnitCoefficients<Execution> coefficients_;
  RowField<Execution, 2> now_;         ///< u^n
  RowField<Execution, 2> other_;       ///< u^(n-1) between steps, x in a step
  RowField<Execution, 2> convecting_;  ///< Crank-Nicolson only
  RowField<Execution, 2> known_;       ///< b
  RowField<Execution, 2> estimate_;    ///< h
  RowField<Execution> pressure_;
  RowField<Execution> source_;  ///< -div h
  Numerics numerics_;
  BiCgStab<Execution, 2> momentum_solver_;
  ConjugateGradient<Execution> pressure_solver_;
  std::optional<MultigridPreconditioner<Execution>> multigrid_;  ///< where it is the pressure's preconditioner
  typename ConjugateGradient<Execution>::Preconditioner cycle_;  ///< of it, if any
};

}  // namespace steelyard::cavity
