// What fft2d prints and what it leaves for other programs.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "models/communication/platform_file.hpp"
#include "tests/miniapps/fft2d/fft2d_runs.hpp"

namespace steelyard::tests::test_fft2d_results {
namespace {

using Numbers = std::vector<long long>;

TEST_CASE("Only rank 0 prints, once, and units get what their speeds deserve") {
  const TemporaryFolder folder;
  const Outcome outcome = run_fft2d(2,
                                    Words{"--rows", "96", "--columns", "72", "--units", "host+device"} +
                                        with_models(folder, {1e-6, 2e-6, 1e-6, 2e-6}),
                                    folder);
  for (const char* start : {"fft2d 96 x 72 complex double", "host ", "device ", "unit ", "time ", "predicted ",
                            "speed ", "  rows ", "  first exchange ", "  columns ", "  second exchange ", "check "}) {
    INFO(start << " in\n" << outcome.out);
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  CHECK(outcome.out.find("check      passed") != std::string::npos);
  CHECK(slices_in_table(outcome.out, "rows") == Numbers{32, 16, 32, 16});
  CHECK(slices_in_table(outcome.out, "columns") == Numbers{24, 12, 24, 12});
}

TEST_CASE("A dry run prints who gets what and writes nothing but its result") {
  const TemporaryFolder models;
  const TemporaryFolder folder;
  const Words arguments = with_column_models(
      with_models(models, {1e-6, 3e-6}) + Words{"--rows", "101", "--columns", "11", "--real", "--dry-run", "--units",
                                                "host+device", "--result", "result", "--output", "spectrum.npy"},
      models);
  const Outcome outcome = run_app(fft2d_program, {{1, arguments}}, folder).front();
  CHECK(sum(slices_in_table(outcome.out, "rows")) == 101);
  CHECK(sum(slices_in_table(outcome.out, "columns")) == 6);
  CHECK(lines_that_start(outcome.out, "predicted") == 1);
  CHECK(lines_that_start(outcome.out, "time ") == 0);
  // A result of predictions alone.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(read_json_file(folder / "result/run.json").at("median_time_s").is_null());
}

TEST_CASE("The result folder says what ran, and phases add up to it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Words words{"--rows",     "64",        "--columns",     "80", "--seed",   "7",
                    "--exchange", "pipelined", "--repetitions", "3",  "--result", "deep/result"};
  run_fft2d(ranks, words + Words{"--slowdown", "rank0=2"}, folder);
  const auto json = read_run(folder / "deep" / "result", "fft2d");
  CHECK(json.at("seed") == 7);
  CHECK(json.at("params").at("rows") == 64.0);
  CHECK(json.at("settings").at("exchange") == "pipelined");
  CHECK(json.at("settings").at("direction") == "forward");
  CHECK(sum(json.at("distribution").get<Numbers>()) == 64);
  CHECK(sum(json.at("column_distribution").get<Numbers>()) == 80);
  CHECK(json.at("check").at("passed") == true);
  Words names;
  double predicted_s = 0.0;
  for (const auto& phase : json.at("phases")) {
    names.push_back(phase.at("name"));
    predicted_s += phase.at("predicted_s").get<double>();
  }
  CHECK(names == Words{"rows", "first exchange", "columns", "second exchange"});
  CHECK(std::abs(predicted_s - json.at("predicted_time_s").get<double>()) <= 1e-9 * predicted_s);
  const auto samples = read_samples(folder / "deep" / "result");
  CHECK(samples.size() == 3);
  for (const char* figure : {"flops_per_s", "share_of_bound", "bound_bytes_per_s"}) {
    CHECK(json.at("figures").at(figure).get<double>() > 0.0);
  }
}

TEST_CASE("Measured models of both passes are kept, and serve the next run") {
  const TemporaryFolder folder;
  const Words problem{"--rows", "48", "--columns", "40", "--real", "--units", "host", "--planner", "estimate"};
  const Outcome measured =
      run(2, fft2d_program, problem + Words{"--repetitions", "1", "--result", "result"}, folder.path());
  INFO(measured.out << measured.err);
  REQUIRE(measured.status == 0);
  CHECK(lines_that_start(measured.out, "speed models measured in ") == 2);
  Words rows{"--model"}, columns{"--column-model"};
  for (const char* rank : {"rank0", "rank1"}) {
    rows.push_back(folder / "result" / "models" / (std::string(rank) + "-host.fpm.json"));
    columns.push_back(folder / "result" / "models" / (std::string(rank) + "-host-columns.fpm.json"));
    const auto of_rows = read_json_file(rows.back()), of_columns = read_json_file(columns.back());
    CHECK(of_rows.at("app") == "fft2d");
    CHECK(of_rows.at("parameters").at("columns") == 40.0);
    CHECK(of_rows.at("parameters").at("real") == 1.0);
    CHECK(of_columns.at("parameters").at("columns") == 48.0);
    CHECK(of_columns.at("parameters").at("real") == 0.0);
  }
  const Outcome again = run_app(fft2d_program, {{2, problem + rows + columns}}, folder).front();
  CHECK(lines_that_start(again.out, "speed models measured") == 0);
  CHECK(sum(slices_in_table(again.out, "columns")) == 21);
}

TEST_CASE("fft2d's help names its options, and its version is one line") {
  const TemporaryFolder folder;
  CHECK(lines_of(run(1, fft2d_program, {"--version"}, folder.path()).out).size() == 1);
  const Outcome help = run(1, fft2d_program, {"--help"}, folder.path());
  CHECK(help.status == 0);
  for (const char* option :
       {"--size",      "--rows",   "--columns",    "--seed",     "--type",    "--units",    "--layout",
        "--partition", "--model",  "--platform",   "--check",    "--input",   "--output",   "--repetitions",
        "--warmups",   "--result", "--dry-run",    "-h,--help",  "--version", "--slowdown", "--column-model",
        "--inverse",   "--real",   "--transposed", "--exchange", "--fft",     "--planner"}) {
    INFO(option << " in\n" << help.out);
    CHECK(lines_of_option(help.out, option) == 1);
  }
}

TEST_CASE("steelyard measures rows for fft2d, and predicts what fft2d predicts") {
  const TemporaryFolder folder;
  const Outcome measured = run(1, steelyard_tool,
                               {"measure", "fft2d", "--columns", "64", "--units", "host", "--sizes", "8", "64",
                                "--precision", "0.5", "--planner", "estimate", "--output", "models"},
                               folder.path());
  INFO(measured.out << measured.err);
  REQUIRE(measured.status == 0);
  const std::string model = folder / "models" / "rank0-host.fpm.json";
  CHECK(read_json_file(model).at("kernel") == "row_fft");
  const TemporaryFolder platform_folder;
  const Words platform = with_platform(platform_folder);
  for (const Words& words : {Words{}, Words{"--exchange", "pipelined"}, Words{"--transposed"}}) {
    const Words problem = Words{"--size", "64", "--planner", "estimate", "--model", model} + platform + words;
    const Words of_run{"--units", "host", "--result", "result"};
    const Outcome predicted = run(
        1, steelyard_tool, Words{"predict", "fft2d", "--processes", "2", "--format", "json"} + problem, folder.path());
    INFO(predicted.out << predicted.err);
    REQUIRE(predicted.status == 0);
    const auto json = nlohmann::json::parse(predicted.out);
    CHECK(json.at("app") == "fft2d");
    CHECK(json.at("communication_model") == "tau-Lop");
    double phases_s = 0.0;
    for (const auto& phase : json.at("phases")) phases_s += phase.at("time_s").get<double>();
    CHECK(std::abs(phases_s - json.at("time_s").get<double>()) <= 1e-9 * phases_s);
    run_app(fft2d_program, {{2, problem + of_run}}, folder);
    const auto ran = read_run(folder / "result", "fft2d");
    CHECK(ran.at("distribution") == json.at("distribution"));
    CHECK(ran.at("column_distribution") == json.at("column_distribution"));
    for (std::size_t i = 0; i < json.at("phases").size(); ++i) {
      CHECK(ran.at("phases").at(i).at("predicted_s") == json.at("phases").at(i).at("time_s"));
    }
  }
  // Each of two processes puts 32 x 32 points that it received into place: each is read once and written to a line that
  // is fetched first, with half of the node's memory bandwidth.
  const auto second_exchange_s = [&](double memory_bytes_per_s) {
    models::Platform known = models::read_platform_file(platform.back());
    known.nodes = {{"", "", 2, memory_bytes_per_s}};
    models::write_platform_file(folder / "known.platform.json", known);
    const Outcome predicted = good_run(1, steelyard_tool,
                                       {"predict", "fft2d", "--size", "64", "--planner", "estimate", "--processes", "2",
                                        "--model", model, "--platform", "known.platform.json", "--format", "json"},
                                       folder.path());
    return nlohmann::json::parse(predicted.out).at("phases").back().at("time_s").get<double>();
  };
  const double unpack_s = 32.0 * 32.0 * 3.0 * 16.0 / (1e6 / 2.0);
  CHECK(std::abs(second_exchange_s(1e6) - second_exchange_s(0.0) - unpack_s) <= 1e-9 * unpack_s);
  const Outcome table =
      run(1, steelyard_tool, {"predict", "fft2d", "--size", "64", "--planner", "estimate", "--model", model},
          folder.path());
  CHECK(lines_that_start(table.out, "total ") == 1);
  const Outcome refused =
      run(1, steelyard_tool,
          {"predict", "fft2d", "--rows", "32", "--columns", "64", "--planner", "estimate", "--model", model},
          folder.path());
  CHECK(refused.status == 2);
  CHECK(refused.err.find("--column-model is missing") != std::string::npos);
}

}  // namespace
}  // namespace steelyard::tests::test_fft2d_results
