// What wave2d prints and what it leaves for other programs.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/json_file.hpp"
#include "tests/miniapps/rectangles.hpp"
#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d_results {
namespace {

std::vector<long long> numbers(const nlohmann::json& json) { return json.get<std::vector<long long>>(); }

bool points_are_owned_once(const Rectangles& rectangles, std::int64_t rows, std::int64_t columns) {
  std::vector<int> owners(static_cast<std::size_t>(rows * columns));
  for (const partition::Rectangle& r : rectangles) {
    if (r.row < 0 || r.column < 0 || r.end_row() > rows || r.end_column() > columns) return false;
    for (std::int64_t i = r.row; i < r.end_row(); ++i) {
      for (std::int64_t j = r.column; j < r.end_column(); ++j) ++owners[static_cast<std::size_t>(i * columns + j)];
    }
  }
  return std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; });
}

TEST_CASE("A dry run prints rows that sum to the grid's and writes nothing but its result") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder models;
  const TemporaryFolder folder;
  Words arguments{"--model"};
  for (int i = 0; i < 2 * ranks; ++i) {
    arguments.push_back(write_model(models, std::to_string(i) + ".fpm.json", 1e-6 * (1 + i)));
  }
  arguments.insert(arguments.end(), {"--units", "host+device", "--rows", "101", "--columns", "11", "--dry-run",
                                     "--result", "result", "--output", "field.npy"});
  const Outcome outcome = run_wave2d(ranks, arguments, folder);
  const std::vector<long long> rows = rows_in_table(outcome.out);
  CHECK(rows.size() == static_cast<std::size_t>(2 * ranks));
  CHECK(sum(rows) == 101);
  CHECK(std::is_sorted(rows.rbegin(), rows.rend()));
  CHECK(lines_that_start(outcome.out, "predicted") == 1);
  CHECK(lines_that_start(outcome.out, "time ") == 0);
  // A result of predictions alone.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(read_json_file(folder / "result/run.json").at("median_time_s").is_null());
}

TEST_CASE("Only rank 0 prints, and it prints once") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome = run_wave2d(ranks, {"--size", "21", "--steps", "5"}, folder);
  for (const char* start : {"wave2d ", "unit ", "time ", "predicted ", "speed ", "check "}) {
    INFO(start << " in\n" << outcome.out);
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  CHECK(outcome.out.find("check      passed") != std::string::npos);
  CHECK(sum(rows_in_table(outcome.out)) == 21);
}

TEST_CASE("Help and version are printed once and end well") {
  const TemporaryFolder folder;
  for (const int ranks : {1, 3}) {
    const Outcome version = run(ranks, wave2d, {"--version"}, folder.path());
    CHECK(version.status == 0);
    CHECK(lines_of(version.out).size() == 1);
    CHECK(version.out.rfind("wave2d ", 0) == 0);
    const Outcome help = run(ranks, wave2d, {"--size", "9", "--help"}, folder.path());
    CHECK(help.status == 0);
    CHECK(help.told_by("wave2d").empty());
    for (const char* option :
         {"--size",      "--rows",   "--columns",     "--steps",       "--type",      "--units",   "--layout",
          "--partition", "--model",  "--platform",    "--repetitions", "--warmups",   "--check",   "--input",
          "--output",    "--result", "--dry-run",     "-h,--help",     "--version",   "--courant", "--boundary",
          "--slowdown",  "--order",  "--time-tile",   "--balance",     "--serialize", "--frames",  "--frame-dir",
          "--barrier",   "--kind",   "--distribution"}) {
      INFO(option << " in\n" << help.out);
      CHECK(lines_of_option(help.out, option) == 1);
    }
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("The result folder says what ran and what came of it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  run_wave2d(ranks,
             {"--rows", "31", "--columns", "17", "--steps", "6", "--repetitions", "4", "--warmups", "1", "--slowdown",
              "rank0=2", "--result", "deep/result"},
             folder);
  const auto json = read_run(folder / "deep" / "result", "wave2d");
  CHECK(json.at("seed") == 1);
  const auto words = json.at("argv").get<Words>();
  CHECK(words.front() == wave2d.string());
  CHECK(std::find(words.begin(), words.end(), "deep/result") != words.end());
  CHECK(json.at("hosts").size() == 1);
  CHECK(json.at("params").at("order") == 2.0);
  CHECK(json.at("params").at("time_tile") == 1.0);
  CHECK_FALSE(json.contains("rectangles"));
  std::set<std::string> phases;
  for (const auto& phase : json.at("phases")) phases.insert(phase.at("name"));
  CHECK(phases == std::set<std::string>{"kernels", "exchange", "unpacking", "border", "packing", "interior"});
  CHECK(json.at("check").at("passed") == true);
  CHECK(json.at("check").at("error").get<double>() <= json.at("check").at("tolerance").get<double>());
  const auto rows = json.at("distribution").get<std::vector<long long>>();
  CHECK(sum(rows) == 31);
  std::set<int> named;
  for (const auto& unit : json.at("units")) {
    named.insert(unit.at("rank").get<int>());
    CHECK(unit.at("slowdown").get<double>() == (unit.at("rank") == 0 ? 2.0 : 1.0));
    CHECK(unit.at("emulated") == (unit.at("rank") == 0));
  }
  CHECK(named.size() == static_cast<std::size_t>(ranks));

  std::vector<double> times;
  for (const auto& sample : read_samples(folder / "deep" / "result")) {
    CHECK(sample.at("metric") == "time_s");
    CHECK(sample.at("params").at("repetition").get<std::size_t>() == times.size());
    CHECK(sample.at("params").at("rows") == 31.0);
    times.push_back(sample.at("value").get<double>());
    CHECK(times.back() > 0.0);
  }
  REQUIRE(times.size() == 4);
  std::sort(times.begin(), times.end());
  CHECK(json.at("median_time_s").get<double>() >= times[1]);
  CHECK(json.at("median_time_s").get<double>() <= times[2]);
}

TEST_CASE("Rectangles are in the table and in the result, as points of each unit") {
  const TemporaryFolder folder;
  const Words speeds = with_models(folder, {1e-6, 3e-6, 2e-6, 1e-6, 4e-6, 2e-6});
  const Words arguments =
      Words{"--rows",  "60", "--columns",   "90", "--steps",  "5",      "--partition", "column",
            "--order", "4",  "--time-tile", "2",  "--result", "result", "--units",     "host+device"} +
      speeds;
  const Outcome outcome = run_wave2d(3, arguments, folder);
  const auto json = read_run(folder / "result", "wave2d");
  CHECK(json.at("params").at("order") == 4.0);
  CHECK(json.at("params").at("time_tile") == 2.0);
  const Rectangles rectangles = rectangles_of(json);
  REQUIRE(rectangles.size() == json.at("units").size());
  CHECK(points_are_owned_once(rectangles, 60, 90));
  std::vector<long long> points;
  for (const partition::Rectangle& rectangle : rectangles) points.push_back(rectangle.area());
  CHECK(sum(points) == 60 * 90);
  CHECK(numbers(json.at("distribution")) == points);
  CHECK(slices_in_table(outcome.out, "points") == points);
  const std::vector<long long> rows = slices_in_table(outcome.out, "rows");
  const std::vector<long long> columns = slices_in_table(outcome.out, "columns");
  const std::vector<long long> first_row = slices_in_table(outcome.out, "row");
  const std::vector<long long> first_column = slices_in_table(outcome.out, "column");
  REQUIRE(rows.size() == rectangles.size());
  bool whole_rows = true;
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    CHECK(partition::Rectangle{first_row[i], first_column[i], rows[i], columns[i]} == rectangles[i]);
    whole_rows = whole_rows && columns[i] == 90;
  }
  CHECK_FALSE(whole_rows);
  // A dry run tells the same.
  const Outcome dry = run_wave2d(3, arguments + Words{"--dry-run"}, folder);
  CHECK(slices_in_table(dry.out, "points") == points);
}

TEST_CASE("The phases of a unit that is alone are parts of its run") {
  const TemporaryFolder folder;
  const Words apart = GENERATE(Words{}, Words{"--serialize"});
  run_wave2d(
      1, apart + Words{"--size", "600", "--steps", "40", "--time-tile", "4", "--units", "host", "--result", "result"},
      folder);
  const auto json = read_run(folder / "result", "wave2d");
  for (const bool predicted : {false, true}) {
    std::map<std::string, double> seconds;
    for (const auto& phase : json.at("phases")) {
      seconds[phase.at("name")] = phase.at(predicted ? "predicted_s" : "measured_s").get<double>();
    }
    CHECK(seconds["interior"] > 0.0);
    const double work_s = seconds["unpacking"] + seconds["border"] + seconds["packing"] + seconds["interior"];
    CHECK(work_s <= seconds["kernels"] * (1 + 1e-9));
    const double time_s = json.at(predicted ? "predicted_time_s" : "median_time_s").get<double>();
    CHECK(seconds["kernels"] + seconds["exchange"] <= time_s * (1 + 1e-9));
  }
}

TEST_CASE("Speed models of a result serve the next run and the partition tool") {
  const TemporaryFolder folder;
  // Without --model: they are measured.
  const Outcome first = run(2, wave2d,
                            {"--rows", "47", "--columns", "33", "--steps", "2", "--units", "host", "--order", "4",
                             "--time-tile", "2", "--repetitions", "1", "--result", "result"},
                            folder.path());
  REQUIRE(first.status == 0);
  Words models;
  for (const char* name : {"rank0-host.fpm.json", "rank1-host.fpm.json"}) {
    const std::filesystem::path path = folder / "result" / "models" / name;
    const auto json = read_json_file(path);
    CHECK(json.at("app") == "wave2d");
    CHECK(json.at("element") == "double");
    CHECK(json.at("parameters").at("columns") == 33.0);
    CHECK(json.at("parameters").at("order") == 4.0);
    CHECK(json.at("parameters").at("time_tile") == 2.0);
    for (const char* key : {"kernel", "unit", "flops_per_unit", "bytes_per_unit", "machine", "commit"}) {
      INFO(key);
      CHECK(json.contains(key));
    }
    models.push_back(path);
  }
  // The same time tile without saying so again.
  Words again{"--rows",  "47", "--columns", "33",      "--steps", "2",        "--units", "host",
              "--order", "4",  "--model",   models[0], models[1], "--result", "again"};
  const Outcome second = run_wave2d(2, again, folder);
  CHECK(second.out.find("speed models measured") == std::string::npos);
  CHECK(read_json_file(folder / "again" / "run.json").at("params").at("time_tile") == 2.0);

  const Outcome tool =
      run(1, steelyard_tool, {"partition", "--total", "47", "--format", "json", "--models", models[0], models[1]},
          folder.path());
  REQUIRE(tool.status == 0);
  // The same models and the same algorithm: the same rows.
  CHECK(nlohmann::json::parse(tool.out).at("units").get<std::vector<long long>>() == rows_in_table(second.out));
}

TEST_CASE("A result that cannot be written ends the run with exit code 3 and one line") {
  const TemporaryFolder models;
  expect_unwritable_refused(wave2d, {"--size", "9", "--steps", "1", "--repetitions", "1", "--model",
                                     write_model(models, "even.fpm.json", 1e-6)});
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_results
