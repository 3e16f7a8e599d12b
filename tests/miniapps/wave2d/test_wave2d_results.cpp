// What wave2d prints, what it leaves for other programs and what it refuses.
#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/rectangles.hpp"
#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d_results {
namespace {

TEST_CASE("What units get is in the table and the result, rows or rectangles; a dry run writes nothing else") {
  const bool is_dry = GENERATE(false, true), in_columns = GENERATE(false, true);
  const TemporaryFolder models, folder;
  const Words words{"--rows",      "60", "--columns", "90",          "--steps",  "5",      "--order",  "4",
                    "--time-tile", "2",  "--units",   "host+device", "--result", "result", "--output", "field.npy"};
  const Words how = Words{"--partition", in_columns ? "column" : "geometric"} + (is_dry ? Words{"--dry-run"} : Words{});
  const Outcome outcome =
      run_wave2d(3, words + how + with_models(models, {1e-6, 3e-6, 2e-6, 1e-6, 4e-6, 2e-6}), folder);
  INFO(outcome.out);
  const auto json = read_json_file(folder / "result" / "run.json");
  CHECK(json.at("params").at("order") == 4.0);
  CHECK(json.at("params").at("time_tile") == 2.0);
  const std::vector<long long> shares = slices_in_table(outcome.out, in_columns ? "points" : "rows");
  CHECK(json.at("distribution") == nlohmann::json(shares));
  REQUIRE(shares.size() == 6);
  CHECK(sum(shares) == (in_columns ? 60 * 90 : 60));
  CHECK((shares[0] > shares[2] && shares[2] > shares[1] && shares[1] > shares[4]));
  REQUIRE(json.contains("rectangles") == in_columns);
  if (in_columns) {
    const Rectangles rectangles = rectangles_of(json);
    const std::vector<long long> rows = slices_in_table(outcome.out, "rows"),
                                 columns = slices_in_table(outcome.out, "columns"),
                                 first_row = slices_in_table(outcome.out, "row"),
                                 first_column = slices_in_table(outcome.out, "column");
    for (std::size_t i = 0; i < rectangles.size(); ++i) {
      CHECK(partition::Rectangle{first_row[i], first_column[i], rows[i], columns[i]} == rectangles[i]);
      CHECK(rectangles[i].area() == shares[i]);
    }
    CHECK(*std::ranges::min_element(columns) < 90);
  }
  CHECK(lines_that_start(outcome.out, "predicted") == 1);
  CHECK(lines_that_start(outcome.out, "time ") == (is_dry ? 0 : 1));
  CHECK(json.at("median_time_s").is_null() == is_dry);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == (is_dry ? 1 : 2));
}

TEST_CASE("Only rank 0 prints, once, and the result folder says what ran and what came of it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Words arguments{"--rows",    "31", "--columns", "17",          "--steps",    "6",       "--repetitions", "4",
                        "--warmups", "1",  "--result",  "deep/result", "--slowdown", "rank0=2", "device=3"};
  const Outcome outcome = run_wave2d(ranks, arguments, folder);
  for (const char* start :
       {"wave2d ", "unit ", "time ", "predicted ", "share ", "figure of merit ", "check      passed"}) {
    INFO(start << " in\n" << outcome.out);
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  const auto json = read_run(folder / "deep" / "result", "wave2d");
  CHECK(json.at("check").at("passed") == true);
  CHECK(json.at("check").at("error").get<double>() <= json.at("check").at("tolerance").get<double>());
  for (const auto& unit : json.at("units")) {
    const double slowdown = (unit.at("rank") == 0 ? 2.0 : 1.0) * (unit.at("kind") == "device" ? 3.0 : 1.0);
    CHECK(unit.at("slowdown").get<double>() == slowdown);
    CHECK(unit.at("emulated") == (slowdown > 1.0));
  }
  CHECK(json.at("units").back().at("rank") == ranks - 1);
  CHECK(read_samples(folder / "deep" / "result").size() == 4);
}

TEST_CASE("The phases of a unit that is alone are parts of its run") {
  const TemporaryFolder folder;
  const Words words{"--size", "600", "--steps", "40", "--time-tile", "4", "--units", "host", "--result", "result"};
  run_wave2d(1, words + GENERATE(Words{}, Words{"--serialize"}), folder);
  const auto json = read_run(folder / "result", "wave2d");
  for (const bool predicted : {false, true}) {
    std::map<std::string, double> seconds;
    for (const auto& phase : json.at("phases")) {
      seconds[phase.at("name")] = phase.at(predicted ? "predicted_s" : "measured_s").get<double>();
    }
    CHECK(seconds.size() == 6);
    CHECK(seconds["interior"] > 0.0);
    const double work_s = seconds["unpacking"] + seconds["border"] + seconds["packing"] + seconds["interior"];
    CHECK(work_s <= seconds["kernels"] * (1 + 1e-9));
    const double time_s = json.at(predicted ? "predicted_time_s" : "median_time_s");
    CHECK(seconds["kernels"] + seconds["exchange"] <= time_s * (1 + 1e-9));
  }
}

TEST_CASE("wave2d's mistakes are refused by option, value, file or line", "[host]") {
  const WrongRuns inputs(wave2d, {"--repetitions", "1", "--steps", "1", "--output", "field.npy", "--result", "result"});
  const Words size{"--size", "9"};
  inputs.expect_refused({{{"--size", "2"}, "2 x 2"},
                         {{"--rows", "9"}, "--columns"},
                         {{"--size", "9", "--rows", "9"}, "--size"},
                         {{"--size", "2000000000"}, "2000000000"}},
                        inputs.with_model());
  inputs.expect_refused({{{"--sise", "9"}, "--sise"},
                         {{"--partition", "columns"}, "dynamic, or column"},
                         {{"--boundary", "open"}, "open"},
                         {{"--courant", "0"}, "--courant 0"},
                         {{"--courant", "nan"}, "nan"},
                         {{"--order", "4", "--courant", "0.613"}, "--courant 0.613 (expected 0 < C <= 0.6123,"},
                         {{"--order", "2", "--courant", "0.708"}, "--courant 0.708 (expected 0 < C <= 0.7071,"},
                         {{"--order", "3"}, "--order 3 (expected 2 or 4)"},
                         {{"--time-tile", "0"}, "--time-tile 0 (expected auto, or 1 to 64)"},
                         {{"--time-tile", "65"}, "--time-tile 65 (expected"},
                         {{"--time-tile", "99999999999999999999"}, "--time-tile 99999999999999999999 (expected"},
                         {{"--serialize", "often"}, "often"}},
                        size + inputs.with_model());
  inputs.expect_refused({{{"--balance", "fair"}, "--balance fair (expected model, binary, ternary or dynamic)"},
                         {{"--balance", "dynamic", "--partition", "column"}, "--partition column"},
                         {{"--balance", "dynamic", "--levels", "2"}, "--levels 2"},
                         {{"--balance-level", "internal"}, "--balance-level goes with --balance binary or ternary"},
                         {{"--balance", "binary", "--partition", "dynamic"}, "--partition dynamic"},
                         {Words{"--partition", "dynamic"} + inputs.with_model(), "--model"},
                         {Words{"--balance", "ternary"} + inputs.with_model(), "--balance"}},
                        size);
  // More processing units than rows.
  inputs.expect_refused({{{"--rows", "5", "--columns", "9"}, "6 processing units on 3 ranks for a grid of 5 rows"}},
                        Words{"--units", "host+device"} + inputs.with_model(), {3});

  const auto file = [&](const char* name) { return inputs.path(name); };
  write_grid(file("good.npy"), random_grid<double>(9, 7, 1));
  write_grid(file("other.npy"), random_grid<double>(9, 8, 1));
  write_grid(file("tiny.npy"), random_grid<double>(2, 7, 1));
  const std::string good = inputs.read("good.npy");
  inputs.write("short.npy", good.substr(0, good.size() - 1));
  std::string flat = good;
  inputs.write("flat.npy", flat.replace(flat.find("(9, 7)"), 6, "(63, )"));
  inputs.expect_refused({{{"--input", file("missing.npy")}, "missing.npy"},
                         {{"--input", file("short.npy")}, "short.npy"},
                         {{"--type", "float", "--input", file("good.npy")}, "good.npy"},
                         {{"--input", file("flat.npy")}, "flat.npy"},
                         {{"--input", file("tiny.npy")}, "2 x 7"},
                         {{"--size", "9", "--input", file("good.npy")}, "good.npy"},
                         {{"--input", file("good.npy"), file("other.npy")}, "other.npy"},
                         {{"--input", file("good.npy"), file("good.npy"), file("good.npy")}, "--input"}},
                        inputs.with_model());

  const auto model = [&](const std::string& name, const std::string& value, const std::string& more = "") {
    return inputs.write(name + value, R"({"schema": "steelyard.fpm/1", )" + more + R"("parameters": {")" + name +
                                          "\": " + value + R"(}, "points": [{"units": 1, "time_s": 1e-6}]})");
  };
  inputs.expect_refused(
      {{{"--model", model("columns", "999")}, "columns999: parameters.columns: is 999 (expected 9)"},
       {{"--model", model("order", "4")}, "order4: parameters.order: is 4 (expected 2)"},
       {{"--time-tile", "2", "--model", model("time_tile", "4")}, "parameters.time_tile: is 4 (expected 2)"},
       {{"--model", model("time_tile", "2.5")}, "time_tile2.5: parameters.time_tile"},
       {{"--model", model("time_tile", "0")}, "time_tile0: parameters.time_tile"},
       {{"--model", model("time_tile", "65")}, "time_tile65: parameters.time_tile"},
       {{"--model", model("rank", "1", R"("app": "gemm", )")}, "rank1: app: is gemm (expected wave2d)"},
       {{"--model", model("rank", "2", R"("element": "float", )")}, "rank2: element: is float (expected double)"},
       {Words{"--model"} + Words(7, inputs.model()), "--model"}},
      size);

  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string here(host.data());
  inputs.expect_refused(
      {{{"--layout", inputs.write("short", "#\n" + here + " 0 0 host\nhere 1 0\n")}, "short: line 3"},
       {{"--layout", inputs.write("away", "elsewhere 0 0 host\n")}, "rank 0 on node " + here},
       {{"--platform", inputs.write("broken", "{\n\n]")}, "broken: line 3"},
       {{"--platform", inputs.write("empty", R"({"schema": "steelyard.platform/1", "channels": []})")},
        "no channel inside nodes"},
       {{"--slowdown", "device=0.5"}, "0.5"},
       {{"--slowdown", "rank7=2"}, "rank 7"}},
      size + inputs.with_model(), {3});

  const Words short_run = Words{"--steps", "1", "--repetitions", "1"} + size + inputs.with_model();
  expect_refused(wave2d, {{{"--output", "same", "--result", "./same"}, "--output and --result both name"}}, short_run);
  expect_unwritable_refused(wave2d, short_run);
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_results
