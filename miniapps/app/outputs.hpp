#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/session.hpp"
#include "core/base/run_record.hpp"
#include "models/fpm_file.hpp"
#include "partition/rectangles/rectangle.hpp"

/// What the user gets of a run: the check of its result, the lines that are printed, and the files.
namespace steelyard {

/// Error that one verification found on this rank.
struct FoundError {
  double error = 0.0;      ///< the largest; NaN and infinity are no result at all
  double tolerance = 0.0;  ///< the same on all ranks
  std::string against;     ///< what the result was compared with
};

/// Whether a repetition's result has to be verified. @param repetition counted from 0; warm-ups are negative
bool is_check_due(const RunOptions& options, int repetition);

/// Adds a verification to the record's: the error is the largest of all ranks and all repetitions so far, and one that
/// is not within its tolerance fails them all. Collective.
void add_check(const Session& session, CheckResult& check, const FoundError& found);

/// The line `check      passed: …`, `check      FAILED: …` or `check      not done: …`.
std::string check_line(const CheckResult& check);

/// Exit code of a run that got to its end.
ExitCode exit_code(const CheckResult& check);

/// `1 rank`, `2 ranks`.
std::string counted(std::int64_t count, const std::string& noun);

/// Lines that warn of times which mean little: shared cores, threads that are not bound. Empty where all is well.
/// Collective.
std::string core_notes(const Session& session, const RankUnits& units);

/// Lines for the header that name the library of each unit, from the settings `host_<what>` and `device_<what>`.
/// @param notes behind the names of libraries
std::string library_lines(const RunRecord& record, const std::string& what,
                          const std::map<std::string, std::string>& notes = {});

/// A row of a table: each cell beside its heading.
using TableRow = std::vector<std::pair<std::string, std::string>>;

/// Text of a table of rows that all have the same headings; nothing without rows.
std::string table_text(const std::vector<TableRow>& rows);

/// A column of the app's own, with a cell for every unit.
struct UnitColumn {
  std::string heading;
  std::vector<std::string> cells;
};

/// Columns `row`, `column`, `rows` and `columns` with the rectangle of every unit; `-` for an empty one.
std::vector<UnitColumn> rectangle_columns(std::span<const partition::Rectangle> parts);

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

/// Asks, before anything runs, whether `--output` and `--result` could be written at the end, and says where the folder
/// has the result of an earlier run, which this one's will replace. Collective.
/// @throws CollectiveError
void require_outputs(const Session& session, const RunOptions& options);

/// Takes a block of a matrix that begins at `row` and `column`: rows of `columns` elements, one after the other.
template <class Element>
using BlockSink =
    std::function<void(std::int64_t row, std::int64_t column, std::int64_t columns, std::span<const Element> block)>;

/// Hands this rank's blocks to the sink, in any order; must not communicate.
template <class Element>
using MatrixStore = std::function<void(const BlockSink<Element>& sink)>;

/// Writes a matrix whose blocks are spread over the ranks as a NumPy file, which appears under its name only when it is
/// whole. Does nothing where `path` is empty, the user having named none. For double, float and std::complex of both.
/// Collective. @throws CollectiveError when it cannot be written or `store` throws; nothing is left behind then
template <class Element>
void write_matrix(const Session& session, const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                  const MatrixStore<Element>& store);

/// Speed models that a run keeps as `models/rank<rank>-<host|device><suffix>.fpm.json`, one for every slot.
struct KeptModels {
  std::string suffix;
  std::vector<models::FpmFile> files;
};

/// Writes `run.json`, `samples.jsonl` and the models into the folder. Not collective: for rank 0.
/// @return the line that says where that is; nothing is written where the user named no folder @throws RuntimeFailure
std::string write_result(const std::filesystem::path& folder, const RunRecord& record, const std::vector<Slot>& slots,
                         const std::vector<KeptModels>& models);

}  // namespace steelyard
