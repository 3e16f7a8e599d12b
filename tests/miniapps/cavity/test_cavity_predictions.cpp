// What `steelyard predict cavity` says of time steps that do not take place.
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_cavity_predictions {
namespace {

using nlohmann::json;

constexpr double row_s = 3e-6;  ///< of a step with three iterations a solve
const Words problem{"--size", "64", "--steps", "10", "--iterations", "7", "12"};
const Words alone{"--pressure-preconditioner", "none"}, merged{"--reductions", "merged"};

json predicted(const TemporaryFolder& folder, const Words& more) {
  const Outcome outcome =
      good_run(1, STEELYARD_TOOL, Words{"predict", "cavity", "--format", "json"} + more, folder.path());
  return json::parse(outcome.out);
}

std::map<std::string, double> seconds_of(const json& prediction) {
  std::map<std::string, double> seconds;
  for (const json& phase : prediction.at("phases")) seconds[phase.at("name")] = phase.at("time_s");
  return seconds;
}

TEST_CASE("Parts of a step that a model says nothing of take the share that they have of the memory traffic") {
  const TemporaryFolder folder;
  /// Words of each cell that an iteration moves, and a V-cycle for it; cycles before the first iterations.
  struct Solvers {
    Words options;
    double momentum, pressure, cycle, first_cycles;
  };
  for (const Solvers& by : {Solvers{alone, 38.0, 8.0, 0.0, 0.0},
                            {{}, 38.0, 10.0, 45.0 / 8.0, 0.0},
                            {alone + merged, 34.0, 8.0, 0.0, 2.0},
                            {merged, 34.0, 11.0, 45.0 / 8.0, 2.0}}) {
    const auto words = [&](double n_m, double n_p) {
      return std::map<std::string, double>{{"momentum", n_m * by.momentum + 16.0},
                                           {"pressure", n_p * by.pressure + 2.0 * 6.0},
                                           {"multigrid", (n_p + by.first_cycles) * by.cycle},
                                           {"rest", 42.0}};
    };
    double measured = 0.0, sum_s = 0.0;
    for (const auto& [part, count] : words(3.0, 6.0)) measured += count;
    const json prediction = predicted(folder, problem + by.options + with_models(folder, {row_s}));
    auto seconds = seconds_of(prediction);
    CHECK(seconds.size() == (by.cycle > 0.0 ? 6 : 5));
    for (const auto& [part, count] : words(7.0, 12.0)) {
      CHECK_THAT(seconds[part], WithinRel(10.0 * 64.0 * row_s * count / measured, 1e-12));
      sum_s += seconds[part];
    }
    CHECK(seconds["sums"] + seconds["halos"] == 0.0);
    CHECK_THAT(prediction.at("time_s").get<double>(), WithinRel(sum_s, 1e-12));
  }
}

/// Messages by Hockney's model alone.
constexpr const char* hockney = R"({"schema": "steelyard.platform/1", "channels": [
    {"id": 0, "name": "shared memory", "path": [0, 0],
     "hockney": {"segments": [{"up_to_bytes": null, "latency_s": 1e-6, "bandwidth_bytes_per_s": 2e9}]}}]})";

TEST_CASE("Processes share out sweeps, and synchronise as often as the solvers do") {
  const TemporaryFolder folder;
  const Words on = problem + with_models(folder, {row_s});
  auto one = seconds_of(predicted(folder, on)), one_alone = seconds_of(predicted(folder, on + alone));
  for (const int processes : {2, 4}) {
    const Words shared = on + Words{"--processes", std::to_string(processes), "--platform"} +
                         Words{folder.write("hockney.json", hockney)};
    for (const Words& reductions : {Words{}, merged}) {
      const Words words = shared + alone + reductions;
      auto seconds = seconds_of(predicted(folder, words));
      const std::string text = good_run(1, STEELYARD_TOOL, Words{"predict", "cavity"} + words, folder.path()).out;
      std::smatch counts;
      REQUIRE(std::regex_search(text, counts, std::regex("per step +([0-9]+) sums and ([0-9]+) exch.* ([0-9]+) B ")));
      const double sums = std::stod(counts[1]), exchanges = std::stod(counts[2]), bytes = std::stod(counts[3]);
      const bool is_merged = !reductions.empty();
      CHECK(sums == (is_merged ? 7 * 2 + 3 + 12 * 1 + 2 * 4 + 1 : 7 * 3 + 2 + 12 * 2 + 2 * 3 + 1));
      CHECK(exchanges == (is_merged ? 7 * 2 + 3 + 12 + 2 * 3 + 2 * 3 + 1 : 7 * 2 + 2 + 12 + 2 * 2 + 2 * 3 + 1));
      // A phase more for twice the processes, and inner ones have two neighbours.
      const double phases = processes == 2 ? 1.0 : 2.0;
      CHECK_THAT(seconds["sums"], WithinRel(10.0 * sums * phases * (1e-6 + 32.0 / 2e9), 1e-9));
      CHECK_THAT(seconds["halos"], WithinRel(10.0 * phases * (exchanges * 1e-6 + bytes / 2e9), 1e-6));
      if (!is_merged) CHECK_THAT(seconds["momentum"] * processes, WithinRel(one_alone["momentum"], 1e-12));
    }
    // All processes sweep a V-cycle's small levels.
    const json prediction = predicted(folder, shared);
    const double gained = one["multigrid"] / seconds_of(prediction)["multigrid"];
    CHECK(gained > 1.0);
    CHECK(gained < processes);
    CHECK(prediction.at("distribution") == json(std::vector<int>(static_cast<std::size_t>(processes), 64 / processes)));
    CHECK(predicted(folder, shared + Words{"--scaling", "weak"}).at("runs").size() == (processes == 2 ? 2 : 3));
  }
}

TEST_CASE("A unit that does not hold an even share gets what it holds, and the slowest unit's time counts") {
  const TemporaryFolder folder;
  const std::string point = R"({"schema": "steelyard.fpm/1", "points": [{"units": 1, "time_s": 1e-6}, {"units": 10,)";
  const std::string large = folder.write("large.fpm.json", point + R"( "time_s": 1e-5}]})");
  const std::string small = folder.write("small.fpm.json", point + R"( "time_s": 1e-5}], "max_units": 10})");
  const json prediction = predicted(folder, problem + alone + Words{"--units", "host+device", "--model", large, small});
  CHECK(prediction.at("distribution") == json({54, 10}));
  const double measured = 3 * 38.0 + 16.0 + 6 * 8.0 + 12.0 + 42.0;
  CHECK_THAT(seconds_of(prediction)["rest"], WithinRel(10.0 * 54e-6 * 42.0 / measured, 1e-12));
}

TEST_CASE("Predictions without iterations, or with a sample of other solvers, are refused by name") {
  const TemporaryFolder folder;
  const Words run{"--size", "48", "--steps", "6", "--units", "host", "--result", "result"};
  good_run(1, STEELYARD_CAVITY, run + with_models(folder, {row_s}), folder.path());
  const Words sample{"predict", "cavity", "--sample", folder / "result"};
  expect_refused(STEELYARD_TOOL,
                 {{{"predict", "cavity", "--size", "64"}, "--iterations is missing"},
                  {{"predict", "cavity", "--iterations", "5"}, "--iterations"},
                  {{"predict", "cavity", "--iterations", "-1", "3"}, "--iterations"},
                  {{"predict", "cavity", "--size", "1", "--iterations", "5", "9"}, "1 x 1"},
                  {{"predict", "cavity", "--sample", folder / "none"}, "none"},
                  {sample + Words{"--correctors", "3"}, "correctors"},
                  {sample + merged, "reductions: is separate (expected merged)"},
                  {sample + alone, "pressure_preconditioner: is multigrid (expected none)"}},
                 {}, {1});
}

}  // namespace
}  // namespace steelyard::tests::test_cavity_predictions
