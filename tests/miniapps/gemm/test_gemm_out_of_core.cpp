// Companions whose memory holds a part of the matrices at a time.

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "tests/miniapps/gemm/gemm_runs.hpp"

namespace steelyard::tests::test_gemm_out_of_core {
namespace {

template <class Scalar>
std::string least_memory() {
  return std::to_string(5UL * 32 * 32 * sizeof(Scalar));
}

TEMPLATE_TEST_CASE("A device of any memory writes the product", "", double, float) {
  GemmTest<TestType> test(133, 101, 150);
  std::vector<AppRun> runs;
  // All three matrices have 50 Ki elements.
  for (const std::string& memory : Words{least_memory<TestType>(), "50000", "200KiB", "1GiB"}) {
    runs.push_back({1, {"--units", "device", "--device-memory", memory}});
    runs.push_back({1, {"--block", "4", "--device-memory", memory, "--repetitions", "2", "--check", "all"}});
  }
  test.expect_products({{-0.5, 0.0}, {-0.5, 1.0}}, runs);
  CHECK(test.outcomes()[0].out.find("out of core") != std::string::npos);
  CHECK(test.outcomes()[1].out.find("out of core") != std::string::npos);
  for (std::size_t i = test.outcomes().size() - 2; i < test.outcomes().size(); ++i) {
    CHECK(test.outcomes()[i].out.find("in core") != std::string::npos);
    CHECK(test.outcomes()[i].out.find("out of core") == std::string::npos);
  }
  test.expect_products({{-0.5, 1.0}}, {{3, {"--block", "4", "--device-memory", "50000"}}});
}

TEST_CASE("A run says how its devices multiply and how much of their copying is hidden") {
  const int ranks = GENERATE(1, 3);
  const bool in_core = GENERATE(false, true);
  // All three matrices, or a tenth of them.
  const auto memory = static_cast<long long>((in_core ? 16.0 : 0.8) * (200.0 * 150.0 + 150.0 * 170.0 + 200.0 * 170.0));
  GemmTest<double> test(200, 170, 150);
  const Words words{"--units", "device", "--device-memory", std::to_string(memory), "--result", "result"};
  test.expect_products({{1.0, 1.0}}, {{ranks, words}});
  const std::string& out = test.outcomes()[0].out;
  CHECK(lines_that_start(out, "device     rank ") == ranks);
  CHECK((out.find(", in core; copying for ") != std::string::npos) == in_core);
  CHECK((out.find("out of core, C in ") != std::string::npos) == !in_core);
  const auto json = read_run(test.folder() / "result", "gemm");
  CHECK(json.at("params").at("device_memory_bytes") == static_cast<double>(memory));
  const auto& figures = json.at("figures");
  CHECK(figures.at("transfer_time_s").get<double>() > 0.0);
  CHECK(figures.at("hidden_transfer_share").get<double>() >= 0.0);
  CHECK(figures.at("hidden_transfer_share").get<double>() <= 1.0);
  CHECK(figures.at("hidden_transfer_time_s").get<double>() <= figures.at("transfer_time_s").get<double>());
  // The timeline of rank 0's device: what it multiplies it has loaded before, and stores afterwards.
  const auto seconds = [&](const char* key) { return figures.at(key).get<std::vector<double>>(); };
  CHECK(seconds("multiplying_start_s").front() >= seconds("loading_end_s").front());
  CHECK(seconds("storing_start_s").back() >= seconds("multiplying_end_s").back());
  std::map<std::string, std::vector<std::pair<double, double>>> operations;
  std::vector<double> times;
  for (const std::string engine : {"loading", "multiplying", "storing"}) {
    const std::vector<double> starts = seconds((engine + "_start_s").c_str()),
                              ends = seconds((engine + "_end_s").c_str());
    REQUIRE(starts.size() == ends.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      CHECK(starts[i] <= ends[i]);
      operations[engine].emplace_back(starts[i], ends[i]);
      times.insert(times.end(), {starts[i], ends[i]});
    }
  }
  // Between one operation's start or end and the next, each engine works or does not.
  std::sort(times.begin(), times.end());
  double copying_s = 0.0, hidden_s = 0.0;
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const double middle_s = (times[i] + times[i + 1]) / 2.0;
    const auto works = [&](const char* engine) {
      return std::any_of(operations[engine].begin(), operations[engine].end(), [&](const auto& operation) {
        return operation.first < middle_s && middle_s < operation.second;
      });
    };
    const bool copies = works("loading") || works("storing");
    if (copies) copying_s += times[i + 1] - times[i];
    if (copies && works("multiplying")) hidden_s += times[i + 1] - times[i];
  }
  if (ranks == 1) {
    CHECK(std::abs(figures.at("transfer_time_s").get<double>() - copying_s) <= 1e-9 * copying_s);
    CHECK(std::abs(figures.at("hidden_transfer_time_s").get<double>() - hidden_s) <= 1e-9 * copying_s);
  }
}

TEST_CASE("Copies and products one after the other make the same product, and hide nothing") {
  GemmTest<double> test(133, 101, 150);
  const Words words{"--units", "device", "--device-memory", "50000", "--serialize", "--result", "result"};
  test.expect_products({{-0.5, 1.0}}, {{1, words}});
  CHECK(read_run(test.folder() / "result", "gemm").at("figures").at("hidden_transfer_time_s") == 0.0);
}

TEST_CASE("Units that work in the host's memory copy nothing and say nothing of it") {
  const Words units = STEELYARD_HAS_DEVICE ? Words{"--units", "host"} : Words{};
  GemmTest<double> test(50, 60, 70);
  test.expect_products({{1.0, 0.0}}, {{2, units + Words{"--result", "result"}}});
  CHECK(lines_that_start(test.outcomes()[0].out, "device     rank ") == 0);
  const auto json = read_run(test.folder() / "result", "gemm");
  CHECK_FALSE(json.at("params").contains("device_memory_bytes"));
  for (const char* key : {"transfer_time_s", "hidden_transfer_time_s", "hidden_transfer_share"}) {
    CHECK_FALSE(json.at("figures").contains(key));
  }
}

TEST_CASE("Host units take no notice of a device's memory") {
  GemmTest<double> test(60, 50, 40);
  test.expect_products({{1.0, 1.0}}, {{1, {"--units", "host"}}, {1, {"--units", "host", "--device-memory", "40KiB"}}});
  CHECK((test.results()[0] == test.results()[1]));
  CHECK(lines_that_start(test.outcomes()[1].out, "device ") == 0);
}

TEST_CASE("A device without block rows has nothing to copy") {
  GemmTest<double> test(64, 50, 40);
  test.expect_products(
      {{1.0, 1.0}}, {{2, Words{"--device-memory", "1MiB", "--result", "result"} + test.models({1e-6, 1.0, 1e-6, 1.0})},
                     {2, Words{"--device-memory", "1MiB"} + test.models({1e-6, 1.0, 1.0, 1e-6})}});
  CHECK(lines_that_start(test.outcomes()[0].out, "device     rank ") == 0);
  CHECK(lines_that_start(test.outcomes()[1].out, "device     rank 0") == 0);
  CHECK(lines_that_start(test.outcomes()[1].out, "device     rank 1") == 1);
  CHECK_FALSE(read_run(test.folder() / "result", "gemm").at("figures").contains("transfer_time_s"));
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_out_of_core
