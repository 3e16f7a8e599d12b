// What summa prints and what it leaves for other programs.

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/json_file.hpp"
#include "tests/miniapps/summa/summa_runs.hpp"

namespace steelyard::tests::test_summa_results {
namespace {

TEST_CASE("A dry run of summa prints rectangles and a prediction, runs nothing and writes nothing but its result") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder models;
  const TemporaryFolder folder;
  std::vector<double> seconds;
  for (int i = 0; i < 2 * ranks; ++i) seconds.push_back(1e-3 * (1 + i));
  // Too much to run.
  const Outcome outcome =
      run_summa(ranks,
                Words{"--size", "200001", "--block", "5000", "--dry-run", "--result", "result", "--output", "c.npy"} +
                    with_models(models, seconds),
                folder);
  const Rectangles parts = parts_in_table(outcome.out);
  CHECK(parts.size() == static_cast<std::size_t>(2 * ranks));
  CHECK(tile(parts, 41));
  CHECK(lines_that_start(outcome.out, "summa n = 200001, double, 41 x 41 blocks of 5000, ") == 1);
  CHECK(lines_that_start(outcome.out, "predicted  ") == 1);
  CHECK(outcome.out.find("measured/") == std::string::npos);
  const Words expected{"summa ", "host ", "device ", "note: ", "unit ", "---", "rank ", "predicted  ", "result "};
  for (const std::string& line : lines_of(outcome.out)) {
    INFO(line);
    CHECK(std::any_of(expected.begin(), expected.end(),
                      [&](const std::string& start) { return line.rfind(start, 0) == 0; }));
  }
  // A result of predictions alone.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(read_json_file(folder / "result/run.json").at("median_time_s").is_null());
}

TEST_CASE("Only rank 0 of summa prints, and it prints once") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome =
      run_summa(ranks, {"--size", "60", "--block", "8", "--communication", "bcast", "--output", "c.npy"}, folder);
  for (const char* start : {"summa ", "host ", "device ", "unit ", "time ", "predicted ", "speed ", "  update ",
                            "  communication ", "check "}) {
    INFO(start << " in\n" << outcome.out);
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  const std::string of_ranks = ranks == 1 ? "1 rank on 1 node" : "3 ranks on 1 node";
  CHECK(lines_that_start(outcome.out, "summa n = 60, double, 8 x 8 blocks of 8, communication bcast, " + of_ranks +
                                          ", partition column") == 1);
  CHECK(lines_that_start(outcome.out, "check      passed: largest error ") == 1);
  CHECK(outcome.out.find("against rounding's bound, by 8 random vectors (tolerance 1.0e+00)") != std::string::npos);
  CHECK(tile(parts_in_table(outcome.out), 8));
}

TEST_CASE("summa's result folder says what ran and what came of it") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome = run_summa(ranks,
                                    {"--size", "61", "--block", "8", "--communication", "paper", "--barrier", "--seed",
                                     "7", "--slowdown", "rank0=2", "--result", "deep/result"},
                                    folder);
  CHECK(lines_that_start(outcome.out, "result     deep/result") == 1);
  const auto json = read_run(folder / "deep" / "result", "summa");
  for (const auto& [name, value] : {std::pair{"n", 61}, {"block", 8}, {"blocks", 8}, {"barrier", 1}}) {
    CHECK(json.at("params").at(name) == value);
  }
  CHECK(json.at("settings").at("partition") == "column");
  CHECK(json.at("settings").at("communication") == "paper");

  const auto blocks = json.at("distribution").get<std::vector<long long>>();
  const Rectangles parts = parts_in_table(outcome.out);
  CHECK(blocks == slices_in_table(outcome.out, "blocks"));
  CHECK(sum(blocks) == 64);
  CHECK(tile(parts, 8));
  const Rectangles rectangles = rectangles_of(json);
  REQUIRE(rectangles.size() == static_cast<std::size_t>(ranks));
  CHECK(tile(rectangles, 8));
  CHECK((rectangles == rank_rectangles(parts)));

  const double median_s = json.at("median_time_s").get<double>();
  CHECK(std::abs(json.at("figures").at("flops_per_s").get<double>() * median_s / (2.0 * 61 * 61 * 61) - 1.0) < 1e-9);
  REQUIRE(json.at("phases").size() == 2);
  CHECK(phase(json, "update").at("measured_s").get<double>() > 0.0);
  CHECK(phase(json, "update").at("predicted_s").get<double>() > 0.0);
  CHECK((phase(json, "communication").at("predicted_s").get<double>() > 0.0) == (ranks > 1));
  CHECK(json.at("check").at("passed") == true);
  CHECK(read_samples(folder / "deep" / "result").front().at("communication") == "paper");
}

TEST_CASE("Models of both units serve another size of the same blocks") {
  const TemporaryFolder folder;
  const Words block{"--block", "8", "--units", "host+device", "--type", "float"};
  const Outcome first = run(1, summa, block + Words{"--size", "64", "--result", "result"}, folder.path());
  INFO(first.out << first.err);
  REQUIRE(first.status == 0);
  // One rank has nobody to exchange pivots with.
  CHECK(lines_that_start(first.out, "channels measured") == 0);
  const Words models{"--model", folder / "result/models/rank0-host.fpm.json",
                     folder / "result/models/rank0-device.fpm.json"};
  const Outcome second = run_summa(1, block + Words{"--size", "83"} + models, folder);
  CHECK(tile(parts_in_table(second.out), 11));
  tests::expect_refused(summa,
                        {{models + Words{"--size", "64", "--block", "16", "--type", "float"}, "block"},
                         {models + Words{"--size", "64", "--block", "8", "--type", "double"}, "element"}},
                        {}, {1});
}

}  // namespace
}  // namespace steelyard::tests::test_summa_results
