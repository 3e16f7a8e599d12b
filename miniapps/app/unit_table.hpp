#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/run_record.hpp"

namespace steelyard {

/// A column of the app's own, with a cell for every unit.
struct UnitColumn {
  std::string heading;
  std::vector<std::string> cells;
};

/// What an app calls things in its table of processing units.
struct UnitHeadings {
  std::string computation_units;         ///< such as `rows`
  std::string per;                       ///< what times are for, behind `predicted` and `measured`: `/step`, or nothing
  std::vector<UnitColumn> columns = {};  ///< before the computation units
};

/// The table of processing units, for `--dry-run` and after a run: who they are, what they get and how long they are
/// predicted to take for it, and where it was measured, how long they took.
/// @param record with `units` and `distribution`
/// @param predicted_s of every unit
/// @param measured_s of every unit, or empty
/// @throws InvalidArgument unless there are as many of each, and cells of each column, as units
std::string unit_table(const RunRecord& record, const UnitHeadings& headings, std::span<const double> predicted_s,
                       std::span<const double> measured_s = {});

}  // namespace steelyard
