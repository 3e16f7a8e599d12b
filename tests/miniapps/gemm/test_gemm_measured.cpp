// Speed models that `steelyard measure gemm` makes, and what becomes of them.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "models/fpm_file.hpp"
#include "tests/miniapps/gemm/gemm_runs.hpp"

namespace steelyard::tests::test_gemm_measured {
namespace {

/// Three repetitions whatever comes, as in test_steelyard_measure.cpp.
Words measured_with(const std::string& device_memory) {
  const Words sizes{"--n", "64", "--k", "64", "--sizes", "1", "4", "16", "--units", "host+device"};
  const Words repetitions{"--repetitions-min", "3", "--repetitions-max", "3", "--warmups", "0", "--rounds", "1"};
  const Words precision{"--precision", "0.99", "--confidence", "0.2", "--output", "out"};
  return Words{"measure", "gemm", "--device-memory", device_memory} + sizes + repetitions + precision;
}

TEST_CASE("Models of a device of little memory know where it ends, and serve gemm") {
  const int ranks = GENERATE(1, 2);
  const TemporaryFolder folder;
  const Outcome outcome = run(ranks, steelyard_tool, measured_with("200KiB"), folder.path());
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  Words models;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::string& kind : Words{"host", "device"}) {
      models.push_back(folder / ("out/rank" + std::to_string(rank) + "-" + kind + ".fpm.json"));
      const models::FpmFile file = models::read_fpm_file(models.back());
      CHECK(file.app == "gemm");
      CHECK(file.unit_kind == kind);
      CHECK(file.flops_per_unit == 2.0 * 32 * 64 * 64);
      CHECK(file.parameters.at("n") == 64.0);
      CHECK(file.parameters.at("k") == 64.0);
      CHECK(file.parameters.at("block") == 32.0);
      CHECK(file.points.size() == 3);
      // B takes 32 KiB, a block row of A and C as much.
      CHECK((kind == "device") == (file.in_core_units == 5.0));
      CHECK(file.max_units > 16.0);
    }
  }

  const Words problem{"--m", "640", "--n", "64", "--k", "64", "--repetitions", "1", "--device-memory", "200KiB"};
  Words sorted = models;  // as a shell puts `out/*` in order
  std::sort(sorted.begin(), sorted.end());
  const std::vector<Outcome> outcomes =
      run_all({{ranks, gemm, problem + Words{"--model"} + models, folder.path()},
               {ranks, gemm, Words{"--beta", "1"} + problem + Words{"--model"} + models, folder.path()},
               {ranks, gemm, problem + Words{"--model"} + sorted, folder.path()}});
  const Outcome& multiplied = outcomes[0];
  INFO(multiplied.out << multiplied.err);
  CHECK(multiplied.status == 0);
  CHECK(multiplied.out.find("speed models measured") == std::string::npos);
  CHECK(sum(block_rows_in_table(multiplied.out)) == 20);

  const Outcome& other = outcomes[1];
  CHECK(other.status == 2);
  REQUIRE(other.told_by("gemm").size() == 1);
  CHECK(other.told_by("gemm").front().find("reads_c") != std::string::npos);

  const Outcome& swapped = outcomes[2];
  CHECK(swapped.status == 2);
  REQUIRE(swapped.told_by("gemm").size() == 1);
  CHECK(swapped.told_by("gemm").front().find("rank0-device.fpm.json: unit.kind: is device (expected host") !=
        std::string::npos);
}

TEST_CASE("steelyard model shows where a device of little memory goes out of core") {
  const TemporaryFolder folder;
  // In core and out of it block rows take very different times, which no machine measures.
  folder.write("device.fpm.json", R"({"schema": "steelyard.fpm/1", "app": "gemm", "kernel": "gemm", "element": "double",
    "unit": {"kind": "device"}, "parameters": {"n": 64, "k": 64, "block": 32, "reads_c": 0}, "in_core_units": 5,
    "points": [{"units": 1, "time_s": 1}, {"units": 4, "time_s": 4}, {"units": 8, "time_s": 80},
               {"units": 16, "time_s": 160}]})");
  const Outcome shown = run(1, steelyard_tool, {"model", "device.fpm.json"}, folder.path());
  REQUIRE(shown.status == 0);
  CHECK(lines_that_start(shown.out, "in core    up to 5 units") == 1);
  const Outcome at = run(1, steelyard_tool,
                         {"model", "device.fpm.json", "--format", "json", "--at", "2", "5", "6", "12"}, folder.path());
  INFO(at.out << at.err);
  REQUIRE(at.status == 0);
  std::vector<double> times;
  const auto json = nlohmann::json::parse(at.out);
  for (const auto& point : json.at("at")) times.push_back(point.at("time_s").get<double>());
  REQUIRE(times.size() == 4);
  CHECK(std::abs(times[0] - 2.0) < 0.1);
  CHECK(std::abs(times[1] - 5.0) < 0.1);
  CHECK(times[2] > 50.0);
  CHECK(std::abs(times[3] - 120.0) < 1.0);

  // A run shares out block rows by it: the host is a fifth as fast as the device in core, and twice as fast out of it.
  const Outcome shared = run_gemm(1,
                                  Words{"--m", "320", "--n", "64", "--k", "64", "--dry-run", "--model",
                                        with_models(folder, {5.0}).back(), "device.fpm.json"},
                                  folder);
  CHECK(block_rows_in_table(shared.out) == std::vector<long long>{5, 5});
}

TEST_CASE("A device of the least memory is measured out of core") {
  const TemporaryFolder folder;
  const Outcome outcome = run(1, steelyard_tool, measured_with("40KiB"), folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 0);
  // Nothing of it is in core, so there is nothing to tell apart.
  const models::FpmFile file = models::read_fpm_file(folder / "out/rank0-device.fpm.json");
  CHECK(std::isinf(file.in_core_units));
  CHECK(file.points.size() == 3);
}

TEST_CASE("Measurements of gemm that cannot be made are refused by name") {
  const auto measure = [](const Words& words) { return Words{"measure", "gemm", "--sizes", "4"} + words; };
  expect_refused(steelyard_tool, {{measured_with("39KiB"), "--device-memory 39936 (expected at least 40960"},
                                  {measure({"--beta", "nan"}), "--beta nan"}});
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_measured
