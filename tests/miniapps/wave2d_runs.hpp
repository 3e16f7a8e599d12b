#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/miniapps/command.hpp"

namespace steelyard::tests {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

inline const std::filesystem::path wave2d = STEELYARD_WAVE2D;
inline const std::filesystem::path steelyard_tool = STEELYARD_TOOL;

/// Writes a speed model for any grid: rows at constant speed. Returns its path.
std::string write_model(const TemporaryFolder& folder, const std::string& name, double seconds_per_row);

/// One repetition without measuring speeds first: all units get the same unless `arguments` name models.
/// Fails the test unless it exits 0 and complains of nothing.
Outcome run_wave2d(int ranks, const Words& arguments, const TemporaryFolder& folder);

/// Ranks and arguments of a run.
struct Wave2dRun {
  int ranks = 1;
  Words arguments;
};

/// The same for runs that go on at the same time.
std::vector<Outcome> run_wave2d(const std::vector<Wave2dRun>& runs, const TemporaryFolder& folder);

/// Names that `steelyard partition --list` prints.
Words partition_names();

/// Rows of every unit in the table that wave2d prints.
std::vector<long long> rows_in_table(const std::string& out);

/// Something that a user gets wrong.
struct Mistake {
  Words arguments;
  std::string named;  ///< what the message must hold
};

/// Starts `program` with each mistake, with 1 rank and with 3: exit code 2, one line of the program's own that names
/// the offending thing, no results on standard output, no file left behind, no hang.
void expect_refused(const std::filesystem::path& program, const std::vector<Mistake>& mistakes,
                    const Words& other_arguments = {}, const std::vector<int>& rank_counts = {1, 3});

}  // namespace steelyard::tests
