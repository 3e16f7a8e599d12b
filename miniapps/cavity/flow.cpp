#include "miniapps/cavity/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "comm/collective.hpp"
#include "comm/unit_exchange.hpp"
#include "comm/unit_group.hpp"
#include "core/base/errors.hpp"
#include "core/timing.hpp"
#include "miniapps/cavity/unit_flow.hpp"

namespace steelyard::cavity {
namespace {

/// @return the problem @throws InvalidArgument
const Problem& checked(const Problem& problem, std::span<const std::int64_t> rows) {
  if (std::any_of(rows.begin(), rows.end(), [](std::int64_t count) { return count < 0; }) ||
      std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) != problem.rows) {
    throw InvalidArgument(fmt::format("rows of units that are not the grid's {}", problem.rows));
  }
  const std::pair<const char*, double> positive[] = {{"rows", static_cast<double>(problem.rows)},
                                                     {"columns", static_cast<double>(problem.columns)},
                                                     {"height", problem.height},
                                                     {"Reynolds number", problem.reynolds},
                                                     {"time step", problem.time_step},
                                                     {"correctors", problem.correctors}};
  for (const auto& [name, value] : positive) {
    // Not "value <= 0", which is false for what is no number.
    if (!(value > 0.0)) throw InvalidArgument(fmt::format("{}: {} (expected a positive number)", name, value));
  }
  return problem;
}

/// Nothing where multigrid is not the pressure's preconditioner.
std::optional<MultigridLevels> make_multigrid(SharedGrid& grid, const Coefficients& of, const Numerics& numerics) {
  if (numerics.preconditioner != Preconditioner::multigrid) return std::nullopt;
  return std::optional<MultigridLevels>(
      std::in_place, grid, multigrid_levels(of.column_faces, of.row_weights, of.row_faces, of.column_weights));
}

}  // namespace

Flow::Flow(const Session& session, CoExecution& co_execution, const RankUnits& units, const std::vector<Slot>& slots,
           const Problem& problem, const Numerics& numerics, std::span<const std::int64_t> rows)
    : problem_(checked(problem, rows)),
      group_(session.comm(), co_execution, units, slots),
      grid_(group_, rows, problem.columns),
      coefficients_(problem),
      multigrid_(make_multigrid(grid_, coefficients_, numerics)) {
  MultigridLevels* const multigrid = multigrid_ ? &*multigrid_ : nullptr;
  // Each on its own thread, for its own threads touch the memory first.
  group_.run([&](const auto& peer) {
    units_.emplace(peer, peer, std::ref(grid_), problem_, numerics, coefficients_, multigrid);
  });
}

Flow::~Flow() = default;

void Flow::load(const FlowState& state) {
  if (state.rows != problem_.rows || state.columns != problem_.columns) {
    throw InvalidArgument(fmt::format("a flow on {} x {} cells (expected {} x {})", state.rows, state.columns,
                                      problem_.rows, problem_.columns));
  }
  group_.run([&](const auto& peer) { units_[peer].load(state); });
  steps_ = state.steps;
  time_ = state.time;
}

FlowState Flow::gather() {
  const bool is_root = group_.rank() == 0;
  const int host_slot = group_.slot(ProcessingUnit::Kind::host);
  const int first_slot = host_slot >= 0 ? host_slot : group_.slot(ProcessingUnit::Kind::companion);
  const int end_slot = is_root ? static_cast<int>(group_.slots().size()) : first_slot + group_.unit_count();
  const RowRange held{grid_.rows_of(first_slot).begin, grid_.rows_of(end_slot - 1).end};
  FlowState state{problem_.rows, problem_.columns, steps_, time_, {}, {}, {}, {}, {}};
  const std::array<std::vector<double>*, 5> fields = {&state.u, &state.v, &state.p, &state.u_before, &state.v_before};
  std::vector<UnitMessage> messages;
  for (auto* const field : fields) {
    field->resize(static_cast<std::size_t>(held.count() * problem_.columns));
    for (int slot = first_slot; slot < end_slot; ++slot) {
      const RowRange rows = grid_.rows_of(slot);
      messages.push_back({slot,
                          0,
                          rows.count() * problem_.columns * static_cast<std::int64_t>(sizeof(double)),
                          {field->data() + (rows.begin - held.begin) * problem_.columns}});
    }
  }
  UnitExchange exchange(group_, messages);
  group_.run([&](const auto& peer) {
    exchange.begin(peer.kind());
    units_[peer].store(state, held.begin);
    exchange.finish(peer.kind());
  });
  if (!is_root) {
    for (auto* const field : fields) field->clear();
  }
  return state;
}

StepReport Flow::step(FlowTimes& times) {
  const double start_s = now_s();
  times.sync_counts -= group_.sync_counts();
  PerUnit<StepPhases> spent;
  PerUnit<StepReport> reports;
  group_.run([&](const auto& peer) { reports[peer.kind()] = units_[peer].step(spent[peer.kind()]); });
  const bool has_host = group_.slot(ProcessingUnit::Kind::host) >= 0;
  StepReport report = has_host ? reports.host : reports.companion;
  require_solved("momentum", report.momentum);
  for (const SolveReport& solve : report.pressure) require_solved("pressure", solve);
  std::vector<double> maxima = {std::max(reports.host.mass_imbalance, reports.companion.mass_imbalance),
                                std::max(reports.host.change, reports.companion.change)};
  if (group_.size() > 1) maxima = all_max(group_.comm(), maxima);
  report.mass_imbalance = maxima[0];
  report.change = maxima[1];
  ++steps_;
  time_ += problem_.time_step;
  times.sync_counts += group_.sync_counts();
  const double around_s = now_s() - start_s - std::max(spent.host.total_s(), spent.companion.total_s());
  for (const auto kind : {ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion}) {
    if (group_.slot(kind) < 0) continue;
    spent[kind].work_s[StepPart::rest] += around_s;
    times.units[kind] += spent[kind];
  }
  return report;
}

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

namespace {

template <class Execution>
class StepRun : public KernelRun {
 public:
  StepRun(ProcessingUnit::Kind kind, const Problem& problem, const Numerics& numerics, const FlowState& start)
      : start_(start),
        group_(kind),
        grid_(group_, std::array{problem.rows}, problem.columns),
        multigrid_(make_multigrid(grid_, Coefficients(problem), numerics)),
        flow_({}, UnitPeer<Execution>(group_, kind), grid_, problem, numerics, Coefficients(problem),
              multigrid_ ? &*multigrid_ : nullptr) {}

  void run() override {
    flow_.clear();
    step();
  }
  std::span<const double> parts_s() const override { return phases_.work_s; }
  std::vector<double> check_run() override {
    flow_.load(start_);
    step();
    FlowState state = start_;
    flow_.store(state, 0);
    std::vector<double> values = state.u;
    values.insert(values.end(), state.v.begin(), state.v.end());
    values.insert(values.end(), state.p.begin(), state.p.end());
    return values;
  }

 private:
  void step() {
    phases_ = {};
    const StepReport report = flow_.step(phases_);
    require_solved("momentum", report.momentum);
    for (const SolveReport& solve : report.pressure) require_solved("pressure", solve);
  }

  FlowState start_;
  UnitGroup group_;
  SharedGrid grid_;
  std::optional<MultigridLevels> multigrid_;
  UnitFlow<Execution> flow_;
  StepPhases phases_;  ///< of the last step
};

}  // namespace

std::unique_ptr<KernelRun> make_step_run(ProcessingUnit::Kind kind, const Problem& problem, const Numerics& numerics,
                                         const FlowState& start) {
  if (kind == ProcessingUnit::Kind::host) {
    return std::make_unique<StepRun<HostExecution>>(kind, problem, numerics, start);
  }
  return std::make_unique<StepRun<CompanionExecution>>(kind, problem, numerics, start);
}

}  // namespace steelyard::cavity
