// What wave2d prints and what it leaves for other programs.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/json_file.hpp"
#include "tests/miniapps/wave2d_runs.hpp"

namespace steelyard::tests {
namespace {

TEST_CASE("A dry run prints rows that sum to the grid's and writes nothing") {
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
  CHECK(folder.entries() == 0);
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
         {"--size",      "--rows",    "--columns",  "--steps",       "--seed",    "--type",     "--units",   "--layout",
          "--partition", "--model",   "--platform", "--repetitions", "--warmups", "--check",    "--input",   "--output",
          "--result",    "--dry-run", "--help",     "--version",     "--courant", "--boundary", "--slowdown"}) {
      INFO(option << " in\n" << help.out);
      CHECK(lines_that_start(help.out, std::string("  ") + option) == 1);
    }
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("The result folder says what ran and what came of it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  run_wave2d(ranks,
             {"--rows", "31", "--columns", "17", "--steps", "6", "--seed", "7", "--repetitions", "4", "--warmups", "1",
              "--slowdown", "rank0=2", "--result", "deep/result"},
             folder);
  const auto json = read_run(folder / "deep" / "result", "wave2d");
  CHECK(json.at("seed") == 7);
  const auto words = json.at("argv").get<Words>();
  CHECK(words.front() == wave2d.string());
  CHECK(std::find(words.begin(), words.end(), "deep/result") != words.end());
  CHECK(json.at("hosts").size() == 1);
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

TEST_CASE("Speed models of a result serve the next run and the partition tool") {
  const TemporaryFolder folder;
  // Without --model: they are measured.
  const Outcome first = run(2, wave2d,
                            {"--rows", "47", "--columns", "33", "--steps", "2", "--units", "host", "--repetitions", "1",
                             "--result", "result"},
                            folder.path());
  REQUIRE(first.status == 0);
  Words models;
  for (const char* name : {"rank0-host.fpm.json", "rank1-host.fpm.json"}) {
    const std::filesystem::path path = folder / "result" / "models" / name;
    const auto json = read_json_file(path);
    CHECK(json.at("app") == "wave2d");
    CHECK(json.at("element") == "double");
    CHECK(json.at("parameters").at("columns") == 33.0);
    for (const char* key : {"kernel", "unit", "flops_per_unit", "bytes_per_unit", "machine", "commit"}) {
      INFO(key);
      CHECK(json.contains(key));
    }
    models.push_back(path);
  }
  Words again{"--rows", "47", "--columns", "33", "--steps", "2", "--units", "host", "--model", models[0], models[1]};
  const Outcome second = run_wave2d(2, again, folder);
  CHECK(second.out.find("speed models measured") == std::string::npos);

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

TEST_CASE("Layouts that steelyard writes are what wave2d reads") {
  const int ranks = GENERATE(1, 2, 3);
  const TemporaryFolder folder;
  REQUIRE(run(ranks, steelyard_tool, {"layout", "--output", "here.layout"}, folder.path()).status == 0);
  const Outcome plain = run_wave2d(ranks, {"--size", "21", "--steps", "2"}, folder);
  const Outcome followed =
      run_wave2d(ranks, {"--size", "21", "--steps", "2", "--layout", "here.layout", "--result", "result"}, folder);
  CHECK(rows_in_table(followed.out) == rows_in_table(plain.out));
  CHECK(read_json_file(folder / "result" / "run.json").at("settings").at("cores").get<std::string>().rfind("layout") ==
        0);
}

}  // namespace
}  // namespace steelyard::tests
