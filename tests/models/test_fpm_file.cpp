#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "core/base/errors.hpp"
#include "models/fpm_file.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_fpm_file {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using nlohmann::json;
using namespace steelyard::models;
using tests::TemporaryFolder;

namespace {

/// Doubles of all sizes, with every bit of the mantissa in use.
double odd_number(std::mt19937_64& random) {
  return std::exp(std::uniform_real_distribution<double>(-300.0, 300.0)(random));
}

/// @param parts of each run that have seconds
std::vector<MeasuredPoint> random_points(std::mt19937_64& random, int count, std::size_t parts) {
  std::vector<MeasuredPoint> points;
  double units = 0.0;
  for (int i = 0; i < count; ++i) {
    units += std::uniform_real_distribution<double>(0.1, 10.0)(random);
    const int repetitions = 1 + static_cast<int>(random() % 1000);
    points.push_back({units, odd_number(random), repetitions, odd_number(random),
                      random() % 2 == 0 ? 0 : static_cast<int>(random() % 1000) % (repetitions + 1)});
    for (std::size_t part = 0; part < parts; ++part) points.back().parts_s[part] = odd_number(random);
  }
  return points;
}

FpmFile random_file(std::mt19937_64& random) {
  FpmFile file;
  file.app = "gemm";
  file.kernel = "panel \"update\"";
  file.element = "double";
  file.unit_kind = "host";
  file.unit_cores = "0-3";
  file.unit_device = "\u03b1";
  file.slowdown = 1.0 + 1.0 / 3.0;
  file.computation_unit = "one row\nof blocks";
  file.parameters = {{"columns", odd_number(random)}, {"block", 32.0}};
  file.flops_per_unit = odd_number(random);
  file.bytes_per_unit = odd_number(random);
  file.unit_bound = random() % 2 == 0;
  file.solo = random() % 2 == 0;
  if (random() % 2 == 0) file.in_core_units = odd_number(random);
  if (random() % 2 == 0) file.max_units = odd_number(random);
  file.machine = "node7";
  file.commit = "0123456789";
  if (random() % 2 == 0) file.drift = {odd_number(random), 1 + static_cast<int>(random() % 20), 7};
  for (std::size_t part = random() % (MeasuredPoint::most_parts + 1); part > 0; --part) {
    file.parts.push_back("part " + std::to_string(part));
  }
  file.points = random_points(random, 1 + static_cast<int>(random() % 20), file.parts.size());
  file.imprecise = random_points(random, static_cast<int>(random() % 3), file.parts.size());
  return file;
}

void require_same(const std::vector<MeasuredPoint>& a, const std::vector<MeasuredPoint>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].units == b[i].units);
    REQUIRE(a[i].time_s == b[i].time_s);
    REQUIRE(a[i].repetitions == b[i].repetitions);
    REQUIRE(a[i].confidence_s == b[i].confidence_s);
    REQUIRE(a[i].outliers == b[i].outliers);
    REQUIRE(a[i].parts_s == b[i].parts_s);
  }
}

void require_same(const FpmFile& a, const FpmFile& b) {
  REQUIRE(a.app == b.app);
  REQUIRE(a.kernel == b.kernel);
  REQUIRE(a.drift.share == b.drift.share);
  REQUIRE(a.drift.degrees == b.drift.degrees);
  REQUIRE(a.drift.rounds == b.drift.rounds);
  REQUIRE(a.element == b.element);
  REQUIRE(a.unit_kind == b.unit_kind);
  REQUIRE(a.unit_cores == b.unit_cores);
  REQUIRE(a.unit_device == b.unit_device);
  REQUIRE(a.slowdown == b.slowdown);
  REQUIRE(a.computation_unit == b.computation_unit);
  REQUIRE(a.parameters == b.parameters);
  REQUIRE(a.flops_per_unit == b.flops_per_unit);
  REQUIRE(a.bytes_per_unit == b.bytes_per_unit);
  REQUIRE(a.max_units == b.max_units);
  REQUIRE(a.machine == b.machine);
  REQUIRE(a.commit == b.commit);
  REQUIRE(a.unit_bound == b.unit_bound);
  REQUIRE(a.in_core_units == b.in_core_units);
  REQUIRE(a.solo == b.solo);
  REQUIRE(a.parts == b.parts);
  require_same(a.points, b.points);
  require_same(a.imprecise, b.imprecise);
}

json smallest() {
  return {{"schema", "steelyard.fpm/1"},
          {"points", {{{"units", 1.0}, {"time_s", 0.5}}, {{"units", 2}, {"time_s", 1}}}}};
}

}  // namespace

TEST_CASE("a speed model file is read back bit for bit from disk and from text") {
  const TemporaryFolder folder;
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const FpmFile file = random_file(random);
    write_fpm_file(folder / "a.fpm.json", file);
    require_same(read_fpm_file(folder / "a.fpm.json"), file);
    require_same(parse_fpm_description(format_fpm(file), "rank 3"), file);
    REQUIRE(folder.entries() == 1);
  }
}

TEST_CASE("seconds of parts lie between those of the points around a size, and are the nearest point's beyond them") {
  FpmFile file;
  file.parts = {"border", "interior"};
  file.points = {{2.0, 1.0, 1, 0.0, 0, {0.25, 0.5}}, {4.0, 2.0, 1, 0.0, 0, {0.25, 1.5}}};
  CHECK(file.parts_s(1.0) == file.points.front().parts_s);
  CHECK(file.parts_s(4.0) == file.points.back().parts_s);
  CHECK(file.parts_s(3.0) == std::array{0.25, 1.0, 0.0, 0.0});
  CHECK(file.parts_s(100.0) == file.points.back().parts_s);
}

TEST_CASE("a speed model without a memory limit stays without one") {
  std::mt19937_64 random(2);
  FpmFile file = random_file(random);
  file.max_units = std::numeric_limits<double>::infinity();
  CHECK_FALSE(json::parse(format_fpm(file)).contains("max_units"));
  CHECK(parse_fpm_description(format_fpm(file), "f").max_units == file.max_units);
}

TEST_CASE("only the schema and the points with size and time are required") {
  const FpmFile file = parse_fpm_description(smallest().dump(), "f");
  REQUIRE(file.points.size() == 2);
  CHECK(file.points[0].units == 1.0);
  CHECK(file.points[1].time_s == 1.0);
  CHECK(file.points[0].repetitions == 1);
  CHECK(file.points[0].confidence_s == 0.0);
  CHECK(file.max_units == std::numeric_limits<double>::infinity());
  CHECK(file.in_core_units == std::numeric_limits<double>::infinity());
  CHECK(file.slowdown == 1.0);
  CHECK(file.unit_bound);
  CHECK_FALSE(file.solo);
  CHECK(file.imprecise.empty());
  CHECK(file.points[0].outliers == 0);
  CHECK(file.app.empty());
  CHECK(file.parameters.empty());
}

TEST_CASE("a description may have no points yet but a file must") {
  FpmFile description;
  description.app = "gemm";
  const FpmFile back = parse_fpm_description(format_fpm(description), "rank 3");
  CHECK(back.app == "gemm");
  CHECK(back.points.empty());
  CHECK(format_fpm(description).find('\n') == std::string::npos);
  const TemporaryFolder folder;
  write_fpm_file(folder / "a.fpm.json", description);
  CHECK_THROWS_MATCHES(read_fpm_file(folder / "a.fpm.json"), FileFormatError,
                       MessageMatches(ContainsSubstring("a.fpm.json: points: is empty")));
}

TEST_CASE("keys that this version does not know are ignored") {
  json value = smallest();
  value["future"] = {{"a", 1}};
  value["points"][0]["future"] = "word";
  CHECK(parse_fpm_description(value.dump(), "f").points.size() == 2);
}

TEST_CASE("a speed model file with a mistake is refused with file and key") {
  const TemporaryFolder folder;
  struct Mistake {
    const char* pointer;  // where in the smallest file
    json value;           // what is put there; discarded: removed
    const char* key;
  };
  const json removed(json::value_t::discarded);
  const auto mistake = GENERATE_COPY(
      Mistake{"/schema", removed, "schema"}, Mistake{"/schema", "steelyard.fpm/2", "schema"},
      Mistake{"/drift", {{"share", -0.1}, {"degrees", 1}}, "drift.share"},
      Mistake{"/drift", {{"share", 0.1}}, "drift.degrees"}, Mistake{"/drift", 0.1, "drift"},
      Mistake{"/drift", {{"share", 0.1}, {"degrees", 0.5}}, "drift.degrees"}, Mistake{"/schema", 1, "schema"},
      Mistake{"/points", removed, "points"}, Mistake{"/points", json::array(), "points"},
      Mistake{"/points", json::object(), "points"}, Mistake{"/points/1", 3, "points[1]"},
      Mistake{"/points/1/units", removed, "points[1].units"}, Mistake{"/points/1/units", "2", "points[1].units"},
      Mistake{"/points/1/units", nullptr, "points[1].units"}, Mistake{"/points/1/units", 1.0, "points[1].units"},
      Mistake{"/points/1/units", 0.5, "points[1].units"}, Mistake{"/points/0/units", 0.0, "points[0].units"},
      Mistake{"/points/0/units", -1.0, "points[0].units"}, Mistake{"/points/1/time_s", removed, "points[1].time_s"},
      Mistake{"/points/1/time_s", 0.0, "points[1].time_s"}, Mistake{"/points/1/time_s", -1e-9, "points[1].time_s"},
      Mistake{"/points/1/time_s", nullptr, "points[1].time_s"},
      Mistake{"/points/1/repetitions", 0, "points[1].repetitions"},
      Mistake{"/points/1/repetitions", 1e300, "points[1].repetitions"},
      Mistake{"/points/1/repetitions", 2.5, "points[1].repetitions"},
      Mistake{"/points/1/confidence_s", -1.0, "points[1].confidence_s"}, Mistake{"/max_units", 0.0, "max_units"},
      Mistake{"/max_units", -3.0, "max_units"}, Mistake{"/app", 1, "app"}, Mistake{"/unit", "host", "unit"},
      Mistake{"/unit", {{"kind", 1}}, "unit.kind"}, Mistake{"/parameters", {{"columns", "many"}}, "parameters.columns"},
      Mistake{"/flops_per_unit", "many", "flops_per_unit"}, Mistake{"/unit", {{"bound", 1}}, "unit.bound"},
      Mistake{"/unit", {{"bound", "yes"}}, "unit.bound"}, Mistake{"/unit", {{"slowdown", 0.99}}, "unit.slowdown"},
      Mistake{"/unit", {{"slowdown", 0.0}}, "unit.slowdown"}, Mistake{"/unit", {{"slowdown", -2.0}}, "unit.slowdown"},
      Mistake{"/unit", {{"slowdown", "2"}}, "unit.slowdown"}, Mistake{"/in_core_units", 0.0, "in_core_units"},
      Mistake{"/in_core_units", -5.0, "in_core_units"}, Mistake{"/in_core_units", "all", "in_core_units"},
      Mistake{"/solo", 0, "solo"}, Mistake{"/solo", "no", "solo"},
      Mistake{"/points/1/outliers", -1, "points[1].outliers"}, Mistake{"/points/1/outliers", 2, "points[1].outliers"},
      Mistake{"/points/1/outliers", 0.5, "points[1].outliers"},
      Mistake{"/points/1/outliers", "one", "points[1].outliers"}, Mistake{"/imprecise_points", 1, "imprecise_points"},
      Mistake{"/parts", {"a", "b", "c", "d", "e"}, "parts"}, Mistake{"/parts", {1}, "parts"},
      Mistake{"/parts", {"border"}, "points[0].parts_s"},
      Mistake{"/imprecise_points", {{{"units", 1}}}, "imprecise_points[0].time_s"},
      Mistake{"/imprecise_points", {{{"units", 0}, {"time_s", 1}}}, "imprecise_points[0].units"},
      Mistake{"/imprecise_points", {{{"units", 1}, {"time_s", -1}}}, "imprecise_points[0].time_s"});
  json value = smallest();
  const json::json_pointer place(mistake.pointer);
  if (mistake.value.is_discarded()) {
    value[place.parent_pointer()].erase(place.back());
  } else {
    value[place] = mistake.value;
  }
  INFO(value.dump());
  const auto path = folder.write("a.fpm.json", value.dump());
  CHECK_THROWS_MATCHES(read_fpm_file(path), FileFormatError,
                       MessageMatches(ContainsSubstring(path.string() + ": " + mistake.key + ": ")));
  if (value["points"] == json::array()) return;  // a description may have no points yet
  CHECK_THROWS_MATCHES(parse_fpm_description(value.dump(), "rank 3"), FileFormatError,
                       MessageMatches(ContainsSubstring(std::string("rank 3: ") + mistake.key + ": ")));
}

TEST_CASE("text that is not JSON or not an object is refused with its name") {
  const TemporaryFolder folder;
  const std::string text = GENERATE("", "{", "not json", "[]", "1", "{\"schema\": \"steelyard.fpm/1\", \"points\": [");
  const auto path = folder.write("a.fpm.json", text);
  CHECK_THROWS_MATCHES(read_fpm_file(path), FileFormatError, MessageMatches(ContainsSubstring(path.string())));
  CHECK_THROWS_MATCHES(parse_fpm_description(text, "rank 3"), FileFormatError,
                       MessageMatches(ContainsSubstring("rank 3")));
}

TEST_CASE("a time too large for a double is refused") {
  const std::string text = "{\"schema\": \"steelyard.fpm/1\", \"points\": [{\"units\": 1, \"time_s\": 1e999}]}";
  const TemporaryFolder folder;
  CHECK_THROWS_AS(read_fpm_file(folder.write("a.fpm.json", text)), FileFormatError);
  CHECK_THROWS_AS(parse_fpm_description(text, "f"), FileFormatError);
}

TEST_CASE("a speed model file that is missing or cannot be written is reported with its name") {
  const TemporaryFolder folder;
  CHECK_THROWS_MATCHES(read_fpm_file(folder / "none.fpm.json"), FileFormatError,
                       MessageMatches(ContainsSubstring((folder / "none.fpm.json").string())));
  folder.write("file", "text");
  std::mt19937_64 random(3);
  CHECK_THROWS_MATCHES(write_fpm_file(folder.path() / "file" / "a.fpm.json", random_file(random)), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "file").string())));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a machine name that is not UTF-8 can be written and sent") {
  std::mt19937_64 random(4);
  FpmFile file = random_file(random);
  file.machine = "caf\xe9";
  REQUIRE_NOTHROW(format_fpm(file));
  CHECK_THAT(parse_fpm_description(format_fpm(file), "f").machine, ContainsSubstring("caf"));
}

TEST_CASE("what was not measured precisely is not among the points") {
  json value = smallest();
  value["imprecise_points"] = {{{"units", 1.5}, {"time_s", 9.0}, {"repetitions", 4}, {"outliers", 3}}};
  const FpmFile file = parse_fpm_description(value.dump(), "f");
  CHECK(file.points.size() == 2);
  REQUIRE(file.imprecise.size() == 1);
  CHECK(file.imprecise[0].units == 1.5);
  CHECK(file.imprecise[0].outliers == 3);
}

TEST_CASE("imprecise points count where no other does, and stay imprecise when they are written again") {
  FpmFile file;
  file.imprecise = {{2.0, 0.5, 7, 0.2, 0}, {4.0, 1.5, 7, 0.9, 0}};
  const TemporaryFolder folder;
  write_fpm_file(folder / "a.fpm.json", file);
  for (int time = 0; time < 2; ++time) {
    const FpmFile back = read_fpm_file(folder / "a.fpm.json");
    CHECK(back.all_imprecise);
    require_same(back.points, file.imprecise);
    CHECK(back.imprecise.empty());
    const json written = json::parse(format_fpm(back));
    CHECK(written.at("points").empty());
    CHECK(written.at("imprecise_points").size() == 2);
    write_fpm_file(folder / "a.fpm.json", back);
  }
  file.points = {{3.0, 1.0, 7, 0.0, 0}};
  write_fpm_file(folder / "a.fpm.json", file);
  const FpmFile mixed = read_fpm_file(folder / "a.fpm.json");
  CHECK_FALSE(mixed.all_imprecise);
  require_same(mixed.points, file.points);
}

TEST_CASE("what says nothing is not written") {
  FpmFile file;
  file.points = {{1.0, 0.5, 7, 0.01, 0}};
  const json value = json::parse(format_fpm(file));
  CHECK_FALSE(value.contains("in_core_units"));
  CHECK_FALSE(value.contains("imprecise_points"));
  CHECK_FALSE(value["points"][0].contains("outliers"));
}

TEST_CASE("a name that ends in .fpm is read as Fupermod's text and any other as JSON") {
  const TemporaryFolder folder;
  const std::string text = "# d t\n1 0.5\n2 1\n";
  const FpmFile file = read_fpm_file(folder.write("a.fpm", text));
  REQUIRE(file.points.size() == 2);
  CHECK(file.points[1].units == 2.0);
  CHECK(file.points[1].time_s == 1.0);
  CHECK_THROWS_AS(read_fpm_file(folder.write("a.fpm.json", text)), FileFormatError);
  CHECK_THROWS_AS(read_fpm_file(folder.write("b.fpm", smallest().dump())), FileFormatError);
  CHECK(read_fpm_file(folder.write("b.txt", smallest().dump())).points.size() == 2);
}

}  // namespace steelyard::test_fpm_file
