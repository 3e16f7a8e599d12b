#include "miniapps/cavity/time_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "miniapps/cavity/solvers/solve_monitor.hpp"

namespace steelyard::cavity {

RunLog run_steps(Flow& flow, const Problem& problem, const SolveSettings& pressure, const RunEnd& end,
                 bool keep_reports, const std::function<bool(std::int64_t)>& go_on) {
  RunLog log;
  const double flux = std::max(problem.dx(), problem.dy());
  while (log.steps < end.steps && !log.steady) {
    StepReport report = flow.step(log.times);
    ++log.steps;
    log.momentum_iterations += report.momentum.iterations;
    log.restarts += report.momentum.restarts;
    for (const SolveReport& solve : report.pressure) {
      log.pressure_iterations += solve.iterations;
      log.restarts += solve.restarts;
    }
    log.change = report.change;
    log.mass_imbalance = std::max(log.mass_imbalance, report.mass_imbalance);
    const double allowed =
        SolveMonitor::slack * (pressure.relative * report.pressure.back().right_side + pressure.absolute);
    log.mass_tolerance = std::max(log.mass_tolerance, allowed / flux);
    log.steady = end.steady > 0.0 && report.change < end.steady;
    if (keep_reports) log.reports.push_back(std::move(report));
    if (go_on && !go_on(log.steps)) break;
  }
  return log;
}

double net_flux(const Problem& problem, const FlowState& state) {
  const double dx = problem.dx(), dy = problem.dy();
  double largest = 0.0;
  bool finite = true;
  for (std::int64_t j = 0; j < problem.rows; ++j) {
    for (std::int64_t i = 0; i < problem.columns; ++i) {
      const double flux =
          dy * (state.u_at(j, i + 1) - state.u_at(j, i)) + dx * (state.v_at(j + 1, i) - state.v_at(j, i));
      largest = std::max(largest, std::abs(flux));
      // A NaN compares as nothing, least of all as large.
      finite = finite && std::isfinite(flux) && std::isfinite(state.p_at(j, i));
    }
  }
  return finite ? largest / std::max(dx, dy) : std::numeric_limits<double>::infinity();
}

FoundError check_mass(const Problem& problem, const FlowState& start, const FlowState& state, const RunLog& log) {
  // Velocities up to 1, four of them, and a right-hand side that is itself a difference of such fluxes.
  constexpr double rounding = 64.0 * std::numeric_limits<double>::epsilon();
  FoundError found;
  found.error = state.u.empty() ? 0.0 : std::max(net_flux(problem, state), log.mass_imbalance);
  found.tolerance = (log.steps > 0 ? log.mass_tolerance : net_flux(problem, start)) + rounding;
  found.against = "conservation of mass in every cell at every step";
  return found;
}

}  // namespace steelyard::cavity
