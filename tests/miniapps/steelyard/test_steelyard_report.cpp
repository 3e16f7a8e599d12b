#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include "core/base/run_record.hpp"
#include "tests/miniapps/app_runs.hpp"

using Catch::Matchers::ContainsSubstring;

namespace steelyard::tests::test_steelyard_report {
namespace {

/// A result as a run of jacobi leaves it, whose repetitions took these seconds.
void write_result(const std::filesystem::path& folder, const std::vector<double>& times_s,
                  const std::string& partition = "even") {
  RunRecord record;
  record.app = "jacobi";
  record.processors = {"A processor"};
  record.settings["partition"] = partition;
  record.computation_units = "rows";
  record.units = {{0, "host", "OpenMP", "0", 1.0, {}, {}}, {0, "device", "Serial", "1", 2.0, {}, {}}};
  record.distribution = {30, 10};
  record.median_time_s = times_s[times_s.size() / 2];
  record.predicted_time_s = 0.5 * record.median_time_s;
  record.phases = {{"sweeps", record.median_time_s, record.predicted_time_s}};
  for (const double time_s : times_s) record.samples.push_back({{}, "time_s", time_s, {}});
  write_run_record(folder, record);
}

const std::vector<double> times_s{1.00, 1.01, 1.02, 1.03, 1.04};

Outcome tool(const TemporaryFolder& folder, const Words& arguments) {
  return run_all({{1, steelyard_tool, arguments, folder.path()}}).front();
}

void write_experiment(const TemporaryFolder& folder) {
  folder.write("experiment.json", R"json({"schema": "steelyard.experiment/1", "paper": "000", "figure": "fig9.9",
    "title": "Speeds & sizes", "question": "How fast?", "scale": "small", "date": "today", "commit": "c",
    "machine": "m", "complete": false, "columns": [{"name": "n", "label": "rows", "unit": ""},
      {"name": "t", "label": "time", "unit": "s"}], "points_file": "points.jsonl",
    "charts": [{"title": "Time", "kind": "line", "x": {"column": "n", "label": "rows", "scale": "log"},
        "y": {"label": "time (s)", "scale": "linear"}, "series": [
          {"label": "measured", "where": {"unit": "host"}, "y": "t", "from": "here"},
          {"label": "measured", "where": {}, "y": "t", "from": "paper"}]},
      {"title": "Bars", "kind": "stacked", "x": {"column": "unit", "label": "unit"}, "y": {"label": "time (s)"},
        "series": [{"label": "all", "where": {}, "y": "t"}]}],
    "tables": [{"title": "Times", "columns": ["unit", "n", "t"]}],
    "paper_points": [{"n": 16, "t": 99.5}], "paper_note": "Table 9.", "difference": "A smaller machine."})json");
  folder.write("points.jsonl",
               "{\"key\": \"1\", \"values\": {\"unit\": \"host\", \"n\": 8, \"t\": 1.5}}\n"
               "{\"key\": \"2\", \"values\": {\"unit\": \"device\", \"n\": 8, \"t\": 2.5}}\n");
}

}  // namespace

TEST_CASE("steelyard compare tells a change from noise, and says what else differs") {
  const TemporaryFolder folder;
  for (const char* const round : {"1", "2"}) {
    write_result(folder / "a" / "even" / round, times_s);
    write_result(folder / "b" / "even" / round, {1.21, 1.22, 1.20, 1.23, 1.24}, "exact");
    write_result(folder / "c" / "even" / round, {1.02, 1.00, 1.04, 1.01, 1.03});
  }
  const Outcome slower = tool(folder, {"compare", "a", "b", "--regression", "10"});
  CHECK(slower.status == 1);
  CHECK_THAT(slower.out, ContainsSubstring("slower"));
  CHECK_THAT(slower.out, ContainsSubstring("settings.partition: \"even\" -> \"exact\""));
  CHECK(tool(folder, {"compare", "a", "b", "--regression", "30"}).status == 0);
  const Outcome same = tool(folder, {"compare", "a", "c", "--regression", "0"});
  CHECK(same.status == 0);
  CHECK_THAT(same.out, ContainsSubstring("no difference seen"));
  CHECK_THAT(tool(folder, {"compare", "b", "a"}).out, ContainsSubstring("faster"));
  const Outcome csv = tool(folder, {"compare", "a", "b", "c", "--format", "csv"});
  CHECK(lines_that_start(csv.out, "\"even\",") == 2);
}

TEST_CASE("steelyard compare refuses folders without results, and such that share no run") {
  const TemporaryFolder folder;
  write_result(folder / "a" / "even", times_s);
  write_result(folder / "b" / "exact", times_s);
  CHECK(tool(folder, {"compare", "a", "b"}).status == 2);
  CHECK(tool(folder, {"compare", "a", "nowhere"}).status == 2);
  CHECK(tool(folder, {"compare", "a"}).status == 2);
}

TEST_CASE("steelyard report shows every run and every experiment on one page") {
  const TemporaryFolder folder;
  write_result(folder / "runs" / "even", times_s);
  write_result(folder / "runs" / "exact", times_s, "exact");
  write_experiment(folder);
  for (const char* const format : {"html", "markdown"}) {
    INFO(format);
    const Outcome page = tool(folder, {"report", "runs", ".", "--format", format});
    CHECK(page.status == 0);
    for (const char* const text : {"jacobi", "A processor", "30 + 10", "even", "exact", "sweeps", "66.7 %", "2.00",
                                   "000, fig9.9: Speeds &", "How fast?", "not finished", "99.5",
                                   "In the paper: Table 9.", "What differs: A smaller machine.", "time, s"}) {
      CHECK_THAT(page.out, ContainsSubstring(text));
    }
  }
  CHECK(tool(folder, {"report", "runs", "--output", "page.html"}).status == 0);
  CHECK_THAT(folder.read("page.html"), ContainsSubstring("<!doctype html>"));
}

TEST_CASE("steelyard report refuses what is no result, by file and key") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "empty");
  CHECK(tool(folder, {"report", "empty"}).status == 2);
  write_experiment(folder);
  folder.write("points.jsonl", "no point\n");
  const Outcome outcome = tool(folder, {"report", "."});
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, ContainsSubstring("points.jsonl"));
}

}  // namespace steelyard::tests::test_steelyard_report
