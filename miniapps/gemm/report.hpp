#pragma once

#include <string>
#include <vector>

#include "core/base/run_record.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/engine_timeline.hpp"
#include "miniapps/gemm/prediction.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// What the repetitions took.
struct Measurement {
  std::vector<double> times_s;
  std::vector<double> slot_s;      ///< of every slot, median
  double units_flops_per_s = 0.0;  ///< of all units together when none of them ever waits, median
  double share_of_units = 0.0;     ///< of that, median of the repetitions' ratios
};

/// Fills in what follows from prediction and measurement.
void complete_record(RunRecord& record, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement);

/// One line on how a companion multiplies in its memory.
std::string device_line(int rank, const Blocking& blocking, double element_bytes, const TransferOverlap& overlap);

/// Time, prediction, speed and verification. @param record after complete_record()
std::string summary(const RunRecord& record);

}  // namespace steelyard::gemm
