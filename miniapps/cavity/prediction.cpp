#include "miniapps/cavity/prediction.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "comm/collective.hpp"
#include "comm/unit_group.hpp"
#include "core/sweep/row_field.hpp"
#include "core/timing.hpp"
#include "miniapps/cavity/coefficients.hpp"
#include "miniapps/cavity/flow.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"

namespace steelyard::cavity {
namespace {

double row_bytes(std::int64_t columns) {
  return sizeof(double) * static_cast<double>(RowField<HostExecution>::pitch_of(columns));
}

/// What one unit's sampled steps needed for a part.
struct PartSample {
  double work_s = 0.0;  ///< of an iteration or, of the rest, of a step
  double calls = 0.0;   ///< a step
  SyncCounts syncs;     ///< of a call
};

/// One unit's sampled steps.
class SampledSteps {
 public:
  SampledSteps(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows, std::int64_t most_rows)
      : kind_(kind), problem_(problem) {
    problem_.rows = std::min(rows, most_rows);
    if (rows <= 0) return;
    problem_.height = problem.dy() * static_cast<double>(problem_.rows);
    scale_ = static_cast<double>(rows) / static_cast<double>(problem_.rows);
  }

  /// Both are called by the unit's own thread.
  void allocate(const Numerics& numerics) {
    if (problem_.rows > 0) flow_ = std::make_unique<Flow>(kind_, problem_, numerics);
  }
  void run() {
    if (!flow_) return;
    try {
      run_steps();
    } catch (const SolveFailure& error) {
      failure_ = error.what();
    }
  }
  const std::string& failure() const { return failure_; }

  /// Zeros for a unit without rows.
  PerPart<PartSample> parts() const {
    if (steps_ == 0) return {};
    SolveTimes others{times_.total_s - times_.momentum.total_s - times_.pressure.total_s, times_.sync_counts};
    others.sync_counts -= times_.momentum.sync_counts;
    others.sync_counts -= times_.pressure.sync_counts;
    return {part(times_.momentum, momentum_iterations_), part(times_.pressure, pressure_iterations_),
            part(others, steps_)};
  }

 private:
  void run_steps() {
    constexpr int fewest = 2, most = 6;
    constexpr double enough_s = 0.5;
    // The first step touches memory and wakes threads.
    FlowTimes first;
    flow_->step(first);
    const double start_s = now_s();
    while (steps_ < fewest || (steps_ < most && now_s() - start_s < enough_s)) {
      const StepReport report = flow_->step(times_);
      ++steps_;
      momentum_iterations_ += report.momentum.iterations;
      for (const SolveReport& solve : report.pressure) pressure_iterations_ += solve.iterations;
    }
  }

  PartSample part(const SolveTimes& all, double calls) const {
    const double of = std::max(1.0, calls);
    return {scale_ * all.total_s / of,
            calls / steps_,
            {static_cast<double>(all.sync_counts.sums) / of, static_cast<double>(all.sync_counts.exchanges) / of,
             static_cast<double>(all.sync_counts.halo_bytes) / of}};
  }

  ProcessingUnit::Kind kind_;
  Problem problem_;
  double scale_ = 1.0;
  std::unique_ptr<Flow> flow_;
  FlowTimes times_;
  int steps_ = 0;
  double momentum_iterations_ = 0.0;
  double pressure_iterations_ = 0.0;
  std::string failure_;
};

/// As many rows as make CG's four fields, the least that goes through memory again and again, larger than any cache.
std::int64_t most_sampled_rows(const Machine& machine, const Problem& problem) {
  double cache_bytes = 0.0;
  for (const Machine::Cache& cache : machine.caches()) {
    cache_bytes = std::max(cache_bytes, static_cast<double>(cache.bytes) * cache.count);
  }
  const double bytes = 4.0 * sizeof(double) * static_cast<double>(problem.columns);
  return std::max<std::int64_t>(64, static_cast<std::int64_t>(cache_bytes / bytes) + 1);
}

/// Samples steps on both units of a rank at once. @return the same failure on all ranks, or none. Collective.
std::string sample_steps(Frame& frame, const Problem& problem, const Numerics& numerics, const UnitSizes& share,
                         PerUnit<PerPart<PartSample>>& samples) {
  using enum ProcessingUnit::Kind;
  const std::int64_t most_rows = most_sampled_rows(frame.session().machine(), problem);
  SampledSteps on_host(host, problem, share.host, most_rows);
  SampledSteps on_companion(companion, problem, share.companion, most_rows);
  frame.collectively([&] {
    frame.co_execution().run([&] { on_host.allocate(numerics); }, [&] { on_companion.allocate(numerics); });
    frame.co_execution().run([&] { on_host.run(); }, [&] { on_companion.run(); });
  });
  samples = {on_host.parts(), on_companion.parts()};
  const std::string& own = on_host.failure().empty() ? on_companion.failure() : on_host.failure();
  for (const std::string& of_rank : all_gather_text(frame.comm(), own)) {
    if (!of_rank.empty()) return of_rank;
  }
  return "";
}

/// Seconds that a sum takes the two units of a rank, of the rank that takes longest; 0 for ranks with one. Collective.
double unit_sync_s(Frame& frame) {
  constexpr int warmups = 100, rounds = 1000;
  double seconds = 0.0;
  if (frame.units().count() == 2) {
    UnitGroup pair(MPI_COMM_SELF, frame.co_execution(), frame.units(),
                   {{0, ProcessingUnit::Kind::host}, {0, ProcessingUnit::Kind::companion}});
    pair.run([&](const auto& peer) {
      double start_s = 0.0;
      for (int round = -warmups; round < rounds; ++round) {
        if (round == 0) start_s = now_s();
        const std::array<CompensatedSum, 1> one{{{1.0, 0.0}}};
        std::array<double, 1> total;
        peer.sum(one, total);
      }
      if (peer.kind() == ProcessingUnit::Kind::host) seconds = (now_s() - start_s) / rounds;
    });
  }
  return frame.max(seconds);
}

/// Seconds of one synchronisation, between ranks and between the two units of a rank. Collective.
SyncCosts measured_sync_costs(Frame& frame, const Problem& problem) {
  // Messages are halo rows; between them a rank sweeps over its share of some four fields.
  const double bytes = row_bytes(problem.columns);
  const double footprint_bytes = 4.0 * bytes * static_cast<double>(problem.rows) / frame.session().size();
  SyncCosts costs;
  if (const std::optional<models::Platform> platform = frame.platform({bytes, 2.0 * bytes, footprint_bytes})) {
    const models::Placement placement = frame.placement(*platform);
    frame.collectively([&] { costs = sync_costs(bytes, frame.session().size(), *platform, placement); });
  }
  const double of_units_s = unit_sync_s(frame);
  costs.sum_s += of_units_s;
  costs.exchange_s += of_units_s;
  return costs;
}

/// Of a V-cycle on levels that are shared out, which a unit alone does not need: halos of right sides and corrections,
/// and a gather, which counts as a sum. See MultigridLevels.
SyncCounts multigrid_syncs(const Problem& problem) {
  const Coefficients coefficients(problem);
  const std::vector<MultigridLevel> levels = multigrid_levels(coefficients.column_faces, coefficients.row_weights,
                                                              coefficients.row_faces, coefficients.column_weights);
  SyncCounts syncs;
  std::int64_t finer_columns = problem.columns;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    if (k > 0 && levels[k].cells() <= MultigridLevels::most_whole_cells) break;
    syncs.exchanges += 2.0;
    syncs.halo_bytes += row_bytes(levels[k].columns()) * static_cast<double>(MultigridLevels::right_side_depth) +
                        row_bytes(finer_columns) * static_cast<double>(MultigridLevels::correction_depth);
    finer_columns = levels[k].columns();
  }
  syncs.sums = 1.0;
  return syncs;
}

}  // namespace

double Prediction::step_s(double momentum_iterations, double pressure_iterations) const {
  return step_sum(
      {parts[StepPart::momentum].total_s(), parts[StepPart::pressure].total_s(), parts[StepPart::rest].total_s()},
      momentum_iterations, pressure_iterations);
}

std::vector<double> Prediction::unit_step_s(double momentum_iterations, double pressure_iterations) const {
  std::vector<double> seconds;
  for (const PerPart<double>& work_s : unit_work_s) {
    seconds.push_back(step_sum(work_s, momentum_iterations, pressure_iterations));
  }
  return seconds;
}

Prediction predict(Frame& frame, const Problem& problem, const Numerics& numerics,
                   const std::vector<std::int64_t>& rows) {
  const SyncCosts costs = measured_sync_costs(frame, problem);
  const UnitSizes share = frame.own_share(rows);
  PerUnit<PerPart<PartSample>> samples;
  Prediction prediction;
  prediction.failure = sample_steps(frame, problem, numerics, share, samples);
  prediction.unit_work_s.resize(rows.size());
  if (!prediction.failure.empty()) return prediction;
  for (const StepPart::Index part : {StepPart::momentum, StepPart::pressure, StepPart::rest}) {
    const PartSample &host = samples.host[part], &companion = samples.companion[part];
    const std::vector<double> work_s = frame.gather_seconds({host.work_s, companion.work_s});
    for (std::size_t i = 0; i < work_s.size(); ++i) prediction.unit_work_s[i][part] = work_s[i];
    const SyncCounts& own = share.host > 0 ? host.syncs : companion.syncs;
    const std::vector<double> most =
        all_max(frame.comm(), {std::max(host.calls, companion.calls), own.sums, own.exchanges, own.halo_bytes});
    SyncCounts syncs{most[1], most[2], most[3]};
    const bool has_multigrid = numerics.pressure_preconditioner == PreconditionerKind::multigrid && rows.size() > 1;
    if (part == StepPart::pressure && has_multigrid) syncs += multigrid_syncs(problem);
    prediction.parts[part] = {*std::max_element(work_s.begin(), work_s.end()), costs.seconds(syncs), most[0]};
  }
  return prediction;
}

}  // namespace steelyard::cavity
