#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "core/base/build_info.hpp"
#include "core/base/errors.hpp"
#include "core/base/run_record.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_run_record {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using nlohmann::json;
using tests::TemporaryFolder;

namespace {

RunRecord sample_record() {
  RunRecord record;
  record.app = "wave2d";
  record.argv = {"wave2d", "--size", "64", "a \"quoted\" word"};
  record.seed = 18446744073709551615ULL;
  record.kokkos = "4.5.01";
  record.blas = "OpenBLAS";
  record.mpi = "3.1";
  record.hosts = {"n1", "n2"};
  record.params = {{"rows", 64.0}};
  record.settings = {{"partition", "geometric"}};
  record.date = "2026-11-24T12:00:00Z";
  record.launch = {"mpirun", "-n", "2"};
  record.environment = {{"OMP_NUM_THREADS", "2"}};
  record.processors = {"A processor", "another"};
  record.units = {{0, "host", "OpenMP", "0-3", 1.0, 0.25, 0.5}, {0, "device", "Cuda", "4", 2.5, {}, {}}};
  record.timed_per = "step";
  record.computation_units = "rows";
  record.distribution = {40, 24};
  record.median_time_s = 0.1;
  record.predicted_time_s = 1.0 / 3.0;
  record.predicted_interval_s = Interval{0.25, 0.5};
  record.figures = {{"gflops", 12.0}};
  record.points = {{"centre", {0.5, 0.25}}};
  record.phases = {{"halo", 0.01, 0.02}, {"compute", 0.09, std::nullopt}};
  record.check = {true, true, 1e-15, 1e-12, "serial run"};
  record.samples = {{{{"rows", 64.0}}, "time_s", 0.1, {{"unit", "host"}}}, {{}, "halo_s", 0.01, {}}};
  return record;
}

json written(const RunRecord& record) {
  const TemporaryFolder folder;
  write_run_record(folder.path(), record);
  return json::parse(folder.read("run.json"));
}

std::set<std::string> keys(const json& object) {
  std::set<std::string> found;
  for (const auto& [key, value] : object.items()) found.insert(key);
  return found;
}

}  // namespace

TEST_CASE("run.json has the keys that the architecture promises and no unknown ones") {
  const json run = written(sample_record());
  const std::set<std::string> promised = {"schema",
                                          "app",
                                          "argv",
                                          "seed",
                                          "commit",
                                          "dirty",
                                          "compiler",
                                          "kokkos",
                                          "blas",
                                          "mpi",
                                          "hosts",
                                          "units",
                                          "computation_units",
                                          "distribution",
                                          "phases",
                                          "check",
                                          "median_time_s",
                                          "predicted_time_s"};
  std::set<std::string> all = promised;
  all.insert({"version", "flags", "params", "settings", "figures", "date", "launch", "environment", "processors",
              "timed_per", "predicted_interval_s"});
  CHECK(keys(run) == all);
  CHECK(run["schema"] == "steelyard.run/1");
  CHECK(keys(run["check"]) == std::set<std::string>{"performed", "passed", "error", "tolerance", "against"});
  CHECK(keys(run["phases"][0]) == std::set<std::string>{"name", "measured_s", "predicted_s"});
}

TEST_CASE("run.json has the same keys when a run knows nothing") {
  CHECK(keys(written(RunRecord{})) == keys(written(sample_record())));
}

TEST_CASE("run.json holds what the record holds") {
  const RunRecord record = sample_record();
  const json run = written(record);
  CHECK(run["app"] == record.app);
  CHECK(run["argv"] == json(record.argv));
  CHECK(run["date"] == record.date);
  CHECK(run["launch"] == json(record.launch));
  CHECK(run["environment"] == json(record.environment));
  CHECK(run["processors"] == json(record.processors));
  CHECK(run["timed_per"] == record.timed_per);
  CHECK(run["seed"].get<std::uint64_t>() == record.seed);
  CHECK(run["kokkos"] == record.kokkos);
  CHECK(run["mpi"] == record.mpi);
  CHECK(run["blas"] == record.blas);
  CHECK(run["hosts"] == json(record.hosts));
  CHECK(run["params"] == json(record.params));
  CHECK(run["settings"] == json(record.settings));
  CHECK(run["computation_units"] == record.computation_units);
  CHECK(run["distribution"] == json(record.distribution));
  CHECK(run["median_time_s"].get<double>() == record.median_time_s);
  CHECK(run["predicted_time_s"].get<double>() == *record.predicted_time_s);
  CHECK(run["predicted_interval_s"] == json({0.25, 0.5}));
  CHECK(written(RunRecord{})["predicted_interval_s"].is_null());
  json figures = record.figures;
  figures["centre"] = {0.5, 0.25};
  CHECK(run["figures"] == figures);
  CHECK(run["check"]["passed"] == true);
  CHECK(run["check"]["error"].get<double>() == record.check.error);
  CHECK(run["check"]["tolerance"].get<double>() == record.check.tolerance);
  REQUIRE(run["phases"].size() == 2);
  CHECK(run["phases"][0]["name"] == "halo");
  CHECK(run["phases"][0]["measured_s"].get<double>() == 0.01);
  CHECK(run["phases"][0]["predicted_s"].get<double>() == 0.02);
}

TEST_CASE(
    "run.json has the rectangles of all ranks, empty ones too, where slices have two dimensions, and only there") {
  RunRecord record = sample_record();
  CHECK_FALSE(written(record).contains("rectangles"));
  record.rectangles = {{0, 0, 5, 3}, {0, 3, 5, 4}, {}};
  const json run = written(record);
  const json& rectangles = run["rectangles"];
  REQUIRE(rectangles.size() == record.rectangles.size());
  for (std::size_t i = 0; i < rectangles.size(); ++i) {
    CHECK(keys(rectangles[i]) == std::set<std::string>{"row", "column", "rows", "columns"});
    CHECK(rectangles[i]["row"].get<std::int64_t>() == record.rectangles[i].row);
    CHECK(rectangles[i]["column"].get<std::int64_t>() == record.rectangles[i].column);
    CHECK(rectangles[i]["rows"].get<std::int64_t>() == record.rectangles[i].rows);
    CHECK(rectangles[i]["columns"].get<std::int64_t>() == record.rectangles[i].columns);
  }
  std::set<std::string> all = keys(written(sample_record()));
  all.insert("rectangles");
  CHECK(keys(run) == all);
}

TEST_CASE("run.json says what the binary was built from") {
  const json run = written(RunRecord{});
  CHECK(run["version"] == build_info().version);
  CHECK(run["commit"] == build_info().commit);
  CHECK(run["dirty"] == build_info().dirty);
  CHECK(run["compiler"] == build_info().compiler);
  CHECK(run["flags"] == build_info().flags);
}

TEST_CASE("what was not predicted or checked is null rather than a number or a verdict") {
  RunRecord record = sample_record();
  record.predicted_time_s.reset();
  record.check = {};
  const json run = written(record);
  CHECK(run["predicted_time_s"].is_null());
  CHECK(run["phases"][1]["predicted_s"].is_null());
  CHECK(run["check"]["performed"] == false);
  CHECK(run["check"]["passed"].is_null());
}

TEST_CASE("a failed check is false and not null") {
  RunRecord record;
  record.check = {true, false, 1.0, 1e-12, "exact solution"};
  CHECK(written(record)["check"]["passed"] == false);
}

TEST_CASE("whole numbers are written as they were typed") {
  RunRecord record;
  record.params = {{"rows", 1024.0}, {"alpha", 0.5}, {"huge", 1e300}, {"beta", -3.0}};
  record.samples = {{record.params, "time_s", 2.0, {}}};
  const TemporaryFolder folder;
  write_run_record(folder.path(), record);
  CHECK(json::parse(folder.read("run.json"))["params"].dump() ==
        R"({"alpha":0.5,"beta":-3,"huge":1e+300,"rows":1024})");
  CHECK(json::parse(folder.read("samples.jsonl"))["params"]["rows"].is_number_integer());
}

TEST_CASE("what a unit took and was predicted to take stands beside it, null where that is unknown") {
  const json units = written(sample_record())["units"];
  CHECK(units[0]["predicted_s"].get<double>() == 0.25);
  CHECK(units[0]["measured_s"].get<double>() == 0.5);
  CHECK(units[1]["predicted_s"].is_null());
  CHECK(units[1]["measured_s"].is_null());
}

TEST_CASE("a unit is called emulated exactly when it was slowed down") {
  const json units = written(sample_record())["units"];
  REQUIRE(units.size() == 2);
  CHECK(units[0]["emulated"] == false);
  CHECK(units[1]["emulated"] == true);
  CHECK(units[1]["slowdown"].get<double>() == 2.5);
  CHECK(units[1]["kind"] == "device");
  CHECK(units[1]["cores"] == "4");
  CHECK(units[1]["space"] == "Cuda");
}

TEST_CASE("samples.jsonl has one JSON object per sample and line with numbers in params and strings beside them") {
  const TemporaryFolder folder;
  const RunRecord record = sample_record();
  write_run_record(folder.path(), record);
  const std::string text = folder.read("samples.jsonl");
  CHECK(text.back() == '\n');
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const json sample = json::parse(line);
    REQUIRE(count < record.samples.size());
    const Sample& expected = record.samples[count];
    CHECK(sample["metric"] == expected.metric);
    CHECK(sample["value"].get<double>() == expected.value);
    CHECK(sample["params"].is_object());
    CHECK(sample["params"].size() == expected.params.size());
    for (const auto& [name, value] : expected.params) CHECK(sample["params"][name].get<double>() == value);
    for (const auto& [name, word] : expected.keys) CHECK(sample[name] == word);
    CHECK(sample.size() == 3 + expected.keys.size());
  }
  CHECK(count == record.samples.size());
}

TEST_CASE("a sample whose text holds a line feed still takes one line") {
  RunRecord record;
  record.samples = {{{}, "time_s", 1.0, {{"note", "two\nlines"}}}};
  const TemporaryFolder folder;
  write_run_record(folder.path(), record);
  const std::string text = folder.read("samples.jsonl");
  CHECK(text.find('\n') == text.size() - 1);
  CHECK(json::parse(text)["note"] == "two\nlines");
}

TEST_CASE("a run without samples writes an empty samples.jsonl") {
  const TemporaryFolder folder;
  write_run_record(folder.path(), RunRecord{});
  CHECK(std::filesystem::exists(folder / "samples.jsonl"));
  CHECK(folder.read("samples.jsonl").empty());
}

TEST_CASE("an argument that is not UTF-8 does not lose the record") {
  RunRecord record;
  record.argv = {"gemm", "--result", "caf\xe9"};
  record.samples = {{{}, "time_s", 1.0, {{"note", "caf\xe9"}}}};
  const TemporaryFolder folder;
  REQUIRE_NOTHROW(write_run_record(folder.path(), record));
  CHECK_NOTHROW(json::parse(folder.read("run.json")));
  CHECK_NOTHROW(json::parse(folder.read("samples.jsonl")));
}

TEST_CASE("the result folder is made and holds two files and no temporary one") {
  const TemporaryFolder folder;
  write_run_record(folder.path() / "new" / "result", sample_record());
  CHECK(std::filesystem::exists(folder.path() / "new" / "result" / "run.json"));
  CHECK(std::filesystem::exists(folder.path() / "new" / "result" / "samples.jsonl"));
  CHECK(folder.entries() == 4);
}

TEST_CASE("a result folder that cannot be made fails while running with its name and leaves nothing") {
  const TemporaryFolder folder;
  folder.write("file", "text");
  CHECK_THROWS_MATCHES(write_run_record(folder.path() / "file" / "result", sample_record()), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "file").string())));
  CHECK(folder.entries() == 1);
}

}  // namespace steelyard::test_run_record
