#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tests/miniapps/command.hpp"

namespace steelyard::tests {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// The words of a line, which blanks separate.
Words words(const std::string& line);

inline const std::filesystem::path steelyard_tool = built("steelyard");

/// Writes a speed model for any app and problem: computation units at constant speed. Returns its path.
std::string write_model(const TemporaryFolder& folder, const std::string& name, double seconds_per_unit);

/// `--model` with a file for each processing unit, which this writes.
Words with_models(const TemporaryFolder& folder, const std::vector<double>& seconds_per_unit);

/// `--platform` with a file, which this writes, of one node's shared memory with parameters of all models.
Words with_platform(const TemporaryFolder& folder);

/// run() that fails the test unless the program exits 0 and complains of nothing.
Outcome good_run(int ranks, const std::filesystem::path& program, const Words& arguments,
                 const std::filesystem::path& folder);

/// good_run() of the tool with the words of a line.
Outcome good_tool(const TemporaryFolder& folder, const std::string& line, int ranks = 1);

/// Ranks and arguments of a run.
struct AppRun {
  int ranks = 1;
  Words arguments;
};

/// One repetition without measuring speeds first: all units get the same unless the arguments name models. The runs go
/// on at the same time. Fails the test unless all exit 0 and complain of nothing.
std::vector<Outcome> run_app(const std::filesystem::path& program, const std::vector<AppRun>& runs,
                             const TemporaryFolder& folder);

/// Lines below the heading of a table at the end.
Words table_rows(const std::string& out);

/// Names that `steelyard partition --list` prints.
Words partition_names();

/// What the table of processing units says that each of them gets; 0 for a dash. @param heading of that column
std::vector<long long> slices_in_table(const std::string& out, const std::string& heading);

bool contains(const std::string& text, const std::string& part);

int lines_that_start(const std::string& text, const std::string& start);

long long sum(const std::vector<long long>& values);

/// What `--result` has left: fails the test unless it is of this app and all that every app says is there.
nlohmann::json read_run(const std::filesystem::path& result, const std::string& app);

/// Lines of `samples.jsonl` beside it, of one metric.
std::vector<nlohmann::json> read_samples(const std::filesystem::path& result, const std::string& metric = "time_s");

/// Something that a user gets wrong.
struct Mistake {
  Words arguments;
  std::string named;  ///< what the message must hold
};

/// Starts `program` with each mistake, with 1 rank and with 3: exit code 2, one line of the program's own that names
/// the offending thing, no results on standard output, no file left behind, no hang.
void expect_refused(const std::filesystem::path& program, const std::vector<Mistake>& mistakes,
                    const Words& other_arguments = {}, const std::vector<int>& rank_counts = {1, 3});

/// Files for wrong runs, which are named by absolute paths.
class WrongRuns {
 public:
  /// @param other_arguments of each run: what makes it short should it not be refused, and files to write
  WrongRuns(std::filesystem::path program, Words other_arguments);

  std::string write(const std::string& name, const std::string& bytes) const { return folder_.write(name, bytes); }
  std::string read(const std::string& name) const { return folder_.read(name); }
  std::string path(const std::string& name) const { return folder_ / name; }
  /// A right one.
  const std::string& model() const { return model_; }
  Words with_model() const { return {"--model", model_}; }

  void expect_refused(const std::vector<Mistake>& mistakes, const Words& more_arguments = {},
                      const std::vector<int>& rank_counts = {1, 3}) const {
    tests::expect_refused(program_, mistakes, other_arguments_ + more_arguments, rank_counts);
  }

 private:
  std::filesystem::path program_;
  Words other_arguments_;
  TemporaryFolder folder_;
  std::string model_;
};

/// expect_refused() for arguments that end with a target in or at an existing `file` or `folder`: exit code 3.
void expect_unwritable_refused(const std::filesystem::path& program, const std::vector<Words>& arguments,
                               const std::vector<int>& rank_counts);

/// The same for targets of `--output` and `--result`. @param arguments of a run that takes no time
void expect_unwritable_refused(const std::filesystem::path& program, const Words& arguments);

}  // namespace steelyard::tests
