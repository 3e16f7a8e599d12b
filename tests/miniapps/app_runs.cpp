#include "tests/miniapps/app_runs.hpp"

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "core/base/json_file.hpp"
#include "models/fpm_file.hpp"
#include "tests/catch.hpp"

namespace steelyard::tests {
namespace {

bool starts(const std::string& line, const std::string& start) { return line.rfind(start, 0) == 0; }

/// Problem, warnings, and libraries that units call: what is known before anything has run.
bool is_header(const std::string& line, const std::string& program) {
  const bool of_library = starts(line, "host ") || starts(line, "device ");
  const auto names = [&](const char* library) { return line.find(library) != std::string::npos; };
  return starts(line, program + " ") || starts(line, "note: ") ||
         (of_library && (names("BLAS") || names(" fftw") || names(" vendor")));
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
  for (const std::string& line : lines_of(outcome.out)) CHECK(is_header(line, program));
}

/// run_all() that fails the test unless all exit 0 and complain of nothing.
std::vector<Outcome> good_runs(const std::vector<Start>& starts) {
  std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::string name = starts[i].program.filename();
    INFO(joined(name, starts[i].arguments) << " on " << starts[i].ranks << " ranks\n"
                                           << outcomes[i].out << outcomes[i].err);
    REQUIRE(outcomes[i].status == 0);
    REQUIRE(outcomes[i].told_by(name).empty());
  }
  return outcomes;
}

}  // namespace

Words words(const std::string& line) {
  std::istringstream stream(line);
  Words all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

std::string write_model(const TemporaryFolder& folder, const std::string& name, double seconds_per_unit) {
  models::FpmFile file;
  for (const double units : {1.0, 1000.0}) file.points.push_back({units, units * seconds_per_unit, 1, 0.0});
  models::write_fpm_file(folder / name, file);
  return folder / name;
}

Words with_models(const TemporaryFolder& folder, const std::vector<double>& seconds_per_unit) {
  Words words{"--model"};
  for (const double seconds : seconds_per_unit) {
    std::ostringstream name;
    name << seconds << "s-per-unit.fpm.json";
    words.push_back(write_model(folder, name.str(), seconds));
  }
  return words;
}

Words with_platform(const TemporaryFolder& folder) {
  return {"--platform", folder.write("one-node.platform.json", R"({"schema": "steelyard.platform/1", "channels": [
    {"id": 0, "name": "shared memory", "path": [0, 0],
     "hockney": {"segments": [{"up_to_bytes": null, "latency_s": 1e-6, "bandwidth_bytes_per_s": 2e9}]},
     "loggp": {"latency_s": 1e-6, "send_overhead_s": 2e-7, "receive_overhead_s": 2e-7, "gap_s": 3e-7,
               "gap_per_byte_s": 5e-10},
     "tau_lop": {"overhead": [{"bytes": 0, "time_s": 1e-6}],
                 "transfer": [{"bytes": 1, "concurrency": 1, "time_s": 1e-9},
                              {"bytes": 1000000, "concurrency": 1, "time_s": 5e-4}]}}]})")};
}

Outcome good_run(int ranks, const std::filesystem::path& program, const Words& arguments,
                 const std::filesystem::path& folder) {
  return good_runs({{ranks, program, arguments, folder}}).front();
}

Outcome good_tool(const TemporaryFolder& folder, const std::string& line, int ranks) {
  return good_run(ranks, steelyard_tool, words(line), folder.path());
}

std::vector<Outcome> run_app(const std::filesystem::path& program, const std::vector<AppRun>& runs,
                             const TemporaryFolder& folder) {
  std::vector<Start> starts;
  for (const AppRun& run : runs) {
    starts.push_back({run.ranks, program, run.arguments, folder.path()});
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
  return good_runs(starts);
}

Words table_rows(const std::string& out) {
  Words rows;
  bool inside = false;
  for (const std::string& line : lines_of(out)) {
    if (inside && !line.empty()) rows.push_back(line);
    inside = inside || starts(line, "---");
  }
  return rows;
}

Words partition_names() {
  const TemporaryFolder folder;
  Words names;
  for (const std::string& row : table_rows(good_tool(folder, "partition --list").out)) {
    names.push_back(row.substr(0, row.find(' ')));
  }
  REQUIRE_FALSE(names.empty());
  return names;
}

std::vector<long long> slices_in_table(const std::string& out, const std::string& heading) {
  std::vector<long long> slices;
  std::size_t end = 0;  // where the right-aligned column ends
  for (const std::string& line : lines_of(out)) {
    const std::size_t found = line.find(" " + heading + " ");
    if (starts(line, "unit ") && found != std::string::npos) end = found + 1 + heading.size();
    if (end == 0 || !starts(line, "rank ")) continue;
    REQUIRE(line.size() > end);
    const std::size_t start = line.find_last_of(' ', end - 1);
    const std::string cell = line.substr(start + 1, end - start - 1);
    slices.push_back(cell == "-" ? 0 : std::stoll(cell));
  }
  return slices;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int lines_that_start(const std::string& text, const std::string& start) {
  const std::vector<std::string> lines = lines_of(text);
  return static_cast<int>(
      std::count_if(lines.begin(), lines.end(), [&](const std::string& line) { return starts(line, start); }));
}

long long sum(const std::vector<long long>& values) { return std::accumulate(values.begin(), values.end(), 0LL); }

nlohmann::json read_run(const std::filesystem::path& result, const std::string& app) {
  nlohmann::json json = read_json_file(result / "run.json");
  for (const char* key : {"schema", "app", "argv", "seed", "commit", "dirty", "compiler", "kokkos", "mpi", "hosts",
                          "units", "distribution", "median_time_s", "predicted_time_s", "phases", "check"}) {
    INFO(key);
    REQUIRE(json.contains(key));
  }
  CHECK(json.at("schema") == "steelyard.run/1");
  CHECK(json.at("app") == app);
  REQUIRE(json.at("units").size() == json.at("distribution").size());
  for (const auto& phase : json.at("phases")) {
    CHECK(phase.at("name").is_string());
    CHECK(phase.at("measured_s").get<double>() >= 0.0);
    // A run that nothing predicts has no phases that something does; how long ranks wait for others is not predicted.
    if (json.at("predicted_time_s").is_null() || phase.at("name") == "waiting") {
      CHECK(phase.at("predicted_s").is_null());
    } else {
      CHECK(phase.at("predicted_s").get<double>() >= 0.0);
    }
  }
  return json;
}

std::vector<nlohmann::json> read_samples(const std::filesystem::path& result, const std::string& metric) {
  std::vector<nlohmann::json> samples;
  std::ifstream file(result / "samples.jsonl");
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json sample = nlohmann::json::parse(line);
    if (sample.at("metric") == metric) samples.push_back(sample);
  }
  return samples;
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
    INFO(joined(program.filename().string(), starts[i].arguments));
    expect_refusal(outcomes[i], program.filename().string(), starts[i].ranks, mistakes[i / rank_counts.size()].named);
    CHECK(folders[i]->entries() == 0);
  }
}

WrongRuns::WrongRuns(std::filesystem::path program, Words other_arguments)
    : program_(std::move(program)),
      other_arguments_(std::move(other_arguments)),
      model_(write_model(folder_, "even.fpm.json", 1e-6)) {}

void expect_unwritable_refused(const std::filesystem::path& program, const std::vector<Words>& arguments,
                               const std::vector<int>& rank_counts) {
  std::vector<std::unique_ptr<TemporaryFolder>> folders;
  std::vector<Start> starts;
  for (const Words& run : arguments) {
    for (const int ranks : rank_counts) {
      folders.push_back(std::make_unique<TemporaryFolder>());
      folders.back()->write("file", "");
      std::filesystem::create_directory(*folders.back() / "folder");
      starts.push_back({ranks, program, run, folders.back()->path()});
    }
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::string& target = starts[i].arguments.back();
    INFO(starts[i].ranks << " ranks, " << target << "\n" << outcomes[i].out << outcomes[i].err);
    CHECK(outcomes[i].status == 3);
    const std::vector<std::string> told = outcomes[i].told_by(program.filename().string());
    REQUIRE(told.size() == 1);
    CHECK(contains(told.front(), ": " + target.substr(0, target.find('/'))));
    CHECK(outcomes[i].out.empty());
    CHECK(folders[i]->entries() == 2);
  }
}

void expect_unwritable_refused(const std::filesystem::path& program, const Words& arguments) {
  expect_unwritable_refused(program,
                            {arguments + words("--result file"), arguments + words("--result file/below"),
                             arguments + words("--output file/below"), arguments + words("--output folder")},
                            {1, 3});
}

}  // namespace steelyard::tests
