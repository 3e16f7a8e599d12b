// What gemm prints and what it leaves for other programs.

#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/base/json_file.hpp"
#include "tests/miniapps/gemm/gemm_runs.hpp"

namespace steelyard::tests::test_gemm_results {
namespace {

TEST_CASE(
    "A dry run of gemm prints block rows that sum to the matrix's, runs nothing and writes nothing but its result") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder models;
  const TemporaryFolder folder;
  std::vector<double> seconds;
  for (int i = 0; i < 2 * ranks; ++i) seconds.push_back(1e-3 * (1 + i));
  // Too much to run.
  const Outcome outcome = run_gemm(
      ranks,
      Words{"--m", "100001", "--n", "30000", "--k", "40000", "--dry-run", "--result", "result", "--output", "c.npy"} +
          with_models(models, seconds),
      folder);
  const std::vector<long long> slices = block_rows_in_table(outcome.out);
  CHECK(slices.size() == static_cast<std::size_t>(2 * ranks));
  CHECK(sum(slices) == (100001 + 31) / 32);
  CHECK(std::is_sorted(slices.rbegin(), slices.rend()));
  CHECK(lines_that_start(outcome.out, "predicted") == 1);
  for (const char* start : {"time ", "speed ", "check ", "device     rank"}) {
    CHECK(lines_that_start(outcome.out, start) == 0);
  }
  // A result of predictions alone.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(read_json_file(folder / "result/run.json").at("median_time_s").is_null());
}

TEST_CASE("Only rank 0 of gemm prints, and it prints once") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome = run_gemm(ranks, {"--size", "64", "--block", "4"}, folder);
  for (const char* start : {"gemm ", "host ", "device ", "unit ", "time ", "predicted ", "speed ", "check "}) {
    INFO(start << " in\n" << outcome.out);
    // A device also says, for each rank, what it copied.
    const int copied = std::string(start) == "device " ? lines_that_start(outcome.out, "device     rank ") : 0;
    CHECK(lines_that_start(outcome.out, start) == 1 + copied);
  }
  CHECK(lines_that_start(outcome.out, "check      passed") == 1);
  CHECK(sum(block_rows_in_table(outcome.out)) == 16);
}

TEST_CASE("Help and version of gemm are printed once and end well") {
  const TemporaryFolder folder;
  const Words with_size{"--size", "9", "--help"};
  const std::vector<Outcome> outcomes = run_all({{1, gemm, {"--version"}, folder.path()},
                                                 {1, gemm, with_size, folder.path()},
                                                 {3, gemm, {"--version"}, folder.path()},
                                                 {3, gemm, with_size, folder.path()}});
  for (const std::size_t i : {0, 2}) {
    const Outcome& version = outcomes[i];
    CHECK(version.status == 0);
    CHECK(lines_of(version.out).size() == 1);
    CHECK(version.out.rfind("gemm ", 0) == 0);
    const Outcome& help = outcomes[i + 1];
    CHECK(help.status == 0);
    CHECK(help.told_by("gemm").empty());
    for (const char* option :
         {"--size",  "--m",     "--n",      "--k",      "--alpha",     "--beta",    "--block",       "--device-memory",
          "--seed",  "--type",  "--units",  "--layout", "--partition", "--model",   "--repetitions", "--warmups",
          "--check", "--input", "--output", "--result", "--dry-run",   "-h,--help", "--version",     "--slowdown"}) {
      INFO(option << " in\n" << help.out);
      CHECK(lines_of_option(help.out, option) == 1);
    }
    CHECK(help.out.find("--steps") == std::string::npos);
    CHECK(help.out.find("--platform") == std::string::npos);
  }
  CHECK(folder.entries() == 0);
}

/// How many cores `0-3,6` are.
int cores_in(const std::string& text) {
  int cores = 0;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    cores += dash == std::string::npos ? 1 : std::stoi(part.substr(dash + 1)) - std::stoi(part.substr(0, dash)) + 1;
  }
  return cores;
}

TEST_CASE("gemm's result folder says what ran and what came of it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome =
      run_gemm(ranks, {"--m",       "61", "--n",        "37",      "--k",      "25",         "--alpha",       "-0.5",
                       "--beta",    "2",  "--block",    "4",       "--seed",   "7",          "--repetitions", "4",
                       "--warmups", "1",  "--slowdown", "rank0=2", "--result", "deep/result"},
               folder);
  CHECK(lines_that_start(outcome.out, "result     deep/result") == 1);
  const auto json = read_run(folder / "deep" / "result", "gemm");
  CHECK(json.at("seed") == 7);
  const auto words = json.at("argv").get<Words>();
  CHECK(words.front() == gemm.string());
  CHECK(std::find(words.begin(), words.end(), "deep/result") != words.end());
  const std::map<std::string, double> expected{{"m", 61},     {"n", 37},    {"k", 25},       {"alpha", -0.5},
                                               {"beta", 2.0}, {"block", 4}, {"ranks", ranks}};
  CHECK(json.at("params").get<std::map<std::string, double>>() == expected);
  CHECK(json.at("settings").at("element") == "double");
  CHECK(json.at("settings").at("partition") == "geometric");

  const auto slices = json.at("distribution").get<std::vector<long long>>();
  CHECK(sum(slices) == 16);
  CHECK(slices == block_rows_in_table(outcome.out));
  std::set<int> named;
  for (const auto& unit : json.at("units")) {
    named.insert(unit.at("rank").get<int>());
    CHECK(unit.at("slowdown").get<double>() == (unit.at("rank") == 0 ? 2.0 : 1.0));
    CHECK(unit.at("emulated") == (unit.at("rank") == 0));
    const std::string threads = json.at("settings").at(unit.at("kind").get<std::string>() + "_blas");
    const std::size_t comma = threads.rfind(", ");
    if (comma == std::string::npos) continue;  // a device's
    const int cores = cores_in(unit.at("cores").get<std::string>());
    CHECK(threads.substr(comma) == ", " + std::to_string(cores) + (cores == 1 ? " thread" : " threads"));
  }
  CHECK(named.size() == static_cast<std::size_t>(ranks));

  const auto& figures = json.at("figures");
  const double median_s = json.at("median_time_s").get<double>();
  CHECK(std::abs(figures.at("flops_per_s").get<double>() * median_s / (2.0 * 61 * 37 * 25) - 1.0) < 1e-9);
  CHECK(figures.at("units_flops_per_s").get<double>() > 0.0);
  CHECK(figures.at("share_of_units").get<double>() > 0.0);
  REQUIRE(json.at("phases").size() == 1);
  CHECK(json.at("phases")[0].at("measured_s") == json.at("median_time_s"));
  CHECK(json.at("phases")[0].at("predicted_s") == json.at("predicted_time_s"));
  CHECK(json.at("predicted_time_s").get<double>() > 0.0);
  CHECK(json.at("check").at("performed") == true);
  CHECK(json.at("check").at("passed") == true);
  CHECK(json.at("check").at("error").get<double>() <= json.at("check").at("tolerance").get<double>());

  std::vector<double> times;
  for (const auto& sample : read_samples(folder / "deep" / "result")) {
    CHECK(sample.at("metric") == "time_s");
    CHECK(sample.at("params").at("repetition").get<std::size_t>() == times.size());
    for (const auto& [name, value] : expected) CHECK(sample.at("params").at(name) == value);
    CHECK(sample.at("host_blas") == json.at("settings").at("host_blas"));
    times.push_back(sample.at("value").get<double>());
    CHECK(times.back() > 0.0);
  }
  REQUIRE(times.size() == 4);
  std::sort(times.begin(), times.end());
  CHECK(median_s >= times[1]);
  CHECK(median_s <= times[2]);
}

TEST_CASE("A unit that no rank drives has no library") {
  const std::string units = GENERATE("host", "device");
  const TemporaryFolder folder;
  const Outcome outcome = run_gemm(2, {"--size", "32", "--units", units, "--result", "result"}, folder);
  const auto json = read_run(folder / "result", "gemm");
  CHECK(json.at("settings").contains("host_blas") == (units == "host"));
  CHECK(json.at("settings").contains("device_blas") == (units == "device"));
  CHECK(lines_that_start(outcome.out, "host ") == (units == "host" ? 1 : 0));
  CHECK(lines_that_start(outcome.out, "device ") - lines_that_start(outcome.out, "device     rank ") ==
        (units == "device" ? 1 : 0));
}

TEST_CASE("Runs without anything to multiply have results that can be read") {
  using Extents = std::array<std::int64_t, 3>;
  const auto [m, n, k] = GENERATE(Extents{0, 3, 5}, Extents{4, 0, 5}, Extents{4, 3, 0});
  CAPTURE(m, n, k);
  const TemporaryFolder folder;
  const Outcome outcome = run_gemm(1,
                                   {"--m", std::to_string(m), "--n", std::to_string(n), "--k", std::to_string(k),
                                    "--repetitions", "3", "--device-memory", "1MiB", "--result", "result"},
                                   folder);
  CHECK(lines_that_start(outcome.out, "speed ") == 0);
  CHECK(outcome.out.find("nan") == std::string::npos);
  CHECK(outcome.out.find("inf") == std::string::npos);
  const auto json = read_run(folder / "result", "gemm");
  CHECK(json.at("distribution").get<std::vector<long long>>().size() == 2);
  CHECK(sum(json.at("distribution").get<std::vector<long long>>()) == (m > 0 ? 1 : 0));
  CHECK(json.at("check").at("passed") == true);
  CHECK(read_samples(folder / "result").size() == 3);
}

TEST_CASE("Checks are made as asked for") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Words levels{"none", "last", "all"};
  std::vector<AppRun> runs;
  for (const std::string& level : levels) {
    runs.push_back(
        {ranks, {"--size", "40", "--repetitions", "3", "--warmups", "1", "--check", level, "--result", level}});
  }
  const std::vector<Outcome> outcomes = run_gemm(runs, folder);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const std::string& level = levels[i];
    const Outcome& outcome = outcomes[i];
    const auto check = read_run(folder / level, "gemm").at("check");
    CHECK(check.at("performed") == (level != "none"));
    CHECK(lines_that_start(outcome.out,
                           level == "none" ? "check      not done: --check none" : "check      passed: ") == 1);
  }
}

TEST_CASE("Speed models of gemm's result serve the next run and the partition tool") {
  const TemporaryFolder folder;
  const Words problem{"--m", "120", "--n", "50", "--k", "40", "--block", "4", "--units", "host", "--repetitions", "1"};
  // Without --model: they are measured.
  const Outcome first = run(2, gemm, problem + Words{"--result", "result"}, folder.path());
  REQUIRE(first.status == 0);
  CHECK(read_run(folder / "result", "gemm").at("figures").at("model_time_s").get<double>() > 0.0);
  Words models;
  for (const char* name : {"rank0-host.fpm.json", "rank1-host.fpm.json"}) {
    const std::filesystem::path path = folder / "result" / "models" / name;
    const auto json = read_json_file(path);
    CHECK(json.at("app") == "gemm");
    CHECK(json.at("element") == "double");
    CHECK(json.at("parameters").at("n") == 50.0);
    CHECK(json.at("parameters").at("k") == 40.0);
    CHECK(json.at("parameters").at("block") == 4.0);
    CHECK(json.at("flops_per_unit") == 2.0 * 4 * 50 * 40);
    for (const char* key : {"kernel", "unit", "computation_unit", "bytes_per_unit", "machine", "commit"}) {
      INFO(key);
      CHECK(json.contains(key));
    }
    models.push_back(path);
  }
  const Outcome second = run_gemm(2, problem + Words{"--model"} + models, folder);
  CHECK(second.out.find("speed models measured") == std::string::npos);

  const Outcome tool = run(1, steelyard_tool,
                           Words{"partition", "--total", "30", "--format", "json", "--models"} + models, folder.path());
  REQUIRE(tool.status == 0);
  // The same models and the same algorithm: the same block rows.
  CHECK(nlohmann::json::parse(tool.out).at("units").get<std::vector<long long>>() == block_rows_in_table(second.out));
}

TEST_CASE("A result of gemm that cannot be written ends the run with exit code 3 and one line") {
  const TemporaryFolder models;
  expect_unwritable_refused(
      gemm, {"--size", "9", "--repetitions", "1", "--model", write_model(models, "even.fpm.json", 1e-6)});
}

TEST_CASE("The product makes the folders that it needs and leaves nothing else") {
  const TemporaryFolder folder;
  run_gemm(GENERATE(1, 3), {"--size", "9", "--output", "a/b/c.npy"}, folder);
  CHECK(read_grid<double>(folder / "a" / "b" / "c.npy").rows == 9);
  CHECK(folder.entries() == 4);  // and the speed model
}

TEST_CASE("Layouts that steelyard writes are what gemm reads") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  REQUIRE(run(ranks, steelyard_tool, {"layout", "--output", "here.layout"}, folder.path()).status == 0);
  const Words problem{"--size", "40", "--block", "4"};
  const std::vector<Outcome> outcomes =
      run_gemm({{ranks, problem}, {ranks, problem + Words{"--layout", "here.layout", "--result", "result"}}}, folder);
  CHECK(block_rows_in_table(outcomes[1].out) == block_rows_in_table(outcomes[0].out));
  const std::string cores = read_run(folder / "result", "gemm").at("settings").at("cores");
  CHECK(cores.rfind("layout", 0) == 0);
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_results
