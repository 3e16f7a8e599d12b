#include <nlohmann/json.hpp>

#include "core/base/build_info.hpp"
#include "core/base/run_record.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_run_record {

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
  record.params = {{"rows", 64.0}, {"alpha", 0.5}, {"huge", 1e300}, {"beta", -3.0}};
  record.settings = {{"partition", "geometric"}};
  record.date = "2026-11-24T12:00:00Z";
  record.launch = {"mpirun", "-n", "2"};
  record.environment = {{"OMP_NUM_THREADS", "2"}};
  record.processors = {"A processor", "another"};
  record.memory_bytes = {8e9, 1.6e10};
  record.units = {{0, "host", "OpenMP", "0-3", 1.0, 0.25, 0.5}, {1, "device", "Cuda", "4", 2.5, {}, {}}};
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
  record.samples = {{{{"rows", 64.0}, {"alpha", 0.5}}, "time_s", 0.1, {{"unit", "host"}}},
                    {{}, "halo_s", 0.01, {{"note", "two\nlines"}}}};
  return record;
}

/// What run.json holds of the sample record.
json sample_json() {
  json run = json::parse(R"({
    "schema": "steelyard.run/1", "app": "wave2d", "date": "2026-11-24T12:00:00Z",
    "argv": ["wave2d", "--size", "64", "a \"quoted\" word"], "launch": ["mpirun", "-n", "2"],
    "environment": {"OMP_NUM_THREADS": "2"}, "seed": 18446744073709551615,
    "kokkos": "4.5.01", "blas": "OpenBLAS", "mpi": "3.1", "hosts": ["n1", "n2"],
    "processors": ["A processor", "another"],
    "memory_bytes": [8000000000, 16000000000], "params": {"rows": 64, "alpha": 0.5, "huge": 1e300, "beta": -3},
    "settings": {"partition": "geometric"},
    "units": [
      {"rank": 0, "kind": "host", "space": "OpenMP", "cores": "0-3", "slowdown": 1, "emulated": false,
       "predicted_s": 0.25, "measured_s": 0.5},
      {"rank": 1, "kind": "device", "space": "Cuda", "cores": "4", "slowdown": 2.5, "emulated": true,
       "predicted_s": null, "measured_s": null}],
    "timed_per": "step", "computation_units": "rows", "distribution": [40, 24], "median_time_s": 0.1,
    "predicted_interval_s": [0.25, 0.5], "figures": {"gflops": 12, "centre": [0.5, 0.25]},
    "phases": [{"name": "halo", "measured_s": 0.01, "predicted_s": 0.02},
               {"name": "compute", "measured_s": 0.09, "predicted_s": null}],
    "check": {"performed": true, "passed": true, "error": 1e-15, "tolerance": 1e-12, "against": "serial run"}})");
  run["predicted_time_s"] = 1.0 / 3.0;
  run["version"] = build_info().version;
  run["commit"] = build_info().commit;
  run["dirty"] = build_info().dirty;
  run["compiler"] = build_info().compiler;
  run["flags"] = build_info().flags;
  return run;
}

json written(const RunRecord& record) {
  const TemporaryFolder folder;
  write_run_record(folder.path(), record);
  return json::parse(folder.read("run.json"));
}

}  // namespace

TEST_CASE("run.json holds what the record holds, whole numbers as they were typed") {
  const json run = written(sample_record());
  CHECK(run == sample_json());
  CHECK(run["params"].dump() == R"({"alpha":0.5,"beta":-3,"huge":1e+300,"rows":64})");
}

TEST_CASE("run.json has the same keys when a run knows nothing, and null for what was not predicted or checked") {
  json run = written(RunRecord{});
  json keys = sample_json();
  CHECK(run["predicted_time_s"].is_null());
  CHECK(run["predicted_interval_s"].is_null());
  CHECK(run["check"]["performed"] == false);
  CHECK(run["check"]["passed"].is_null());
  for (json& value : keys) value = nullptr;
  for (json& value : run) value = nullptr;
  CHECK(run == keys);
}

TEST_CASE("what only some runs have stands in run.json of those alone") {
  RunRecord record = sample_record();
  record.rectangles = {{0, 1, 5, 3}, {0, 3, 5, 4}, {}};
  record.column_distribution = {3, 5};
  record.is_interrupted = record.is_dry_run = true;
  record.check = {true, false, 1.0, 1e-12, "exact solution"};
  json expected = sample_json();
  expected["rectangles"] = json::parse(R"([{"row": 0, "column": 1, "rows": 5, "columns": 3},
    {"row": 0, "column": 3, "rows": 5, "columns": 4}, {"row": 0, "column": 0, "rows": 0, "columns": 0}])");
  expected["column_distribution"] = {3, 5};
  expected["interrupted"] = expected["dry_run"] = true;
  expected["median_time_s"] = expected["phases"][0]["measured_s"] = expected["phases"][1]["measured_s"] = nullptr;
  expected["check"] = json::parse(
      R"({"performed": true, "passed": false, "error": 1, "tolerance": 1e-12, "against": "exact solution"})");
  CHECK(written(record) == expected);
}

TEST_CASE("samples.jsonl has one JSON object per sample and line, in a folder that is made with two files") {
  const TemporaryFolder folder;
  write_run_record(folder.path() / "new" / "result", sample_record());
  CHECK(folder.read("new/result/samples.jsonl") ==
        "{\"params\":{\"alpha\":0.5,\"rows\":64},\"metric\":\"time_s\",\"value\":0.1,\"unit\":\"host\"}\n"
        "{\"params\":{},\"metric\":\"halo_s\",\"value\":0.01,\"note\":\"two\\nlines\"}\n");
  CHECK(folder.entries() == 4);
  write_run_record(folder.path() / "new" / "result", RunRecord{});
  CHECK(std::filesystem::exists(folder.path() / "new" / "result" / "samples.jsonl"));
  CHECK(folder.read("new/result/samples.jsonl").empty());
}

TEST_CASE("an argument that is not UTF-8 does not lose the record, and a folder that cannot be is named") {
  RunRecord record;
  record.argv = {"gemm", "--result", "caf\xe9"};
  record.samples = {{{}, "time_s", 1.0, {{"note", "caf\xe9"}}}};
  const TemporaryFolder folder;
  REQUIRE_NOTHROW(write_run_record(folder.path(), record));
  CHECK_NOTHROW(json::parse(folder.read("run.json")));
  CHECK_NOTHROW(json::parse(folder.read("samples.jsonl")));
  CHECK_THROWS_MATCHES(write_run_record(folder.path() / "run.json" / "result", record), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "run.json").string())));
  CHECK(folder.entries() == 2);
}

TEST_CASE("build info names version, commit and the compiler with its version") {
  const BuildInfo& info = build_info();
  CHECK(std::count(info.version.begin(), info.version.end(), '.') == 2);
  CHECK(info.version.find_first_not_of("0123456789.") == std::string::npos);
  const bool whole = info.commit.size() >= 40 && info.commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  CHECK((whole || info.commit == "unknown"));
  CHECK((whole || !info.dirty));
#if defined(__clang__)
  const std::string version = std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#else
  const std::string version = std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#endif
  CHECK(info.compiler.find(version) != std::string::npos);
  CHECK(info.flags.find(':') != std::string::npos);
}

}  // namespace steelyard::test_run_record
