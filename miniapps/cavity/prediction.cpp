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

/// What the steps of a sample took.
struct Sample {
  FlowTimes times;
  double steps = 0.0;
  Iterations iterations;  ///< of a step
};

/// Steps until that is long enough to be precise. Collective. @throws SolveFailure
Sample sample_steps(const Frame& frame, Flow& flow) {
  constexpr int fewest = 2, most = 6;
  constexpr double enough_s = 0.5;
  // The first step touches memory and wakes threads.
  FlowTimes first;
  flow.step(first);
  Sample sample;
  const double start_s = now_s();
  while (sample.steps < fewest || (sample.steps < most && frame.max(now_s() - start_s) < enough_s)) {
    const StepReport report = flow.step(sample.times);
    ++sample.steps;
    sample.iterations.momentum += report.momentum.iterations;
    for (const SolveReport& solve : report.pressure) sample.iterations.pressure += solve.iterations;
  }
  sample.iterations.momentum /= sample.steps;
  sample.iterations.pressure /= sample.steps;
  return sample;
}

/// Of synchronisations as the sample had them.
SyncCosts sampled_costs(const Sample& sample, const StepPhases& phases) {
  const auto sums = static_cast<double>(sample.times.sync_counts.sums);
  const auto exchanges = static_cast<double>(sample.times.sync_counts.exchanges);
  return {"sample", phases.sums_s / std::max(1.0, sums), phases.halos_s / std::max(1.0, exchanges), 0.0};
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
  Sample sample;
  try {
    Flow flow(frame.session(), frame.co_execution(), frame.units(), frame.slots(), sampled, numerics, sampled_rows);
    if (sampled.rows == problem.rows) flow.load(start);
    sample = sample_steps(frame, flow);
  } catch (const SolveFailure& error) {
    prediction.failure = error.what();
    return prediction;
  }
  prediction.sampled = sample.iterations;
  const std::vector<StepPhases> units = gather_phases(frame, sample.times);
  const PerPart<double> calls = step_calls(problem, numerics, sample.iterations);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double scale = static_cast<double>(rows[i]) / std::max<double>(1.0, static_cast<double>(sampled_rows[i]));
    for (std::size_t part = 0; part < calls.size(); ++part) {
      const double count = sample.steps * calls[part];
      prediction.unit_s[i][part] = count > 0.0 ? scale * units[i].work_s[part] / count : 0.0;
    }
  }
  prediction.costs = sampled_costs(sample, busiest(units));
  if (frame.options().platform.empty()) return prediction;
  const models::Platform platform = frame.platform({}).value();
  if (frame.session().size() == 1) return prediction;
  const models::Placement placement = frame.placement(platform);
  frame.collectively([&] {
    prediction.costs = sync_costs(row_bytes(problem.columns), frame.session().size(), platform, placement).front();
  });
  return prediction;
}

}  // namespace steelyard::cavity
