#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_steelyard_partition {
namespace {

TEST_CASE("Every listed algorithm distributes everything and prints one JSON object") {
  const TemporaryFolder folder;
  Words models{"--models"};
  for (const double seconds : {1e-6, 2e-6, 5e-6}) {
    models.push_back(write_model(folder, std::to_string(models.size()) + ".fpm.json", seconds));
  }
  std::vector<std::pair<std::string, std::string>> asked;
  std::vector<Start> starts;
  for (const std::string& name : partition_names()) {
    // No more: HPOPTA as published takes a second for 30000 and fifteen for 123457.
    for (const char* total : {"0", "1", "12347"}) {
      asked.emplace_back(name, total);
      starts.push_back({1, steelyard_tool,
                        Words{"partition", "--algorithm", name, "--total", total, "--format", "json"} + models,
                        folder.path()});
    }
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto& [name, total] = asked[i];
    INFO(name << " of " << total << "\n" << outcomes[i].out << outcomes[i].err);
    REQUIRE(outcomes[i].status == 0);
    const auto json = nlohmann::json::parse(outcomes[i].out);
    std::set<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.insert(key);
    CHECK(keys == std::set<std::string>{"algorithm", "total", "units", "predicted_s", "makespan_s"});
    CHECK(json.at("algorithm") == name);
    CHECK(json.at("total") == std::stoll(total));
    const auto units = json.at("units").get<std::vector<long long>>();
    const auto predicted_s = json.at("predicted_s").get<std::vector<double>>();
    REQUIRE(units.size() == 3);
    REQUIRE(predicted_s.size() == 3);
    CHECK(std::accumulate(units.begin(), units.end(), 0LL) == std::stoll(total));
    CHECK(json.at("makespan_s").get<double>() == *std::max_element(predicted_s.begin(), predicted_s.end()));
    for (std::size_t unit = 0; unit < 3; ++unit) CHECK((units[unit] == 0) == (predicted_s[unit] == 0.0));
  }
}

TEST_CASE("The table for people holds a line for each model and is printed once") {
  const TemporaryFolder folder;
  const std::string fast = write_model(folder, "fast.fpm.json", 1e-6);
  const std::string slow = write_model(folder, "slow.fpm.json", 3e-6);
  const Words arguments{"partition", "--total", "400", "--models", fast, slow};
  const Outcome alone = good_run(1, steelyard_tool, arguments, folder.path());
  const std::vector<std::string> lines = lines_of(alone.out);
  CHECK(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
          return line.rfind("fast.fpm.json", 0) == 0 && line.find(" 300 ") != std::string::npos;
        }) == 1);
  CHECK(std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
          return line.rfind("slow.fpm.json", 0) == 0 && line.find(" 100 ") != std::string::npos;
        }) == 1);
  CHECK(run(3, steelyard_tool, arguments, folder.path()).out == alone.out);
}

TEST_CASE("Slices come in multiples of the granularity, whatever the algorithm") {
  const TemporaryFolder folder;
  const std::string fast = write_model(folder, "fast.fpm.json", 1e-6);
  const std::string slow = write_model(folder, "slow.fpm.json", 3.3e-6);
  for (const std::string& name : partition_names()) {
    const Outcome outcome = good_run(1, steelyard_tool,
                                     {"partition", "--algorithm", name, "--total", "4096", "--granularity", "64",
                                      "--format", "json", "--models", fast, slow},
                                     folder.path());
    INFO(name << "\n" << outcome.err);
    const auto units = nlohmann::json::parse(outcome.out).at("units").get<std::vector<long long>>();
    CHECK(units[0] + units[1] == 4096);
    CHECK(units[0] % 64 == 0);
  }
}

TEST_CASE("Columns tile the matrix: square, or with the rows that are given") {
  const TemporaryFolder folder;
  Words arguments{"partition", "--columns", "--format", "json", "--models"};
  for (int i = 1; i <= 4; ++i) {
    arguments.push_back(write_model(folder, std::to_string(i) + ".fpm.json", 1e-6 * i));
  }
  for (const Words& shape : {Words{"--total", "3600"}, Words{"--total", "2400", "--rows", "40"}}) {
    const Outcome outcome = good_run(1, steelyard_tool, arguments + shape, folder.path());
    INFO(outcome.err);
    const auto json = nlohmann::json::parse(outcome.out);
    const long long total = json.at("total");
    const long long rows = total == 3600 ? 60 : 40;
    std::set<std::pair<long long, long long>> blocks;
    long long area = 0;
    for (std::size_t unit = 0; unit < 4; ++unit) {
      const auto& rectangle = json.at("rectangles")[unit];
      const long long row = rectangle.at("row"), column = rectangle.at("column");
      const long long height = rectangle.at("rows"), width = rectangle.at("columns");
      CHECK(json.at("units")[unit] == height * width);
      area += height * width;
      for (long long i = row; i < row + height; ++i) {
        for (long long j = column; j < column + width; ++j) blocks.emplace(i, j);
      }
    }
    CHECK(area == total);
    CHECK(static_cast<long long>(blocks.size()) == total);
    for (const auto& [row, column] : blocks) REQUIRE((row < rows && column < total / rows));
  }
}

TEST_CASE("Compared algorithms share one prediction, and the best of them is at 1") {
  const TemporaryFolder folder;
  const Words models{"--models", write_model(folder, "fast.fpm.json", 1e-6),
                     write_model(folder, "slow.fpm.json", 4e-6)};
  const Words arguments = Words{"partition", "--total", "1000", "--compare", "even", "geometric", "exact"} + models;
  const Outcome table = good_run(1, steelyard_tool, arguments, folder.path());
  CHECK(table.out.find("1.000") != std::string::npos);
  CHECK(table.out.find("2.500") != std::string::npos);
  // By which model, be it not the one that an algorithm splits by.
  CHECK(lines_that_start(table.out, "makespans of all by one model: piecewise_linear, increasing_time") == 1);
  const Outcome json = run(1, steelyard_tool, arguments + Words{"--format", "json"}, folder.path());
  CHECK(nlohmann::json::parse(json.out).at("judged_by") == "piecewise_linear, increasing_time");
  const auto algorithms = nlohmann::json::parse(json.out).at("algorithms");
  REQUIRE(algorithms.size() == 3);
  CHECK(algorithms[0].at("units") == std::vector<int>{500, 500});
  CHECK(algorithms[1].at("units") == std::vector<int>{800, 200});
  CHECK(algorithms[2].at("units") == std::vector<int>{800, 200});
}

TEST_CASE("With --csv a command prints its table with numbers in SI units, and nothing else") {
  const TemporaryFolder folder;
  const Words models{"--models", write_model(folder, "fast.fpm.json", 1e-6),
                     write_model(folder, "slow.fpm.json", 4e-6)};
  for (const int ranks : {1, 3}) {
    const Outcome csv =
        good_run(ranks, steelyard_tool, Words{"partition", "--csv", "--total", "1000"} + models, folder.path());
    CHECK(csv.out == "model,units,share,predicted\nfast.fpm.json,800,0.8,0.0008\nslow.fpm.json,200,0.2,0.0008\n");
  }
  const Words names = partition_names();
  const Outcome list = good_run(1, steelyard_tool, {"partition", "--list", "--csv"}, folder.path());
  CHECK(lines_of(list.out).size() == names.size() + 1);
  // Commands without a table have no such option.
  CHECK(run(1, steelyard_tool, {"layout", "--csv"}, folder.path()).status == 2);
}

TEST_CASE("On two levels nodes that are alike get the same, and the whole is no slower than on one") {
  const TemporaryFolder folder;
  const std::string fast = write_model(folder, "fast.fpm.json", 1e-6),
                    slow = write_model(folder, "slow.fpm.json", 4e-6);
  const Words arguments{"partition", "--total", "1000", "--format", "json",        "--models",
                        fast,        slow,      fast,   slow,       "--algorithm", "exact"};
  const auto one = nlohmann::json::parse(run(1, steelyard_tool, arguments, folder.path()).out);
  for (const char* outer : {"exact", "popta", "geometric"}) {
    const Outcome outcome = good_run(
        1, steelyard_tool, arguments + Words{"--levels", "2", "--per-node", "2", "--outer", outer}, folder.path());
    INFO(outer << ": " << outcome.err);
    const auto two = nlohmann::json::parse(outcome.out);
    CHECK(two.at("nodes") == std::vector<int>{500, 500});
    CHECK(two.at("units") == std::vector<int>{400, 100, 400, 100});
    CHECK(two.at("makespan_s").get<double>() <= one.at("makespan_s").get<double>());
  }
}

TEST_CASE("Partitions that cannot be made are refused by name") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder, "good.fpm.json", 1e-6);
  const std::string broken = folder.write("broken", "{\n");
  const std::string small =
      folder.write("small", R"({"schema": "steelyard.fpm/1", "max_units": 5, "points": [{"units": 1, "time_s": 1}]})");
  expect_refused(
      steelyard_tool,
      {{{"partition", "--total", "9", "--models", model, "--algorithm", "fair"}, "fair"},
       {{"partition", "--models", model}, "--total"},
       {{"partition", "--total", "-1", "--models", model}, "--total"},
       {{"partition", "--total", "9"}, "--models"},
       {{"partition", "--total", "9", "--models", folder / "missing"}, "missing"},
       {{"partition", "--total", "9", "--models", model, broken}, "broken: line 2"},
       {{"partition", "--total", "9", "--models", small}, "9"},
       {{"partition", "--total", "9", "--models", model, "--format", "xml"}, "xml"},
       {{"partition", "--total", "9", "--models", model, "--granularity", "2"}, "granularity"},
       {{"partition", "--total", "8", "--models", model, "--columns"}, "--columns"},
       {{"partition", "--total", "9", "--models", model, "--columns", "--rows", "2"}, "--rows"},
       {{"partition", "--total", "9", "--models", model, "--kind", "round"}, "round"},
       {{"partition", "--total", "9", "--models", model, "--compare", "even", "fair"}, "fair"},
       {{"partition", "--total", "9", "--models", model, "--levels", "2", "--per-node", "2"}, "--per-node"},
       {{"partition", "--total", "9", "--models", model, "--levels", "3"}, "--levels"},
       {{"partition", "--total", "9", "--models", model, "--per-node", "1"}, "--per-node"},
       {{"partition", "--total", "9", "--models", model, small, "--levels", "2", "--per-node", "1", "--outer", "popta"},
        "identical"},
       {{"partition", "--everything"}, "--everything"}});
}

}  // namespace
}  // namespace steelyard::tests::test_steelyard_partition
