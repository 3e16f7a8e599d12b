#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/run_record.hpp"

namespace steelyard {

/// `1 rank`, `2 ranks`.
std::string counted(std::int64_t count, const std::string& noun);

/// Lines that warn of times which mean little: shared cores, threads that are not bound. Empty where all is well.
std::string core_notes(bool oversubscribed, bool unbound);

/// Lines for the header that name the library of each unit, from the settings `host_<what>` and `device_<what>`.
std::string library_lines(const RunRecord& record, const std::string& what);

/// A column of the app's own, with a cell for every unit.
struct UnitColumn {
  std::string heading;
  std::vector<std::string> cells;
};

/// Headings of an app's table of processing units.
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

/// ` (11.2 ms to 13.5 ms)`, behind a prediction; nothing where nothing is known of its interval or its ends look alike.
std::string interval_text(const std::optional<Interval>& interval_s);

/// Fills in what follows from the repetitions' seconds: the median, `confidence_s` (half width of the 95 % interval, 0
/// for a single repetition), `coefficient_of_variation`, a sample each under the record's parameters and settings, the
/// prediction, and where both are positive how far it is off (`percentage_difference`, `proportional_error`).
/// @param times_s at least one
/// @throws InvalidArgument for no times
void record_times(RunRecord& record, std::span<const double> times_s, std::optional<double> predicted_s);

/// The line `time       226 ms for 20 steps (median of 5, …)`, or `(measured once)`. @param record after record_times()
/// @param of_what words behind the time, such as `for 20 steps`, or none
std::string time_line(const RunRecord& record, const std::string& of_what);

/// The line `predicted  230 ms (214 ms to 247 ms), difference 1.8 %, …`, without a difference where record_times() left
/// it out; nothing where nothing is predicted.
std::string predicted_line(const RunRecord& record);

/// The line of a phase, its name in `columns` columns, as predicted_line() says it of the run.
/// @param count by which its seconds are divided @param per what they are of then, such as ` per step`
std::string phase_line(const PhaseTime& phase, int columns, double count = 1.0, const std::string& per = "");

}  // namespace steelyard
