#include "miniapps/cavity/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "comm/collective.hpp"
#include "comm/unit_exchange.hpp"
#include "core/timing.hpp"
#include "miniapps/cavity/unit_flow.hpp"

namespace steelyard::cavity {
namespace {

/// Reports are the same on all units, so that all of them throw or none.
void require_solved(const StepReport& report) {
  const auto require = [](const char* system, const SolveReport& solve) {
    if (solve.outcome == SolveOutcome::converged) return;
    throw SolveFailure(fmt::format(
        "{}: the solver {} (iterations {}, restarts {}, residual {:.3e}; expected a residual of at most "
        "{:.3e})",
        system, to_string(solve.outcome), solve.iterations, solve.restarts, solve.residual, solve.tolerance));
  };
  require("momentum", report.momentum);
  for (const SolveReport& solve : report.pressure) require("pressure", solve);
}

}  // namespace

Flow::Flow(std::unique_ptr<UnitGroup> group, const Problem& problem, const Numerics& numerics,
           std::span<const std::int64_t> rows)
    : problem_(problem), group_(std::move(group)), grid_(*group_, rows, problem.columns), coefficients_(problem) {
  MultigridLevels* const multigrid = numerics.multigrid() ? &multigrid_.emplace(grid_, coefficients_) : nullptr;
  // Each on its own thread, for its own threads touch the memory first.
  group_->run([&](const auto& peer) {
    units_.emplace(peer, peer, std::ref(grid_), problem_, numerics, coefficients_, multigrid);
  });
}

Flow::~Flow() = default;

void Flow::clear() {
  group_->run([&](const auto& peer) { units_[peer].clear(); });
  steps_ = 0;
  time_ = 0.0;
}

void Flow::load(const FlowState& state) {
  group_->run([&](const auto& peer) { units_[peer].load(state); });
  steps_ = state.steps;
  time_ = state.time;
}

FlowState Flow::gather() {
  const bool is_root = group_->rank() == 0;
  const int host_slot = group_->slot(ProcessingUnit::Kind::host);
  const int first_slot = host_slot >= 0 ? host_slot : group_->slot(ProcessingUnit::Kind::companion);
  const int end_slot = is_root ? static_cast<int>(group_->slots().size()) : first_slot + group_->unit_count();
  const RowRange held{grid_.rows_of(first_slot).begin, grid_.rows_of(end_slot - 1).end};
  FlowState state{problem_.rows, problem_.columns, steps_, time_, {}, {}, {}, {}, {}};
  std::vector<UnitMessage> messages;
  for (const auto& [name, field] : flow_fields) {
    std::vector<double>& values = state.*field;
    values.resize(static_cast<std::size_t>(held.count() * problem_.columns));
    for (int slot = first_slot; slot < end_slot; ++slot) {
      const RowRange rows = grid_.rows_of(slot);
      const auto bytes = rows.count() * problem_.columns * static_cast<std::int64_t>(sizeof(double));
      messages.push_back({slot, 0, bytes, {values.data() + (rows.begin - held.begin) * problem_.columns}});
    }
  }
  UnitExchange exchange(*group_, messages);
  group_->run([&](const auto& peer) {
    exchange.begin(peer.kind());
    units_[peer].store(state, held.begin);
    exchange.finish(peer.kind());
  });
  if (is_root) return state;
  return {problem_.rows, problem_.columns, steps_, time_, {}, {}, {}, {}, {}};
}

StepReport Flow::step(PerUnit<StepPhases>& phases) {
  const double start_s = now_s();
  PerUnit<StepPhases> spent;
  PerUnit<StepReport> reports;
  group_->run([&](const auto& peer) { reports[peer.kind()] = units_[peer].step(spent[peer.kind()]); });
  const bool has_host = group_->slot(ProcessingUnit::Kind::host) >= 0;
  StepReport report = has_host ? reports.host : reports.companion;
  require_solved(report);
  std::vector<double> maxima = {std::max(reports.host.mass_imbalance, reports.companion.mass_imbalance),
                                std::max(reports.host.change, reports.companion.change)};
  if (group_->size() > 1) maxima = all_max(group_->comm(), maxima);
  report.mass_imbalance = maxima[0];
  report.change = maxima[1];
  ++steps_;
  time_ += problem_.time_step;
  const double around_s = now_s() - start_s - std::max(spent.host.total_s(), spent.companion.total_s());
  for (const auto kind : {ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion}) {
    if (group_->slot(kind) < 0) continue;
    spent[kind][StepPhase::rest] += around_s;
    phases[kind] += spent[kind];
  }
  return report;
}

Iterations RunLog::iterations() const {
  const double count = std::max(1.0, static_cast<double>(steps));
  return {static_cast<double>(momentum_iterations) / count, static_cast<double>(pressure_iterations) / count};
}

RunLog run_steps(Flow& flow, const RunEnd& end, const std::function<bool(std::int64_t)>& go_on) {
  RunLog log;
  const double flux = std::max(flow.problem().dx(), flow.problem().dy());
  while (log.steps < end.steps && !log.steady) {
    const StepReport report = flow.step(log.phases);
    ++log.steps;
    log.momentum_iterations += report.momentum.iterations;
    for (const SolveReport& solve : report.pressure) log.pressure_iterations += solve.iterations;
    log.change = report.change;
    log.mass_imbalance = std::max(log.mass_imbalance, report.mass_imbalance);
    log.mass_tolerance = std::max(log.mass_tolerance, SolveMonitor::slack * report.pressure.back().tolerance / flux);
    log.steady = end.steady > 0.0 && report.change < end.steady;
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
      finite = finite && std::isfinite(flux) && std::isfinite(state.p[state.index(j, i)]);
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
