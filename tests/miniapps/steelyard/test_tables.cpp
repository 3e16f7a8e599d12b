// What programs that show results make of them: the main job's table, and `--result` of those that print tables.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "benchmarks/table_result.hpp"
#include "core/base/json_file.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_tables {
namespace {

TEST_CASE("The main job's table shows a plain result under its folder's name, predicted and checked or not") {
  const TemporaryFolder folder;
  const Words any{"--size", "32", "--steps", "3", "--units", "host", "--repetitions", "2", "--result", "plain"};
  for (const Words& more : {Words{"--partition", "dynamic"}, Words{"--partition", "dynamic", "--check", "none"},
                            Words{"--model", write_model(folder, "unit.fpm.json", 1e-6)}}) {
    good_run(1, STEELYARD_JACOBI, any + more, folder.path());
    const bool is_checked = more.size() < 4, is_predicted = more.size() < 3 && more.front() == "--model";
    for (const char* place : {"plain", "."}) {
      const Outcome table = run(1, STEELYARD_MAIN_TABLE, {place}, folder.path());
      INFO(table.out << table.err);
      CHECK(table.status == 0);
      REQUIRE(lines_that_start(table.out, "32 x 32, 3 steps  plain") == 1);
      CHECK(contains(table.out, is_checked ? "passed" : "not done"));
      CHECK(contains(table.out, "difference of predictions") == is_predicted);
      CHECK_FALSE(contains(table.out, "1.00x"));
    }
  }
}

TEST_CASE("The main job's table sets runs beside their predictions, and beside the other rounds") {
  const TemporaryFolder folder;
  good_run(1, STEELYARD_JACOBI,
           {"--size", "32", "--steps", "3", "--units", "host", "--model", write_model(folder, "unit.fpm.json", 1e-6),
            "--result", "plain"},
           folder.path());
  nlohmann::json json = read_json_file(folder / "plain/run.json");
  json["predicted_time_s"] = 1.0;
  json["predicted_interval_s"] = {0.9, 1.15};
  for (const double time_s : {1.0, 1.1, 1.2}) {
    json["median_time_s"] = time_s;
    const std::filesystem::path round = folder / fmt::format("job/jacobi/32/host/{:.0f}", 10.0 * time_s);
    std::filesystem::create_directories(round);
    write_json_file(round / "run.json", json);
  }
  const Outcome table = run(1, STEELYARD_MAIN_TABLE, {"job"}, folder.path());
  INFO(table.out << table.err);
  CHECK(contains(table.out, "2 of 3 runs within their 90 % intervals, median half width 13.0 %"));
  // Of 1.0, 1.1 and 1.2 s: from 1 s, and from 1.15, 1.1 and 1.05 s.
  CHECK(contains(table.out,
                 "half are within 9.5 % of their predictions and 13.3 % of the median of their other rounds; "
                 "nine of ten within 18.2 % and 14.0 %"));
}

TEST_CASE("A program's tables are kept number by number in SI units, beside the words of their rows") {
  const TemporaryFolder folder;
  CLI::App parser("", "steelyard-some-speed");
  char program[] = "steelyard-some-speed";
  char* arguments[] = {program};
  const TableResult result(parser, 1, arguments);
  parser.parse(std::vector<std::string>{(folder / "r").string(), "--result"});
  Table table({"kernel", "n", "time", "speed"});
  table.add_row({"plain", "64", "2.50 ms", "-"});
  table.add_row({"ours", "64", "1.00 ms", "7.5"});
  CHECK_FALSE(table.text().empty());
  CHECK(read_json_file(folder / "r/run.json").at("app") == "steelyard-some-speed");
  const auto times = read_samples(folder / "r", "time");
  REQUIRE(times.size() == 2);
  CHECK(times[0].at("value") == 2.5e-3);
  CHECK(times[0].at("kernel") == "plain");
  CHECK(times[1].at("kernel") == "ours");
  CHECK(read_samples(folder / "r", "n").size() == 2);
  CHECK(read_samples(folder / "r", "speed").size() == 1);
}

}  // namespace
}  // namespace steelyard::tests::test_tables
