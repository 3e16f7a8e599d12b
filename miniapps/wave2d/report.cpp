#include "miniapps/wave2d/report.hpp"

#include <fmt/format.h>

#include "core/base/accuracy.hpp"
#include "core/base/statistics.hpp"
#include "core/base/table.hpp"

namespace steelyard::wave2d {
namespace {

std::string difference(double predicted_s, double measured_s) {
  return fmt::format("{:.1f} %", percentage_difference(predicted_s, measured_s));
}

}  // namespace

std::string unit_table(const RunRecord& record, const Prediction& prediction, const Measurement* measurement) {
  std::vector<std::string> headings{"unit", "space", "cores", "slowdown", "rows", "share", "predicted/step"};
  if (measurement != nullptr) headings.insert(headings.end(), {"measured/step", "difference"});
  Table table(headings);
  double total = 0.0;
  for (const std::int64_t rows : record.distribution) total += static_cast<double>(rows);
  for (std::size_t i = 0; i < record.units.size(); ++i) {
    const UnitRecord& unit = record.units[i];
    const double predicted_s = prediction.distribution.predicted_s[i];
    std::vector<std::string> row{fmt::format("rank {} {}", unit.rank, unit.kind),
                                 unit.space,
                                 unit.cores,
                                 unit.slowdown > 1.0 ? fmt::format("{:g} (emulated)", unit.slowdown) : "-",
                                 fmt::format("{}", record.distribution[i]),
                                 fmt::format("{:.1f} %", 100.0 * static_cast<double>(record.distribution[i]) / total),
                                 format_seconds(predicted_s)};
    if (measurement != nullptr) {
      const double measured_s = measurement->slot_step_s[i];
      row.push_back(format_seconds(measured_s));
      row.push_back(measured_s > 0.0 && predicted_s > 0.0 ? difference(predicted_s, measured_s) : "-");
    }
    table.add_row(row);
  }
  return table.text();
}

void complete_record(RunRecord& record, const Options& options, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement) {
  const double steps = static_cast<double>(options.run.steps);
  record.median_time_s = median(measurement.times_s);
  record.predicted_time_s = steps * prediction.step_s;
  const double interval_s = measurement.times_s.size() > 1 ? confidence_half_width(measurement.times_s, 0.95) : 0.0;
  record.figures["confidence_s"] = interval_s;
  record.figures["coefficient_of_variation"] = coefficient_of_variation(measurement.times_s);
  if (options.run.steps > 0) {
    const double bytes = options.run.element == ElementType::float64 ? 24.0 : 12.0;
    const double points_per_s = problem.points() * steps / record.median_time_s;
    const double bound = measurement.bound_bytes_per_s / bytes;
    record.figures["points_per_s"] = points_per_s;
    record.figures["bound_bytes_per_s"] = measurement.bound_bytes_per_s;
    record.figures["bound_points_per_s"] = bound;
    record.figures["share_of_bound"] = points_per_s / bound;
    record.figures["percentage_difference"] = percentage_difference(*record.predicted_time_s, record.median_time_s);
    record.figures["proportional_error"] = proportional_error(record.median_time_s, *record.predicted_time_s);
  }
  record.phases = {{"kernels", steps * measurement.kernels_step_s,
                    steps * (prediction.start_s + prediction.distribution.makespan_s())},
                   {"exchange", steps * measurement.exchange_step_s, steps * prediction.exchange_s}};
  for (std::size_t i = 0; i < measurement.times_s.size(); ++i) {
    Sample sample;
    sample.params = record.params;
    sample.params["repetition"] = static_cast<double>(i);
    sample.metric = "time_s";
    sample.value = measurement.times_s[i];
    sample.keys = record.settings;
    record.samples.push_back(sample);
  }
}

std::string summary(const RunRecord& record, const Measurement& measurement) {
  const auto steps = record.params.at("steps");
  std::string text =
      fmt::format("time       {} for {} steps (median of {}, 95 % interval +- {}, coefficient of variation {:.1f} %)\n",
                  format_seconds(record.median_time_s), steps, measurement.times_s.size(),
                  measurement.times_s.size() > 1 ? format_seconds(record.figures.at("confidence_s")) : "unknown",
                  100.0 * record.figures.at("coefficient_of_variation"));
  if (steps > 0) {
    text += fmt::format("predicted  {}, {}\n", format_seconds(*record.predicted_time_s),
                        accuracy_text(record.median_time_s, *record.predicted_time_s));
    text += fmt::format("speed      {:.1f} Mpoint/s, {:.0f} % of the memory bound of {:.1f} Mpoint/s ({:.1f} GB/s)\n",
                        record.figures.at("points_per_s") / 1e6, 100.0 * record.figures.at("share_of_bound"),
                        record.figures.at("bound_points_per_s") / 1e6, record.figures.at("bound_bytes_per_s") / 1e9);
    for (const PhaseTime& phase : record.phases) {
      text += fmt::format("  {:<9}{} per step, predicted {}\n", phase.name, format_seconds(phase.measured_s / steps),
                          format_seconds(*phase.predicted_s / steps));
    }
  }
  const CheckResult& check = record.check;
  if (!check.performed) return text + fmt::format("check      not done: {}\n", check.against);
  text += fmt::format("check      {}: largest error {:.2e} against {} (tolerance {:.1e})\n",
                      check.passed ? "passed" : "FAILED", check.error, check.against, check.tolerance);
  return text;
}

}  // namespace steelyard::wave2d
