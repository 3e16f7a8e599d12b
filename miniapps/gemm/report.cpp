#include "miniapps/gemm/report.hpp"

#include <fmt/format.h>

#include "core/base/table.hpp"
#include "miniapps/app/run_times.hpp"
#include "miniapps/app/verification.hpp"

namespace steelyard::gemm {

void complete_record(RunRecord& record, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement) {
  record_times(record, measurement.times_s, prediction.time_s);
  record.phases = {{"multiply", record.median_time_s, prediction.time_s}};
  if (problem.flops() > 0.0) {
    record.figures["flops_per_s"] = problem.flops() / record.median_time_s;
    record.figures["units_flops_per_s"] = measurement.units_flops_per_s;
    record.figures["share_of_units"] = measurement.share_of_units;
  }
}

std::string device_line(int rank, const Blocking& blocking, double element_bytes, const TransferOverlap& overlap) {
  const BlockGrid& grid = blocking.grid;
  const std::string how =
      blocking.in_core
          ? "in core"
          : fmt::format("out of core, C in {} x {} blocks of {} x {}, {} panel{} of {}", grid.rows(), grid.columns(),
                        grid.height, grid.width, grid.panels(), grid.panels() == 1 ? "" : "s", grid.depth);
  return fmt::format("device     rank {}: {}, {}; copying for {}, {:.0f} % of that hidden by multiplying\n", rank,
                     format_bytes(element_bytes * blocking.buffer_elements()), how, format_seconds(overlap.transfer_s),
                     100.0 * overlap.hidden_share());
}

std::string summary(const RunRecord& record) {
  std::string text = time_line(record, "") + predicted_line(record);
  if (record.figures.contains("flops_per_s")) {
    text += fmt::format("speed      {:.4g} GFLOP/s, {:.0f} % of what all units reach when none of them waits\n",
                        record.figures.at("flops_per_s") / 1e9, 100.0 * record.figures.at("share_of_units"));
  }
  return text + check_line(record.check);
}

}  // namespace steelyard::gemm
