#pragma once

#include <string>
#include <vector>

#include "core/base/run_record.hpp"
#include "miniapps/app/unit_table.hpp"
#include "miniapps/cavity/flow_state.hpp"
#include "miniapps/cavity/options.hpp"
#include "miniapps/cavity/prediction.hpp"
#include "miniapps/cavity/run_log.hpp"
#include "miniapps/cavity/speedup_bound.hpp"

namespace steelyard::cavity {

/// What a run measured.
struct Measurement {
  std::vector<double> times_s;       ///< slowest rank, per repetition
  std::vector<double> even_times_s;  ///< with an even split, in turns with these; empty where not asked for
  RunLog log;                        ///< of the last repetition
  FlowState state;                   ///< at its end; on rank 0
  double momentum_s = 0.0;           ///< solving for momentum, all steps of a repetition
  double pressure_s = 0.0;           ///< likewise
  std::vector<double> slot_step_s;   ///< every unit's own work in a step
  double bound_bytes_per_s = 0.0;    ///< of all units together, running at the same time
  SpeedupBound bound;                ///< over an even split
};

UnitHeadings unit_headings();

/// What a step is predicted to cost, for `--dry-run`.
std::string prediction_text(const Prediction& prediction);

/// Fills in what follows from the measurement: median, speed, phases, iterations, samples; on rank 0 also the figures
/// of the flow.
void complete_record(RunRecord& record, const Problem& problem, const Options& options, const Prediction& prediction,
                     const Measurement& measurement);

/// The lines under the table.
std::string summary(const RunRecord& record);

}  // namespace steelyard::cavity
