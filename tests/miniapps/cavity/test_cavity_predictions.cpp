// What `steelyard predict cavity` says of time steps that do not take place.

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/miniapps/cavity/cavity_runs.hpp"

using Catch::Matchers::WithinRel;
using nlohmann::json;

namespace steelyard::tests::test_cavity_predictions {
namespace {

constexpr double row_s = 3e-6;  ///< of a step with three iterations a solve
/// Words of each cell that such a step moves: 38 and 8 in iterations, and those of the other parts.
constexpr double words = 3 * 38 + 16 + 2 * (3 * 8 + 6) + 42, cycle_words = words + 2 * 3 * (2 + 45.0 / 8);

json predicted(const TemporaryFolder& folder, const Words& more) {
  const Outcome outcome =
      good_run(1, STEELYARD_TOOL, Words{"predict", "cavity", "--format", "json"} + more, folder.path());
  return json::parse(outcome.out);
}

std::map<std::string, double> seconds_of(const json& phases, const char* key) {
  std::map<std::string, double> seconds;
  for (const json& phase : phases) seconds[phase.at("name")] = phase.at(key);
  return seconds;
}

TEST_CASE("Parts of a step that a model says nothing of take the share that they have of the memory traffic") {
  const TemporaryFolder folder;
  const Words problem =
      Words{"--size", "64", "--steps", "10", "--iterations", "7", "12"} + with_models(folder, {row_s});
  const json plain = predicted(folder, problem + Words{"--pressure-preconditioner", "none"});
  auto phases = seconds_of(plain.at("phases"), "time_s");
  const double word_s = 64 * row_s / words;
  CHECK(phases.size() == 5);
  CHECK_THAT(phases["momentum"], WithinRel(10 * (7 * 38 + 16) * word_s, 1e-12));
  CHECK_THAT(phases["pressure"], WithinRel(10 * (12 * 8 + 2 * 6) * word_s, 1e-12));
  CHECK_THAT(phases["rest"], WithinRel(10 * 42 * word_s, 1e-12));
  CHECK(phases["sums"] + phases["halos"] == 0.0);
  double sum_s = 0.0;
  for (const auto& [name, seconds] : phases) sum_s += seconds;
  CHECK_THAT(plain.at("time_s").get<double>(), WithinRel(sum_s, 1e-12));
  auto cycles = seconds_of(predicted(folder, problem).at("phases"), "time_s");
  CHECK_THAT(cycles["multigrid"], WithinRel(10 * 12 * 45.0 / 8 * 64 * row_s / cycle_words, 1e-12));
  CHECK_THAT(cycles["momentum"], WithinRel(phases["momentum"] * words / cycle_words, 1e-12));
}

TEST_CASE("Processes share out sweeps, and synchronise as often as the solvers do") {
  const TemporaryFolder folder;
  const Words problem = Words{"--size", "64", "--steps", "10", "--iterations", "7", "12", "--processes", "4"} +
                        with_models(folder, {row_s}) + with_platform(folder);
  const Words plain = problem + Words{"--pressure-preconditioner", "none"};
  auto separate = seconds_of(predicted(folder, plain).at("phases"), "time_s");
  auto merged = seconds_of(predicted(folder, plain + Words{"--reductions", "merged"}).at("phases"), "time_s");
  CHECK_THAT(separate["momentum"], WithinRel(10 * (7 * 38 + 16) * 16 * row_s / words, 1e-12));
  CHECK_THAT(merged["sums"] / separate["sums"],
             WithinRel((7 * 2 + 3 + 12 * 1 + 2 * 4 + 1.0) / (7 * 3 + 2 + 12 * 2 + 2 * 3 + 1), 1e-12));
  CHECK(separate["halos"] > 0.0);
  CHECK(merged["halos"] > separate["halos"]);
  // All processes sweep a V-cycle's small levels.
  const json one = predicted(
      folder, Words{"--size", "64", "--steps", "10", "--iterations", "7", "12"} + with_models(folder, {row_s}));
  const json shared = predicted(folder, problem);
  const double gained =
      seconds_of(one.at("phases"), "time_s")["multigrid"] / seconds_of(shared.at("phases"), "time_s")["multigrid"];
  CHECK(gained > 1.0);
  CHECK(gained < 4.0);
  CHECK(shared.at("distribution") == json({16, 16, 16, 16}));
  CHECK(shared.at("models").size() > 1);
  const Words weak = problem + Words{"--scaling", "weak"};
  CHECK(predicted(folder, weak).at("runs").size() == 3);
}

TEST_CASE("A unit that does not hold an even share gets what it holds") {
  const TemporaryFolder folder;
  const std::string point = R"({"schema": "steelyard.fpm/1", "points": [{"units": 1, "time_s": 1e-6}, {"units": 10,)";
  const std::string large = folder.write("large.fpm.json", point + R"( "time_s": 1e-5}]})");
  const std::string small = folder.write("small.fpm.json", point + R"( "time_s": 1e-5}], "max_units": 10})");
  const json prediction = predicted(folder, {"--size", "64", "--steps", "2", "--iterations", "7", "12", "--units",
                                             "host+device", "--model", large, small});
  CHECK(prediction.at("distribution") == json({54, 10}));
}

TEST_CASE("A sample says how many iterations a step has") {
  const TemporaryFolder folder;
  run_cavity(1, {"--size", "48", "--steps", "6", "--units", "host", "--result", "result"}, folder);
  const json run = json::parse(folder.read("result/run.json"));
  const Words problem =
      Words{"--size", "96", "--steps", "6", "--sample", folder / "result"} + with_models(folder, {row_s});
  const json prediction = predicted(folder, problem);
  const double n_m = run.at("figures").at("momentum_iterations"), n_p = run.at("figures").at("pressure_iterations");
  const Words same =
      Words{"--size", "96", "--steps", "6", "--iterations", std::to_string(n_m / 6), std::to_string(n_p / 6)} +
      with_models(folder, {row_s});
  CHECK_THAT(predicted(folder, same).at("time_s").get<double>(),
             WithinRel(prediction.at("time_s").get<double>(), 1e-4));
  expect_refused(
      STEELYARD_TOOL,
      {{{"predict", "cavity", "--size", "64"}, "--iterations is missing"},
       {{"predict", "cavity", "--iterations", "5"}, "--iterations"},
       {{"predict", "cavity", "--iterations", "-1", "3"}, "--iterations"},
       {{"predict", "cavity", "--size", "1", "--iterations", "5", "9"}, "1 x 1"},
       {{"predict", "cavity", "--sample", folder / "none"}, "none"},
       {Words{"predict", "cavity", "--correctors", "3", "--sample"} + Words{folder / "result"}, "correctors"},
       {Words{"predict", "cavity", "--pressure-preconditioner", "none", "--sample"} + Words{folder / "result"},
        "pressure_preconditioner: is multigrid (expected none)"}},
      {}, {1});
}

}  // namespace
}  // namespace steelyard::tests::test_cavity_predictions
