#include "miniapps/summa/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/table.hpp"
#include "miniapps/app/run_times.hpp"
#include "miniapps/app/verification.hpp"

namespace steelyard::summa {

partition::Rectangle part_of(const Slot& slot, const Assignment& assignment) {
  const auto rank = static_cast<std::size_t>(slot.rank);
  partition::Rectangle part = assignment.rectangles[rank];
  const UnitRows& rows = assignment.rows[rank];
  if (slot.kind == ProcessingUnit::Kind::companion) part.row += rows.host;
  part.rows = slot.kind == ProcessingUnit::Kind::host ? rows.host : rows.companion;
  return part;
}

void record_assignment(RunRecord& record, const std::vector<Slot>& slots, const Assignment& assignment) {
  for (const partition::Rectangle& rectangle : assignment.rectangles) {
    record.rectangles.push_back({rectangle.row, rectangle.column, rectangle.rows, rectangle.columns});
  }
  for (const Slot& slot : slots) record.distribution.push_back(part_of(slot, assignment).area());
}

UnitHeadings unit_headings(const std::vector<Slot>& slots, const Assignment& assignment) {
  UnitHeadings headings{"blocks", "/iteration", {{"row", {}}, {"column", {}}, {"rows", {}}, {"columns", {}}}};
  for (const Slot& slot : slots) {
    const partition::Rectangle part = part_of(slot, assignment);
    std::size_t column = 0;
    for (const std::int64_t number : {part.row, part.column, part.rows, part.columns}) {
      headings.columns[column++].cells.push_back(part.empty() ? "-" : fmt::format("{}", number));
    }
  }
  return headings;
}

std::vector<double> predicted_slot_s(const Problem& problem, const std::vector<Slot>& slots,
                                     const Assignment& assignment) {
  // The last iteration may be less deep than the others.
  const double of_full = static_cast<double>(problem.n) / static_cast<double>(problem.blocks() * problem.block);
  std::vector<double> seconds;
  for (const Slot& slot : slots) {
    const auto rank = static_cast<std::size_t>(slot.rank);
    seconds.push_back(
        of_full * (slot.kind == ProcessingUnit::Kind::host ? assignment.host_s[rank] : assignment.companion_s[rank]));
  }
  return seconds;
}

void complete_record(RunRecord& record, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement) {
  record_times(record, measurement.times_s, prediction.cost.total_s);
  record.figures["flops_per_s"] = problem.flops() / record.median_time_s;
  record.figures["units_flops_per_s"] = measurement.units_flops_per_s;
  record.figures["share_of_units"] = record.figures["flops_per_s"] / measurement.units_flops_per_s;
  for (const CommunicationCost& cost : prediction.communication) {
    record.figures[fmt::format("communication_s by {}", cost.model)] = cost.total_s();
  }
  record.phases = {{"update", *std::max_element(measurement.slot_s.begin(), measurement.slot_s.end()),
                    prediction.cost.computation_s},
                   {"communication", measurement.communication_s, std::nullopt}};
  // What of it nothing else hides.
  if (!prediction.communication.empty()) {
    record.phases.back().predicted_s = prediction.cost.total_s - prediction.cost.computation_s;
  }
}

std::string summary(const RunRecord& record, const Prediction& prediction) {
  const double iterations = record.params.at("blocks");
  std::string text = time_line(record, "") + predicted_line(record);
  text += fmt::format("speed      {:.4g} GFLOP/s, {:.0f} % of what all units reach when none of them waits\n",
                      record.figures.at("flops_per_s") / 1e9, 100.0 * record.figures.at("share_of_units"));
  for (const PhaseTime& phase : record.phases) {
    text += fmt::format("  {:<13} {} per iteration", phase.name, format_seconds(phase.measured_s / iterations));
    if (phase.predicted_s) text += ", predicted " + format_seconds(*phase.predicted_s / iterations);
    if (phase.name == "communication" && !prediction.communication.empty()) {
      std::string models;
      for (const CommunicationCost& cost : prediction.communication) {
        models += fmt::format("{}{} {}", models.empty() ? " (" : ", ", cost.model,
                              format_seconds(cost.total_s() / iterations));
      }
      text += models + ")";
    }
    text += "\n";
  }
  return text + check_line(record.check);
}

}  // namespace steelyard::summa
