#include "miniapps/fft2d/report.hpp"

#include <fmt/format.h>

#include "core/base/accuracy.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/run_times.hpp"
#include "miniapps/app/verification.hpp"

namespace steelyard::fft2d {

std::vector<std::string> phase_names(const Problem& problem) {
  std::vector<std::string> names{"rows", "first exchange", "columns"};
  if (!problem.transposed) names.emplace_back("second exchange");
  return names;
}

void record_assignment(RunRecord& record, const Assignment& assignment) {
  record.distribution = assignment.rows.units;
  record.column_distribution = assignment.columns.units;
}

UnitHeadings unit_headings(const Assignment& assignment) {
  UnitHeadings headings{"rows", "", {{"columns", {}}}};
  for (const std::int64_t columns : assignment.columns.units) {
    headings.columns.front().cells.push_back(fmt::format("{}", columns));
  }
  return headings;
}

void complete_record(RunRecord& record, const Options& options, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement) {
  const TransformCost& cost = prediction.cost;
  record_times(record, measurement.times_s, cost.total_s());
  const double flops_per_s = transform_flops(problem) / record.median_time_s;
  // Two passes, each of which reads and writes every point once at least.
  const double point_bytes = options.run.element == ElementType::float64 ? 16.0 : 8.0;
  const double spectrum = static_cast<double>(problem.rows) * static_cast<double>(problem.spectrum_columns());
  const double bytes = point_bytes * ((problem.real ? 0.5 : 1.0) * problem.points() + 3.0 * spectrum);
  const double bound_s = bytes / measurement.bound_bytes_per_s;
  record.figures["flops_per_s"] = flops_per_s;
  record.figures["bound_bytes_per_s"] = measurement.bound_bytes_per_s;
  record.figures["bound_flops_per_s"] = transform_flops(problem) / bound_s;
  record.figures["share_of_bound"] = bound_s / record.median_time_s;
  const double predicted_s[] = {cost.rows_s(), cost.first_exchange_s(), cost.columns_s(), cost.second_exchange_s()};
  const std::vector<std::string> names = phase_names(problem);
  for (std::size_t i = 0; i < names.size(); ++i) {
    record.phases.push_back({names[i], measurement.phase_s[i], predicted_s[i]});
  }
}

std::string summary(const RunRecord& record) {
  std::string text = time_line(record, "") + predicted_line(record);
  text += fmt::format("plans      and memory made in {}\n", format_seconds(record.figures.at("plan_time_s")));
  text += fmt::format("speed      {:.2f} GFLOP/s, {:.0f} % of the memory bound of {:.2f} GFLOP/s ({:.1f} GB/s)\n",
                      record.figures.at("flops_per_s") / 1e9, 100.0 * record.figures.at("share_of_bound"),
                      record.figures.at("bound_flops_per_s") / 1e9, record.figures.at("bound_bytes_per_s") / 1e9);
  for (const PhaseTime& phase : record.phases) {
    const double predicted_s = phase.predicted_s.value_or(0.0);
    const bool comparable = phase.measured_s > 0.0 && predicted_s > 0.0;
    text += fmt::format(
        "  {:<16} {}, predicted {}{}\n", phase.name, format_seconds(phase.measured_s), format_seconds(predicted_s),
        comparable ? fmt::format(", difference {:.1f} %", percentage_difference(predicted_s, phase.measured_s)) : "");
  }
  return text + check_line(record.check);
}

}  // namespace steelyard::fft2d
