#pragma once

#include <string>
#include <vector>

#include "core/base/run_record.hpp"
#include "miniapps/app/unit_table.hpp"
#include "miniapps/wave2d/options.hpp"
#include "miniapps/wave2d/prediction.hpp"

namespace steelyard::wave2d {

/// What a run measured, in seconds per repetition unless the name says step.
struct Measurement {
  std::vector<double> times_s;      ///< slowest rank, per repetition
  double kernels_step_s = 0.0;      ///< slowest rank
  double exchange_step_s = 0.0;     ///< slowest rank
  std::vector<double> slot_step_s;  ///< every unit's kernels
  UnitTimes phases_step;            ///< of the slowest unit each
  double bound_bytes_per_s = 0.0;   ///< of all units together, running at the same time
};

void record_assignment(RunRecord& record, const Problem& problem, const Assignment& assignment);
UnitHeadings unit_headings(const Problem& problem, const Assignment& assignment);
/// Predicted kernel seconds per step of every unit.
std::vector<double> step_seconds(const Prediction& prediction);

/// Fills in what follows from the measurement: median, speed, phases, samples.
void complete_record(RunRecord& record, const Options& options, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement);

/// The lines under the table.
std::string summary(const RunRecord& record);

}  // namespace steelyard::wave2d
