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

/// Output that apps and the frame share: the check's result, lines and tables of a run, `--output`.
namespace steelyard {

/// Error that one verification found on this rank.
struct FoundError {
  double error = 0.0;      ///< the largest; NaN and infinity are no result at all
  double tolerance = 0.0;  ///< the same on all ranks
  std::string against;     ///< what the result was compared with
};

/// Adds a verification to the record's: the error is the largest of all ranks and all repetitions so far, and one that
/// is not within its tolerance fails them all. Collective.
void add_check(const Session& session, CheckResult& check, const FoundError& found);

/// `1 rank`, `2 ranks`.
std::string counted(std::int64_t count, const std::string& noun);

/// Why times mean little: shared cores, threads that are not bound. Collective.
std::vector<std::string> core_doubts(const Session& session, const RankUnits& units);

/// Lines for the header that name the library of each unit, from the settings `host_<what>` and `device_<what>`.
/// @param notes behind the names of libraries
std::string library_lines(const RunRecord& record, const std::string& what,
                          const std::map<std::string, std::string>& notes = {});

/// A row of a table: each cell beside its heading.
using TableRow = std::vector<std::pair<std::string, std::string>>;

/// Text of a table of rows that all have the same headings; nothing without rows.
std::string table_text(const std::vector<TableRow>& rows);

/// ` (11.2 ms to 13.5 ms)`, behind a prediction; nothing where nothing is known of its interval or its ends look alike.
std::string interval_text(const std::optional<Interval>& interval_s);

/// Ends a line: `, difference 7.5 %` or `, mu 5.59`; nothing unless both are positive.
std::string behind_prediction(double measured_s, double predicted_s);

/// The line of a phase, its name in `columns` columns, with its prediction where there is one.
/// @param count by which its seconds are divided @param per what they are of then, such as ` per step`
std::string phase_line(const PhaseTime& phase, int columns, double count = 1.0, const std::string& per = "");

/// Takes a block of a matrix that begins at `row` and `column`: rows of `columns` elements, one after the other.
template <class Element>
using BlockSink =
    std::function<void(std::int64_t row, std::int64_t column, std::int64_t columns, std::span<const Element> block)>;

/// Hands this rank's blocks to the sink, in any order; must not communicate.
template <class Element>
using MatrixStore = std::function<void(const BlockSink<Element>& sink)>;

/// Writes a matrix whose blocks are spread over the ranks as a NumPy file, which appears under its name only when it is
/// whole. Does nothing where `path` is empty, the user having named none. For double, float and std::complex of both.
/// Collective. @param behind makes bytes that follow the array, on all ranks once all blocks are stored
/// @throws CollectiveError when it cannot be written or `store` throws; nothing is left behind then
template <class Element>
void write_matrix(const Session& session, const std::filesystem::path& path, std::int64_t rows, std::int64_t columns,
                  const MatrixStore<Element>& store, const std::function<std::string()>& behind = {});

}  // namespace steelyard
