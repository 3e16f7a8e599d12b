#include "tests/miniapps/wave2d_runs.hpp"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <sstream>

#include "models/fpm_file.hpp"

namespace steelyard::tests {
namespace {

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void expect_refusal(const Outcome& outcome, const std::string& program, int ranks, const std::string& named) {
  INFO("on " << ranks << " ranks, to be told about \"" << named << "\"");
  INFO("standard output:\n" << outcome.out << "standard error:\n" << outcome.err);
  CHECK(outcome.status == 2);
  const std::vector<std::string> told = outcome.told_by(program);
  REQUIRE(told.size() == 1);
  CHECK(told.front().find(named) != std::string::npos);
  if (ranks == 1) CHECK(lines_of(outcome.err).size() == 1);
  // What was asked for may be repeated; results may not be there.
  for (const std::string& line : lines_of(outcome.out)) {
    CHECK((line.rfind(program + " ", 0) == 0 || line.rfind("note: ", 0) == 0));
  }
}

}  // namespace

std::string write_model(const TemporaryFolder& folder, const std::string& name, double seconds_per_row) {
  models::FpmFile file;
  for (const double rows : {1.0, 1000.0}) file.points.push_back({rows, rows * seconds_per_row, 1, 0.0});
  models::write_fpm_file(folder / name, file);
  return folder / name;
}

std::vector<Outcome> run_wave2d(const std::vector<Wave2dRun>& runs, const TemporaryFolder& folder) {
  std::vector<Start> starts;
  for (const Wave2dRun& run : runs) {
    starts.push_back({run.ranks, wave2d, run.arguments, folder.path()});
    Words& arguments = starts.back().arguments;
    const auto missing = [&](const char* option) {
      return std::find(arguments.begin(), arguments.end(), option) == arguments.end();
    };
    if (missing("--model")) {
      const std::string model = folder / "even.fpm.json";
      if (!std::filesystem::exists(model)) write_model(folder, "even.fpm.json", 1e-6);
      arguments.insert(arguments.end(), {"--model", model});
    }
    if (missing("--repetitions")) arguments.insert(arguments.end(), {"--repetitions", "1", "--warmups", "0"});
  }
  std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    INFO("wave2d " << joined(starts[i].arguments) << " on " << starts[i].ranks << " ranks\n"
                   << outcomes[i].out << outcomes[i].err);
    REQUIRE(outcomes[i].status == 0);
    REQUIRE(outcomes[i].told_by("wave2d").empty());
  }
  return outcomes;
}

Outcome run_wave2d(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_wave2d({{ranks, arguments}}, folder).front();
}

Words partition_names() {
  const TemporaryFolder folder;
  const Outcome outcome = run(1, steelyard_tool, {"partition", "--list"}, folder.path());
  REQUIRE(outcome.status == 0);
  Words names;
  bool inside = false;
  for (const std::string& line : lines_of(outcome.out)) {
    if (inside && !line.empty()) names.push_back(line.substr(0, line.find(' ')));
    inside = inside || line.rfind("---", 0) == 0;
  }
  REQUIRE_FALSE(names.empty());
  return names;
}

std::vector<long long> rows_in_table(const std::string& out) {
  std::vector<long long> rows;
  std::size_t end = 0;  // where the right-aligned column ends
  for (const std::string& line : lines_of(out)) {
    const std::size_t heading = line.find(" rows ");
    if (line.rfind("unit ", 0) == 0 && heading != std::string::npos) end = heading + 5;
    if (end == 0 || line.rfind("rank ", 0) != 0) continue;
    REQUIRE(line.size() > end);
    const std::size_t start = line.find_last_of(' ', end - 1);
    rows.push_back(std::stoll(line.substr(start, end - start)));
  }
  return rows;
}

void expect_refused(const std::filesystem::path& program, const std::vector<Mistake>& mistakes,
                    const Words& other_arguments, const std::vector<int>& rank_counts) {
  std::vector<std::unique_ptr<TemporaryFolder>> folders;
  std::vector<Start> starts;
  for (const Mistake& mistake : mistakes) {
    for (const int ranks : rank_counts) {
      folders.push_back(std::make_unique<TemporaryFolder>());
      starts.push_back({ranks, program, mistake.arguments + other_arguments, folders.back()->path()});
    }
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    INFO(program.filename().string() << " " << joined(starts[i].arguments));
    expect_refusal(outcomes[i], program.filename().string(), starts[i].ranks, mistakes[i / rank_counts.size()].named);
    CHECK(folders[i]->entries() == 0);
  }
}

}  // namespace steelyard::tests
