#include "miniapps/cavity/prediction.hpp"

#include <algorithm>
#include <numeric>

#include "comm/collective.hpp"
#include "core/sweep/row_field.hpp"
#include "core/timing.hpp"
#include "miniapps/cavity/coefficients.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"

namespace steelyard::cavity {
namespace {

/// As many rows of a slot as make CG's four fields, the least that goes through memory again and again, larger than any
/// cache.
std::int64_t most_sampled_rows(const Machine& machine, const Problem& problem) {
  double cache_bytes = 0.0;
  for (const Machine::Cache& cache : machine.caches()) {
    cache_bytes = std::max(cache_bytes, static_cast<double>(cache.bytes) * cache.count);
  }
  const double bytes = 4.0 * sizeof(double) * static_cast<double>(problem.columns);
  return std::max<std::int64_t>(64, static_cast<std::int64_t>(cache_bytes / bytes) + 1);
}

/// Seconds of a part once, of as many calls as a step has.
PerPart<double> once_s(const PerPart<double>& work_s, const PerPart<double>& calls) {
  PerPart<double> seconds{};
  for (std::size_t part = 0; part < calls.size(); ++part) {
    if (calls[part] > 0.0) seconds[part] = work_s[part] / calls[part];
  }
  return seconds;
}

/// Times steps until that is long enough to be precise, and takes the medians of all that is predicted with: other
/// programs on the machine disturb some steps, but not most. Collective. @throws SolveFailure
void sample_steps(const Frame& frame, Flow& flow, const Problem& problem, const Numerics& numerics,
                  Prediction& prediction) {
  constexpr int fewest = 3, most = 9;
  constexpr double enough_s = 0.5;
  // The first step touches memory and wakes threads.
  FlowTimes first;
  flow.step(first);
  std::vector<Medians> parts(frame.slots().size());
  Medians syncs;
  Iterations sum;
  int steps = 0;
  const double start_s = now_s();
  for (; steps < fewest || (steps < most && frame.max(now_s() - start_s) < enough_s); ++steps) {
    FlowTimes times;
    const StepReport report = flow.step(times);
    Iterations of_step{static_cast<double>(report.momentum.iterations), 0.0};
    for (const SolveReport& solve : report.pressure) of_step.pressure += solve.iterations;
    sum.momentum += of_step.momentum;
    sum.pressure += of_step.pressure;
    const std::vector<StepPhases> units = gather_phases(frame, times);
    for (std::size_t i = 0; i < units.size(); ++i) {
      const PerPart<double> seconds = once_s(units[i].work_s, step_calls(problem, numerics, of_step));
      parts[i].add({seconds.begin(), seconds.end()});
    }
    const auto per = [](double seconds, std::uint64_t count) {
      return seconds / std::max(1.0, static_cast<double>(count));
    };
    syncs.add(
        {per(busiest(units).sums_s, times.sync_counts.sums), per(busiest(units).halos_s, times.sync_counts.exchanges)});
  }
  prediction.sampled = {sum.momentum / steps, sum.pressure / steps};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::vector<double> seconds = parts[i].values();
    std::copy(seconds.begin(), seconds.end(), prediction.unit_s[i].begin());
  }
  prediction.costs = {"sample", syncs.values()[0], syncs.values()[1], 0.0};
}

}  // namespace

double row_bytes(std::int64_t columns) {
  return sizeof(double) * static_cast<double>(RowField<HostExecution>::pitch_of(columns));
}

SharedCycle shared_cycle(const Problem& problem, const Numerics& numerics) {
  SharedCycle cycle;
  if (numerics.pressure_preconditioner != PreconditionerKind::multigrid) return cycle;
  const Coefficients coefficients(problem);
  const std::vector<MultigridLevel> levels = multigrid_levels(coefficients.column_faces, coefficients.row_weights,
                                                              coefficients.row_faces, coefficients.column_weights);
  double cells = 0.0, whole_cells = 0.0;
  std::int64_t finer_columns = problem.columns;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const MultigridLevel& level = levels[k];
    const bool is_whole = k + 1 == levels.size() || (k > 0 && level.cells() <= MultigridLevels::most_whole_cells);
    cells += static_cast<double>(level.cells());
    if (is_whole) {
      if (whole_cells == 0.0) cycle.syncs += {0.0, 1.0, row_bytes(level.columns()) * static_cast<double>(level.rows())};
      whole_cells += static_cast<double>(level.cells());
      continue;
    }
    // Its right side; what corrects it comes from the next level, at its columns, unless all units have that.
    cycle.syncs += {0.0, 1.0, row_bytes(level.columns()) * MultigridLevels::right_side_depth};
    if (k > 0) cycle.syncs += {0.0, 1.0, row_bytes(finer_columns) * MultigridLevels::correction_depth};
    finer_columns = level.columns();
  }
  cycle.whole_share = whole_cells / cells;
  return cycle;
}

SyncCounts step_syncs(const Problem& problem, const Numerics& numerics, const Iterations& iterations) {
  const bool merged = numerics.reductions == Reductions::merged;
  const bool multigrid = numerics.pressure_preconditioner == PreconditionerKind::multigrid;
  const double halo = row_bytes(problem.columns), velocity_halo = 2.0 * halo;
  const double correctors = problem.correctors;
  // Both products with the matrix; one more each before the first iteration of merged reductions, and for the residuals
  // at both ends of a solve.
  const SyncCounts momentum{merged ? 2.0 : 3.0, 2.0, 2.0 * velocity_halo};
  const SyncCounts pressure{merged ? 1.0 : multigrid ? 3.0 : 2.0, 1.0, halo};
  const double solve = merged ? 3.0 : 2.0;
  SyncCounts syncs = iterations.momentum * momentum;
  syncs += {solve, solve, solve * velocity_halo};
  syncs += iterations.pressure * pressure;
  syncs += correctors * SyncCounts{solve + 1.0, solve, solve * halo};
  syncs += step_calls(problem, numerics, iterations)[StepPart::multigrid] * shared_cycle(problem, numerics).syncs;
  // Estimate, divergence and correction; the pressure's mean and the new velocity.
  syncs += correctors * SyncCounts{0.0, 3.0, 2.0 * velocity_halo + halo};
  syncs += {1.0, 1.0, velocity_halo};
  return syncs;
}

std::vector<double> Prediction::unit_step_s(const PerPart<double>& calls) const {
  std::vector<double> seconds;
  for (const PerPart<double>& unit : unit_s) {
    seconds.push_back(std::inner_product(calls.begin(), calls.end(), unit.begin(), 0.0));
  }
  return seconds;
}

std::vector<StepPhases> gather_phases(const Frame& frame, const FlowTimes& times) {
  std::vector<StepPhases> units(frame.slots().size());
  const auto gather = [&](double host_s, double companion_s, const auto& member) {
    const std::vector<double> seconds = frame.gather_seconds({host_s, companion_s});
    for (std::size_t i = 0; i < units.size(); ++i) member(units[i]) = seconds[i];
  };
  const StepPhases &host = times.units.host, &companion = times.units.companion;
  for (std::size_t part = 0; part < host.work_s.size(); ++part) {
    gather(host.work_s[part], companion.work_s[part], [&](StepPhases& unit) -> double& { return unit.work_s[part]; });
  }
  gather(host.sums_s, companion.sums_s, [](StepPhases& unit) -> double& { return unit.sums_s; });
  gather(host.halos_s, companion.halos_s, [](StepPhases& unit) -> double& { return unit.halos_s; });
  return units;
}

const StepPhases& busiest(const std::vector<StepPhases>& units) {
  return *std::ranges::max_element(units, {}, &StepPhases::own_s);
}

Prediction predict(Frame& frame, const Problem& problem, const Numerics& numerics,
                   const std::vector<std::int64_t>& rows, const FlowState& start) {
  Prediction prediction;
  prediction.unit_s.resize(rows.size());
  std::vector<std::int64_t> sampled_rows;
  const std::int64_t most_rows = most_sampled_rows(frame.session().machine(), problem);
  for (const std::int64_t count : rows) sampled_rows.push_back(std::min(count, most_rows));
  Problem sampled = problem;
  sampled.rows = std::accumulate(sampled_rows.begin(), sampled_rows.end(), std::int64_t{0});
  sampled.height = problem.dy() * static_cast<double>(sampled.rows);
  try {
    Flow flow(frame.session(), frame.co_execution(), frame.units(), frame.slots(), sampled, numerics, sampled_rows);
    if (sampled.rows == problem.rows) flow.load(start);
    sample_steps(frame, flow, problem, numerics, prediction);
  } catch (const SolveFailure& error) {
    prediction.failure = error.what();
    return prediction;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double scale = static_cast<double>(rows[i]) / std::max(1.0, static_cast<double>(sampled_rows[i]));
    for (double& seconds : prediction.unit_s[i]) seconds *= scale;
  }
  if (frame.options().platform.empty()) return prediction;
  const models::Platform platform = frame.platform({}).value();
  if (frame.session().size() == 1) return prediction;
  const models::Placement placement = frame.placement(platform);
  frame.collectively([&] {
    prediction.costs = sync_costs(row_bytes(problem.columns), frame.session().size(), platform, placement).front();
  });
  prediction.by_channels = true;
  return prediction;
}

}  // namespace steelyard::cavity
