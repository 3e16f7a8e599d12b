#pragma once

#include <string>
#include <vector>

#include "core/base/run_record.hpp"
#include "miniapps/app/unit_table.hpp"
#include "miniapps/summa/options.hpp"
#include "miniapps/summa/prediction.hpp"

namespace steelyard::summa {

/// What the repetitions took.
struct Measurement {
  std::vector<double> times_s;
  double communication_s = 0.0;    ///< sum over the iterations of the longest of all ranks (001, section 5.4)
  std::vector<double> slot_s;      ///< of every unit, all updates of a multiplication
  double units_flops_per_s = 0.0;  ///< of all units, each by the seconds that its own updates take
};

/// A unit's part of its rank's rectangle, in blocks.
partition::Rectangle part_of(const Slot& slot, const Assignment& assignment);

/// Rectangles, and the blocks of every unit.
void record_assignment(RunRecord& record, const std::vector<Slot>& slots, const Assignment& assignment);

/// Where every unit's part is, in blocks.
UnitHeadings unit_headings(const std::vector<Slot>& slots, const Assignment& assignment);

/// Seconds of every unit per iteration, as the mean over the iterations.
std::vector<double> predicted_slot_s(const Problem& problem, const std::vector<Slot>& slots,
                                     const Assignment& assignment);

void complete_record(RunRecord& record, const Problem& problem, const Prediction& prediction,
                     const Measurement& measurement);

/// The lines below the table of units. @param record after complete_record()
std::string summary(const RunRecord& record, const Prediction& prediction);

}  // namespace steelyard::summa
