// JSON files, and the records of runs, which are some.
#include <functional>

#include "core/base/build_info.hpp"
#include "core/base/json_file.hpp"
#include "core/base/run_record.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_json_file {

using nlohmann::json;
using tests::TemporaryFolder;

TEST_CASE("a written value is read back with its numbers bit for bit, its keys in order, and text that is not UTF-8") {
  const TemporaryFolder folder;
  const nlohmann::ordered_json value = {
      {"z", 0.1},        {"a", {1, -2, 1e300, 5e-324}}, {"text", "\u03b1 \"quoted\"\n"}, {"empty", json::object()},
      {"null", nullptr}, {"third", 1.0 / 3.0}};
  write_json_file(folder / "f.json", value);
  CHECK(nlohmann::ordered_json(read_json_file(folder / "f.json")) == nlohmann::ordered_json(json(value)));
  const std::string text = folder.read("f.json");
  CHECK(text.find("\"z\"") < text.find("\"a\""));
  write_json_file(folder / "f.json", {{"path", "caf\xe9"}});
  CHECK(read_json_file(folder / "f.json")["path"] == "caf\uFFFD");
}

TEST_CASE("a file that is not JSON is refused with its name and the line of the mistake, wherever it is cut") {
  const TemporaryFolder folder;
  const struct {
    const char *text, *line;
  } cases[] = {{"", "line 1:"},
               {"{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 3:"},
               {"{\n\"a\": [1, 2\n}", "line 3:"},
               {"{\n\n\n\"a\": tru }", "line 4:"},
               {"{}\n{}\n", "line 2:"},
               {"{\"a\": \"te\nxt\"}", "line 1:"},
               {"{\"a\": \"\xff\"}", "line 1:"},
               {"{\"a\": 1e999}", ""}};
  for (const auto& [text, line] : cases) {
    CAPTURE(text);
    const auto path = folder.write("f.json", text);
    CHECK_THROWS_MATCHES(read_json_file(path), FileFormatError,
                         MessageMatches(ContainsSubstring(path.string() + ": " + line)));
  }
  const std::string whole = "{\"a\": [1, {\"b\": \"text\"}], \"c\": true}";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    REQUIRE_THROWS_AS(read_json_file(folder.write("f.json", whole.substr(0, size))), FileFormatError);
  }
  CHECK_THROWS_AS(read_json_file(folder / "none.json"), FileFormatError);
}

TEST_CASE("a reader returns members as they are, and a default for those that are missing or null") {
  const json value = {{"n", 2.5}, {"t", "word"}, {"a", {{{"x", 1}}, {{"x", 2}}}}, {"yes", true}, {"null", nullptr}};
  const JsonReader reader("f.json", value);
  CHECK(reader.number("n", 3.5) == 2.5);
  CHECK(reader.text("t", "else") == "word");
  CHECK(reader.array("a").at(1).number("x") == 2.0);
  for (const char* const none : {"missing", "null"}) {
    CHECK(reader.number(none, 3.5) == 3.5);
    CHECK(reader.text(none, "else") == "else");
    for (const bool otherwise : {false, true}) {
      CHECK(reader.flag(none, otherwise) == otherwise);
      CHECK(reader.flag("yes", otherwise));
    }
  }
}

TEST_CASE("a value that is missing or wrong is refused with file, key path, what was found and what was expected") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  json value = {{"n", 1},
                {"t", "word"},
                {"null", nullptr},
                {"a", {1, 2}},
                {"outer", {{"list", {{{"x", 1}}, {{"x", "one"}}}}}},
                {"low", -infinity},
                {"nan", std::numeric_limits<double>::quiet_NaN()},
                {"long", std::string(10000000, 'x')},
                {"euros", std::string(58, 'x') + "\u20ac\u20ac"},
                {"schema", "steelyard.x/1"}};
  value["deep"] = json::parse(std::string(100000, '[') + std::string(100000, ']'));
  const JsonReader reader("f.json", value);
  const struct {
    std::function<void()> read;
    std::string message;
  } cases[] = {
      {[&] { reader.number("gone"); }, "gone: is missing"},
      {[&] { reader.array("gone"); }, "gone: is missing"},
      {[&] { reader.number("t", 3.5); }, "t: is \"word\" (expected a finite number)"},
      {[&] { reader.number("null"); }, "null: is null"},
      {[&] { reader.number("low", 1.0); }, "low:"},
      {[&] { reader.number("nan"); }, "nan:"},
      {[&] { reader.number("a"); }, "a: is [1,2]"},
      {[&] { reader.text("n", "else"); }, "n: is 1 (expected a string)"},
      {[&] { reader.flag("n", false); }, "n: is 1 (expected true or false)"},
      {[&] { reader.object("a"); }, "a: is array (expected a JSON object)"},
      {[&] { reader.array("n"); }, "n: is number (expected an array)"},
      {[&] { reader.array("a"); }, "a[0]: is number (expected a JSON object)"},
      {[&] { reader.object("outer").array("list").at(1).number("x"); }, "outer.list[1].x: is \"one\""},
      {[&] { reader.object("outer").array("list").at(0).fail("", "is odd"); }, "outer.list[0]: is odd"},
      {[&] { reader.number("long"); }, "long: is \"xxx"},
      {[&] { reader.number("euros"); }, "euros: is \"" + std::string(58, 'x') + "\u2026"},
      {[&] { reader.number("deep"); }, "deep: is "},
      {[&] { reader.require_schema("steelyard.x/2"); }, "schema: is \"steelyard.x/1\" (expected \"steelyard.x/2\")"},
      {[&] { JsonReader("f.json", value["null"]); }, "is null"}};
  for (const auto& [read, message] : cases) {
    CAPTURE(message);
    std::string said;
    try {
      read();
    } catch (const FileFormatError& error) {
      said = error.what();
    }
    CHECK_THAT(said, ContainsSubstring("f.json: " + message));
    CHECK(said.size() < 150);
  }
}

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
  record.column_distribution = {3, 5};
  record.rectangles = {{0, 1, 5, 3}, {}};
  record.is_interrupted = true;
  record.notes = {"times mean little"};
  record.median_time_s = 0.1;
  record.predicted_time_s = 1.0 / 3.0;
  record.predicted_interval_s = Interval{0.25, 0.5};
  record.figure_of_merit = FigureOfMerit{"GFLOP/s", 97.25};
  record.figures = {{"gflops", 12.0}};
  record.points = {{"centre", {0.5, 0.25}}};
  record.phases = {{"halo", 0.01, 0.02}, {"compute", 0.09, std::nullopt}};
  record.check = {true, true, 1e-15, 1e-12, "serial run"};
  record.samples = {{{{"rows", 64.0}, {"alpha", 0.5}}, "time_s", 0.1, {{"unit", "host"}}},
                    {{}, "halo_s", 0.01, {{"note", "two\nlines"}}}};
  return record;
}

/// The sample record as a run.json has it.
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
    "column_distribution": [3, 5], "interrupted": true, "notes": ["times mean little"],
    "rectangles": [{"row": 0, "column": 1, "rows": 5, "columns": 3}, {"row": 0, "column": 0, "rows": 0, "columns": 0}],
    "predicted_interval_s": [0.25, 0.5], "figure_of_merit": {"name": "GFLOP/s", "value": 97.25}, "figures": {"gflops": 12, "centre": [0.5, 0.25]},
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
  return read_json_file(folder / "run.json");
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
  for (const char* const key : {"rectangles", "column_distribution", "interrupted"}) keys.erase(key);
  CHECK(run["predicted_time_s"].is_null());
  CHECK(run["predicted_interval_s"].is_null());
  CHECK(run["figure_of_merit"].is_null());
  CHECK(run["check"]["performed"] == false);
  CHECK(run["check"]["passed"].is_null());
  for (json& value : keys) value = nullptr;
  for (json& value : run) value = nullptr;
  CHECK(run == keys);
}

TEST_CASE("run.json has no measured times of a dry run, and tells of a check that failed") {
  RunRecord record = sample_record();
  record.is_dry_run = true;
  record.check.passed = false;
  json expected = sample_json();
  expected["dry_run"] = true;
  expected["median_time_s"] = expected["phases"][0]["measured_s"] = expected["phases"][1]["measured_s"] = nullptr;
  expected["check"]["passed"] = false;
  CHECK(written(record) == expected);
}

TEST_CASE("samples.jsonl has one JSON object per sample and line, in a folder that is made with two files") {
  const TemporaryFolder folder;
  RunRecord record = sample_record();
  record.argv = {"gemm", "--result", "caf\xe9"};
  record.samples[0].keys["unit"] = "caf\xe9";
  write_run_record(folder.path() / "new" / "result", record);
  CHECK(folder.read("new/result/samples.jsonl") ==
        "{\"params\":{\"alpha\":0.5,\"rows\":64},\"metric\":\"time_s\",\"value\":0.1,\"unit\":\"caf\uFFFD\"}\n"
        "{\"params\":{},\"metric\":\"halo_s\",\"value\":0.01,\"note\":\"two\\nlines\"}\n");
  CHECK(folder.entries() == 4);
  write_run_record(folder.path() / "new" / "result", RunRecord{});
  CHECK(folder.read("new/result/samples.jsonl").empty());
  CHECK(folder.entries() == 4);
  CHECK_THROWS_MATCHES(write_run_record(folder / "new/result/run.json/result", record), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "new/result/run.json").string())));
}

TEST_CASE("build info names version, commit and the compiler with its version") {
  const BuildInfo& info = build_info();
  CHECK(std::count(info.version.begin(), info.version.end(), '.') == 2);
  const bool whole = info.commit.size() >= 40 && info.commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  CHECK((whole || (info.commit == "unknown" && !info.dirty)));
  CHECK_THAT(info.compiler, ContainsSubstring("."));
}

}  // namespace steelyard::test_json_file
