#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <tuple>

#include "models/fpm_file.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_fpm_file {

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
  file.date = "2026-01-02T03:04:05Z";
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
  const auto all = [](const MeasuredPoint& point) {
    return std::tie(point.units, point.time_s, point.repetitions, point.confidence_s, point.outliers, point.parts_s);
  };
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE((all(a[i]) == all(b[i])));
}

void require_same(const FpmFile& a, const FpmFile& b) {
  const auto words = [](const FpmFile& file) {
    return std::tie(file.app, file.kernel, file.element, file.unit_kind, file.unit_cores, file.unit_device,
                    file.computation_unit, file.machine, file.date, file.commit, file.parts);
  };
  const auto numbers = [](const FpmFile& file) {
    return std::tie(file.unit_bound, file.slowdown, file.parameters, file.flops_per_unit, file.bytes_per_unit,
                    file.in_core_units, file.max_units, file.solo, file.drift.share, file.drift.degrees,
                    file.drift.rounds, file.all_imprecise);
  };
  REQUIRE((words(a) == words(b)));
  REQUIRE((numbers(a) == numbers(b)));
  require_same(a.points, b.points);
  require_same(a.imprecise, b.imprecise);
}

json smallest() {
  return {{"schema", "steelyard.fpm/1"},
          {"points", {{{"units", 1.0}, {"time_s", 0.5}}, {{"units", 2}, {"time_s", 1}}}}};
}

/// Refused with its name and this problem.
void refused(const std::filesystem::path& path, const std::string& problem) {
  CHECK_THROWS_MATCHES(read_fpm_file(path), FileFormatError,
                       MessageMatches(StartsWith(path.string() + ": ") && ContainsSubstring(problem)));
}

}  // namespace

TEST_CASE("a speed model file is read back bit for bit from disk and from text") {
  const TemporaryFolder folder;
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 100; ++trial) {
    const FpmFile file = random_file(random);
    write_fpm_file(folder / "a.fpm.json", file);
    require_same(read_fpm_file(folder / "a.fpm.json"), file);
    const std::string text = format_fpm(file);
    require_same(parse_fpm_description(text, "rank 3"), file);
    REQUIRE(text.find('\n') == std::string::npos);
    REQUIRE(folder.entries() == 1);
  }
  FpmFile file = random_file(random);
  file.machine = "caf\xe9";  // not UTF-8
  CHECK_THAT(parse_fpm_description(format_fpm(file), "f").machine, ContainsSubstring("caf"));
}

TEST_CASE("seconds of parts lie between those of the points around a size, and are the nearest point's beyond them") {
  std::mt19937_64 random(2);
  CHECK(FpmFile().parts_s(1.0) == std::array<double, MeasuredPoint::most_parts>{});
  FpmFile file;
  file.points = random_points(random, 9, MeasuredPoint::most_parts);
  for (std::size_t i = 0; i + 1 < file.points.size(); ++i) {
    const MeasuredPoint &left = file.points[i], &right = file.points[i + 1];
    const std::array found = file.parts_s(std::lerp(left.units, right.units, 0.125));
    for (std::size_t part = 0; part < found.size(); ++part) {
      REQUIRE_THAT(found[part], WithinRel(std::lerp(left.parts_s[part], right.parts_s[part], 0.125), 1e-9));
    }
  }
  for (const double factor : {1.0, 2.0}) {
    CHECK(file.parts_s(file.points.front().units / factor) == file.points.front().parts_s);
    CHECK(file.parts_s(file.points.back().units * factor) == file.points.back().parts_s);
  }
}

TEST_CASE("only the schema and the points with size and time are required, and what is unknown is passed over") {
  json value = smallest();
  value["future"] = {{"a", 1}};
  value["points"][0]["future"] = "word";
  FpmFile expected;
  expected.points = {{1.0, 0.5}, {2.0, 1.0}};
  require_same(parse_fpm_description(value.dump(), "f"), expected);
}

TEST_CASE("a speed model file with a mistake is refused with file and key") {
  const TemporaryFolder folder;
  FpmFile file;
  file.parameters = {{"columns", 3.0}};
  file.parts = {"a"};
  file.in_core_units = file.max_units = 9.0;
  file.drift = {0.1, 1, 2};
  file.points = {{1.0, 0.5, 2, 0.1, 1}, {2.0, 1.0, 1, 0.1, 1}};
  file.imprecise = {{1.0, 0.5}};
  const json good = json::parse(format_fpm(file)), removed(json::value_t::discarded);
  const json five_parts{"a", "b", "c", "d", "e"}, number_as_part{1};
  std::map<std::string, std::vector<json>> mistakes{{"/schema", {removed, "steelyard.fpm/2"}},
                                                    {"/unit", {"host"}},
                                                    {"/unit/slowdown", {0.99}},
                                                    {"/parts", {five_parts, number_as_part}},
                                                    {"/in_core_units", {-5.0}},
                                                    {"/max_units", {0.0}},
                                                    {"/drift", {0.1}},
                                                    {"/drift/share", {-0.1, removed}},
                                                    {"/drift/degrees", {0, 0.5, removed}},
                                                    {"/points", {removed, 1}},
                                                    {"/points/1", {3}},
                                                    {"/points/0/units", {0.0}},
                                                    {"/points/1/units", {removed, nullptr, 1.0}},
                                                    {"/points/1/time_s", {removed, 0.0, -1e-9}},
                                                    {"/points/1/repetitions", {0, 1e300, 2.5}},
                                                    {"/points/1/confidence_s", {-1.0}},
                                                    {"/points/1/outliers", {-1, 2, 0.5}},
                                                    {"/points/1/parts_s/a", {-1.0, removed}},
                                                    {"/imprecise_points", {1}},
                                                    {"/imprecise_points/0/units", {0.0}}};
  // Nothing is an object where it is none here.
  const json leaves = good.flatten();
  for (const auto& [pointer, unused] : leaves.items()) {
    if (pointer != "/parts/0") mistakes[pointer].push_back(json::object({{"no", "word"}}));
  }
  for (const auto& [pointer, values] : mistakes) {
    std::string key = std::regex_replace(pointer.substr(1), std::regex("/([0-9]+)"), "[$1]");
    std::ranges::replace(key, '/', '.');
    const json::json_pointer place(pointer);
    for (const json& wrong : values) {
      json value = good;
      if (wrong.is_discarded()) {
        value[place.parent_pointer()].erase(place.back());
      } else {
        value[place] = wrong;
      }
      INFO(value.dump());
      refused(folder.write("a.fpm.json", value.dump()), key + ": ");
      CHECK_THROWS_MATCHES(parse_fpm_description(value.dump(), "rank 3"), FileFormatError,
                           MessageMatches(StartsWith("rank 3: " + key + ": ")));
    }
  }
}

TEST_CASE("text that is not JSON, files that are not there and folders that cannot be written are named") {
  const TemporaryFolder folder;
  for (const char* text : {"", "{", "[]", "{\"schema\": \"steelyard.fpm/1\", \"points\": [",
                           "{\"schema\": \"steelyard.fpm/1\", \"points\": [{\"units\": 1, \"time_s\": 1e999}]}"}) {
    refused(folder.write("a.fpm.json", text), "");
    CHECK_THROWS_MATCHES(parse_fpm_description(text, "rank 3"), FileFormatError,
                         MessageMatches(ContainsSubstring("rank 3")));
  }
  std::filesystem::create_directory(folder / "folder.fpm");
  for (const char* name : {"none.fpm.json", "none.fpm", "folder.fpm"}) refused(folder / name, "");
  // A description may have no points yet but a file must.
  CHECK(parse_fpm_description(format_fpm(FpmFile()), "rank 3").points.empty());
  refused(folder.write("a.fpm.json", format_fpm(FpmFile())), "points: is empty");
  folder.write("file", "text");
  const int before = folder.entries();
  CHECK_THROWS_MATCHES(write_fpm_file(folder.path() / "file" / "a.fpm.json", FpmFile()), RuntimeFailure,
                       MessageMatches(ContainsSubstring((folder / "file").string())));
  CHECK(folder.entries() == before);
}

TEST_CASE("imprecise points count where no other does, and stay imprecise when they are written again") {
  FpmFile file;
  file.imprecise = {{2.0, 0.5, 7, 0.2, 0}, {4.0, 1.5, 7, 0.9, 0}};
  const TemporaryFolder folder;
  write_fpm_file(folder / "a.fpm.json", file);
  for (int time = 0; time < 2; ++time) {
    const FpmFile back = read_fpm_file(folder / "a.fpm.json");
    CHECK((back.all_imprecise && back.imprecise.empty()));
    require_same(back.points, file.imprecise);
    CHECK(json::parse(format_fpm(back)).at("points").empty());
    write_fpm_file(folder / "a.fpm.json", back);
  }
  file.points = {{3.0, 1.0, 7, 0.0, 0}};
  write_fpm_file(folder / "a.fpm.json", file);
  const FpmFile mixed = read_fpm_file(folder / "a.fpm.json");
  CHECK_FALSE(mixed.all_imprecise);
  require_same(mixed.points, file.points);
}

TEST_CASE("Fupermod's columns are d t reps ci, whatever separates them and ends a line") {
  const TemporaryFolder folder;
  const std::vector<MeasuredPoint> expected{{10.0, 0.5, 5, 0.01}, {20.0, 1.25, 3, 0.0}, {1e6, 3e4, 1, 2.5}};
  for (const char* text :
       {"10 0.5 5 0.01\n20 1.25 3 0\n1000000 3e4 1 2.5\n", "\t10\t0.5\t5\t0.01 \n  20   1.25 3\t0\n1e6 30000 1 2.5\n",
        "\n\n10 0.5 5 0.01\n \t\r\n20 1.25 3 0\r\n\n1000000 3e4 1 2.5\n\n\r\n",
        "# d\tt\treps\tci\r\n#\n10 0.5 5 0.01\n   # t or d\n20 1.25 3 0\r\n#\r\n1e6 3e4 1 2.5\n#",
        "10 0.5 5 0.01 20 words nan\n20 1.25 3 -0 -1\n1e6 3e4 1 2.5 #"}) {
    INFO(text);
    const FpmFile file = read_fpm_file(folder.write("a.fpm", text));
    require_same(file.points, expected);
    CHECK(file.max_units == std::numeric_limits<double>::infinity());
  }
  // Numbers to the last bit, repetitions and intervals where they are there.
  require_same(
      read_fpm_file(folder.write("a.fpm", "0.1 0.30000000000000004 1 5e-324\n1.7976931348623157e308 2 4\n")).points,
      {{0.1, 0.1 + 0.2, 1, std::numeric_limits<double>::denorm_min()}, {std::numeric_limits<double>::max(), 2.0, 4}});
  // Any other name is JSON's.
  refused(folder.write("b.fpm", smallest().dump()), "");
  refused(folder.write("b.fpm.json", "1 0.5\n"), "");
  CHECK(read_fpm_file(folder.write("b.txt", smallest().dump())).points.size() == 2);
}

TEST_CASE("a wrong line of Fupermod's text is refused with the file, the line and the column") {
  const TemporaryFolder folder;
  const std::map<std::string, std::vector<std::string>> wrong{
      {"d is ", {"size time", "0x10 1", "inf 1", "20 1", "19.5 1"}},
      {"t is ", {"30", "30 1e", "30 1,5", "30 -1", "30 0", "30 nan", "30 1e999"}},
      {"reps is ", {"30 1 many", "30 1 # slow", "30 1 0", "30 1 2.5", "30 1 1e30"}},
      {"ci is ", {"30 1 2 wide", "30 1 2 -0.1", "30 1 2 inf"}}};
  for (const auto& [column, lines] : wrong) {
    for (const std::string& line : lines) {
      INFO(line);
      refused(folder.write("a.fpm", "# comment\n10 0.5\n\n20 1\r\n" + line), "line 5: " + column);
    }
  }
  refused(folder.write("a.fpm", "0 1\n"), "line 1: d is 0 after 0");
  for (const char* text : {"", "# d t reps ci\n", "\r\n# nothing\r\n\r\n"}) {
    refused(folder.write("a.fpm", text), "has no points");
  }
  for (const std::string& bytes : {std::string("\x00\x01\x02", 3), std::string("10 0.5\n20 1\0 3\n", 15)}) {
    refused(folder.write("a.fpm", bytes), "");
  }
}

}  // namespace steelyard::test_fpm_file
