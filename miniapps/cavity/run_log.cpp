#include "miniapps/cavity/run_log.hpp"

#include <algorithm>
#include <utility>

#include "miniapps/cavity/solve_monitor.hpp"

namespace steelyard::cavity {

RunLog run_steps(Flow& flow, const Problem& problem, const SolveSettings& pressure, const RunEnd& end,
                 bool keep_reports) {
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
  }
  return log;
}

}  // namespace steelyard::cavity
