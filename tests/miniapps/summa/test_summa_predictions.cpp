// What summa expects its runs to take.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/miniapps/summa/summa_runs.hpp"

namespace steelyard::tests::test_summa_predictions {
namespace {

/// A platform of one node that only Hockney's model knows, with messages that take `latency_s` whatever they hold.
std::string write_hockney(const TemporaryFolder& folder, double latency_s) {
  const nlohmann::json segment{{"up_to_bytes", nullptr}, {"latency_s", latency_s}, {"bandwidth_bytes_per_s", 1e15}};
  const nlohmann::json channel{{"id", 0}, {"path", {0}}, {"hockney", {{"segments", nlohmann::json::array({segment})}}}};
  return folder.write(
      "hockney.platform.json",
      nlohmann::json{{"schema", "steelyard.platform/1"}, {"channels", nlohmann::json::array({channel})}}.dump());
}

/// The line of that start that a run has printed.
std::string line_of(const std::string& out, const std::string& start) {
  for (const std::string& line : lines_of(out)) {
    if (line.rfind(start, 0) == 0) return line;
  }
  return "";
}

TEST_CASE("All models of communication that the platform has parameters for are named") {
  const TemporaryFolder folder;
  const Words problem{"--size", "60", "--block", "8"};
  std::vector<AppRun> runs;
  for (const Words& communication : communications) runs.push_back({3, problem + communication});
  for (const Outcome& outcome : run_summa(runs, folder)) {
    const std::string line = line_of(outcome.out, "  communication ");
    INFO(outcome.out);
    for (const char* model : {"tau-Lop ", "event ", "HLogGP ", "Hockney "})
      CHECK(line.find(model) != std::string::npos);
  }
  const Words only{"--platform", write_hockney(folder, 1e-3)};
  const Outcome outcome = run_app(summa, {{3, problem + only}}, folder).front();
  const std::string line = line_of(outcome.out, "  communication ");
  INFO(outcome.out);
  CHECK(line.find("Hockney ") != std::string::npos);
  CHECK(line.find("HLogGP") == std::string::npos);
  CHECK(line.find("tau-Lop") == std::string::npos);
}

TEST_CASE("A prediction is put together from those of its phases") {
  const TemporaryFolder folder;
  // 12 iterations, in which a rank updates 48 blocks and more, each of which takes 10 us.
  const Words problem = Words{"--size", "96", "--block", "8", "--units", "host"} + with_models(folder, {1e-5});
  std::vector<AppRun> runs;
  for (std::size_t i = 0; i < communications.size(); ++i) {
    runs.push_back({3, problem + communications[i] + Words{"--result", "result" + std::to_string(i)}});
  }
  run_summa(runs, folder);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto json = read_run(folder / ("result" + std::to_string(i)), "summa");
    const double whole_s = json.at("predicted_time_s").get<double>();
    const double update_s = phase(json, "update").at("predicted_s").get<double>();
    const double communication_s = phase(json, "communication").at("predicted_s").get<double>();
    CAPTURE(i, whole_s, update_s, communication_s);
    CHECK(communication_s > 0.0);
    CHECK(update_s >= 12 * 48 * 1e-5);
    CHECK(whole_s <= (update_s + communication_s) * (1.0 + 1e-9));
    CHECK(whole_s >= std::max(update_s, communication_s) * (1.0 - 1e-9));
    // Phases that take turns add up.
    if (json.at("settings").at("communication") != "pipelined") {
      CHECK(whole_s >= (update_s + communication_s) * (1.0 - 1e-9));
    }
  }
}

TEST_CASE("Ranks whose messages cost more than their updates gain get no blocks with --avoid-communication") {
  const TemporaryFolder folder;
  const Words any = Words{"--size",
                          "64",
                          "--block",
                          "8",
                          "--units",
                          "host",
                          "--avoid-communication",
                          "--platform",
                          write_hockney(folder, 1e-3)};
  // 64 blocks an iteration: seconds of updates beside a millisecond of messages, or microseconds.
  const auto outcomes = run_app(
      summa, {{3, any + with_models(folder, {0.1}) + Words{"--dry-run"}}, {3, any + with_models(folder, {1e-6})}},
      folder);
  const Rectangles all = parts_in_table(outcomes[0].out), one = parts_in_table(outcomes[1].out);
  CHECK(tile(all, 8));
  CHECK(tile(one, 8));
  for (const partition::Rectangle& part : all) CHECK_FALSE(part.empty());
  CHECK(std::count_if(one.begin(), one.end(), [](const partition::Rectangle& part) { return part.empty(); }) == 2);
}

}  // namespace
}  // namespace steelyard::tests::test_summa_predictions
