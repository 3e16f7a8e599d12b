#include "miniapps/wave2d/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/accuracy.hpp"
#include "core/base/table.hpp"
#include "miniapps/app/run_times.hpp"
#include "miniapps/app/verification.hpp"

namespace steelyard::wave2d {

namespace {

bool in_slices(const Problem& problem, const Assignment& assignment) {
  return std::all_of(assignment.rectangles.begin(), assignment.rectangles.end(),
                     [&](const partition::Rectangle& part) { return part.empty() || part.columns == problem.columns; });
}

std::string predicted_text(double predicted_s, double measured_s) {
  std::string text = fmt::format(", predicted {}", format_seconds(predicted_s));
  if (predicted_s > 0.0 && measured_s > 0.0) {
    text += fmt::format(", difference {:.1f} %", percentage_difference(predicted_s, measured_s));
  }
  return text;
}

}  // namespace

void record_assignment(RunRecord& record, const Problem& problem, const Assignment& assignment) {
  record.distribution = assignment.shares(problem);
  if (in_slices(problem, assignment)) return;
  for (const partition::Rectangle& part : assignment.rectangles) {
    record.rectangles.push_back({part.row, part.column, part.rows, part.columns});
  }
}

UnitHeadings unit_headings(const Problem& problem, const Assignment& assignment) {
  if (in_slices(problem, assignment)) return {"rows", "/step"};
  UnitHeadings headings{"points", "/step", {{"row", {}}, {"column", {}}, {"rows", {}}, {"columns", {}}}};
  for (const partition::Rectangle& part : assignment.rectangles) {
    std::size_t column = 0;
    for (const std::int64_t number : {part.row, part.column, part.rows, part.columns}) {
      headings.columns[column++].cells.push_back(part.empty() ? "-" : fmt::format("{}", number));
    }
  }
  return headings;
}

std::vector<double> step_seconds(const Prediction& prediction) {
  std::vector<double> seconds = prediction.assignment.pass_s;
  for (double& one : seconds) one /= prediction.time_tile;
  return seconds;
}

void complete_record(RunRecord& record, const Options& options, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement) {
  const double steps = static_cast<double>(options.run.steps);
  record_times(record, measurement.times_s, prediction.known() ? steps * prediction.step_s() : 0.0);
  if (options.run.steps > 0) {
    const double bytes = options.run.element == ElementType::float64 ? 24.0 : 12.0;
    const double points_per_s = problem.points() * steps / record.median_time_s;
    const double bound = measurement.bound_bytes_per_s / bytes;
    record.figures["points_per_s"] = points_per_s;
    record.figures["bound_bytes_per_s"] = measurement.bound_bytes_per_s;
    record.figures["bound_points_per_s"] = bound;
    record.figures["share_of_bound"] = points_per_s / bound;
  }
  const double passes = steps / prediction.time_tile;
  const PassCost& pass = prediction.pass;
  const auto add_phase = [&](const char* name, double measured_step_s, double predicted_pass_s) {
    PhaseTime phase{name, steps * measured_step_s, std::nullopt};
    if (prediction.known()) phase.predicted_s = passes * predicted_pass_s;
    record.phases.push_back(phase);
  };
  add_phase("kernels", measurement.kernels_step_s, pass.start_s + pass.kernels_s());
  add_phase("exchange", measurement.exchange_step_s, pass.exchange_s);
  add_phase("unpacking", measurement.phases_step.unpacking_s, pass.phases.unpacking_s);
  add_phase("border", measurement.phases_step.border_s, pass.phases.border_s);
  add_phase("packing", measurement.phases_step.packing_s, pass.phases.packing_s);
  add_phase("interior", measurement.phases_step.interior_s, pass.phases.interior_s);
  if (!prediction.known()) record.predicted_time_s.reset();
}

std::string summary(const RunRecord& record) {
  const auto steps = record.params.at("steps");
  std::string text = time_line(record, fmt::format("for {} steps", steps));
  if (steps > 0) {
    if (record.predicted_time_s) text += predicted_line(record);
    const auto repartitions = record.figures.find("repartitions");
    if (repartitions != record.figures.end()) {
      text += fmt::format("rebalanced {:g} times in {}\n", repartitions->second,
                          format_seconds(record.figures.at("redistribution_time_s")));
    }
    text += fmt::format("speed      {:.1f} Mpoint/s, {:.0f} % of the memory bound of {:.1f} Mpoint/s ({:.1f} GB/s)\n",
                        record.figures.at("points_per_s") / 1e6, 100.0 * record.figures.at("share_of_bound"),
                        record.figures.at("bound_points_per_s") / 1e6, record.figures.at("bound_bytes_per_s") / 1e9);
    for (const PhaseTime& phase : record.phases) {
      text += fmt::format(
          "  {:<10}{} per step{}\n", phase.name, format_seconds(phase.measured_s / steps),
          phase.predicted_s ? predicted_text(*phase.predicted_s / steps, phase.measured_s / steps) : std::string());
    }
  }
  return text + check_line(record.check);
}

}  // namespace steelyard::wave2d
