#pragma once

#include <string>
#include <vector>

#include "core/base/run_record.hpp"
#include "miniapps/app/unit_table.hpp"
#include "miniapps/fft2d/options.hpp"
#include "miniapps/fft2d/prediction.hpp"

namespace steelyard::fft2d {

/// What a run measured, in seconds of one transform.
struct Measurement {
  std::vector<double> times_s;     ///< slowest rank, per repetition
  std::vector<double> phase_s;     ///< of phase_names(); what the slowest rank adds to the phases before
  std::vector<double> slot_s;      ///< every unit's passes
  double bound_bytes_per_s = 0.0;  ///< of all units together, running at the same time
};

/// `rows`, `first exchange`, `columns` and, unless the spectrum is left transposed, `second exchange`.
std::vector<std::string> phase_names(const Problem& problem);

void record_assignment(RunRecord& record, const Assignment& assignment);
UnitHeadings unit_headings(const Assignment& assignment);

/// Fills in what follows from the measurement: median, speed, phases, samples.
void complete_record(RunRecord& record, const Options& options, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement);

/// The lines under the table.
std::string summary(const RunRecord& record);

}  // namespace steelyard::fft2d
