#include "miniapps/wave2d/report.hpp"

#include <fmt/format.h>

#include "core/base/table.hpp"
#include "miniapps/app/run_times.hpp"
#include "miniapps/app/verification.hpp"

namespace steelyard::wave2d {

void complete_record(RunRecord& record, const Options& options, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement) {
  const double steps = static_cast<double>(options.run.steps);
  record_times(record, measurement.times_s, steps * prediction.step_s);
  if (options.run.steps > 0) {
    const double bytes = options.run.element == ElementType::float64 ? 24.0 : 12.0;
    const double points_per_s = problem.points() * steps / record.median_time_s;
    const double bound = measurement.bound_bytes_per_s / bytes;
    record.figures["points_per_s"] = points_per_s;
    record.figures["bound_bytes_per_s"] = measurement.bound_bytes_per_s;
    record.figures["bound_points_per_s"] = bound;
    record.figures["share_of_bound"] = points_per_s / bound;
  }
  record.phases = {{"kernels", steps * measurement.kernels_step_s,
                    steps * (prediction.start_s + prediction.distribution.makespan_s())},
                   {"exchange", steps * measurement.exchange_step_s, steps * prediction.exchange_s}};
}

std::string summary(const RunRecord& record) {
  const auto steps = record.params.at("steps");
  std::string text = time_line(record, fmt::format("for {} steps", steps));
  if (steps > 0) {
    text += predicted_line(record);
    text += fmt::format("speed      {:.1f} Mpoint/s, {:.0f} % of the memory bound of {:.1f} Mpoint/s ({:.1f} GB/s)\n",
                        record.figures.at("points_per_s") / 1e6, 100.0 * record.figures.at("share_of_bound"),
                        record.figures.at("bound_points_per_s") / 1e6, record.figures.at("bound_bytes_per_s") / 1e9);
    for (const PhaseTime& phase : record.phases) {
      text += fmt::format("  {:<9}{} per step, predicted {}\n", phase.name, format_seconds(phase.measured_s / steps),
                          format_seconds(*phase.predicted_s / steps));
    }
  }
  return text + check_line(record.check);
}

}  // namespace steelyard::wave2d
