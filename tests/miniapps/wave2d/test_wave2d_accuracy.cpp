#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>

#include "core/base/json_file.hpp"
#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d_accuracy {
namespace {

TEST_CASE("wave2d converges to the analytic standing wave at the order of the scheme") {
  const std::string boundary = GENERATE("dirichlet", "neumann");
  const int order = GENERATE(2, 4);
  const TemporaryFolder folder;
  std::vector<AppRun> runs;
  for (const int factor : {1, 2, 4}) {
    // Time steps that are of second order alone shrink with the square of the spacing.
    const int shrink = order == 2 ? 1 : factor;
    runs.push_back({1,
                    {"--rows", std::to_string(20 * factor + 1), "--columns", std::to_string(16 * factor + 1), "--steps",
                     std::to_string(25 * factor * shrink), "--courant", std::to_string(0.5 / shrink), "--order",
                     std::to_string(order), "--boundary", boundary, "--result", std::to_string(factor)}});
  }
  run_wave2d(runs, folder);
  double coarser = 0.0;
  for (const char* factor : {"1", "2", "4"}) {
    const auto json = read_json_file(folder / factor / "run.json");
    CHECK(json.at("check").at("passed") == true);
    const double error = json.at("figures").at("analytic_error").get<double>();
    REQUIRE(error > 0.0);
    INFO(boundary << ", order " << order << ": error " << error << " after " << coarser);
    if (coarser > 0.0) {
      CHECK(std::log2(coarser / error) >= order - 0.3);
      CHECK(std::log2(coarser / error) <= order + 0.3);
    }
    coarser = error;
  }
}

TEST_CASE("The check passes for any time tile, order, boundary and type") {
  const TemporaryFolder folder;
  std::vector<AppRun> runs;
  for (const char* order : {"2", "4"}) {
    for (const char* boundary : {"dirichlet", "neumann"}) {
      for (const char* type : {"double", "float"}) {
        const Words problem{"--order", order, "--boundary", boundary, "--type", type, "--check", "all"};
        runs.push_back({1, problem + Words{"--rows", "47", "--columns", "90", "--steps", "300", "--time-tile", "1"}});
        runs.push_back({1, problem + Words{"--rows", "90", "--columns", "47", "--steps", "301", "--time-tile", "8"}});
      }
    }
  }
  for (const Outcome& outcome : run_wave2d(runs, folder)) {
    CHECK(outcome.out.find("check      passed") != std::string::npos);
  }
}

TEST_CASE("The scheme stays bounded at the largest Courant number it allows") {
  const Words order =
      GENERATE(Words{"2", "--courant", "0.70710678118654752"}, Words{"4", "--courant", "0.612372435695794"});
  const TemporaryFolder folder;
  run_wave2d(1, Words{"--size", "33", "--steps", "2000", "--output", "field.npy", "--order"} + order, folder);
  const Grid<double> zero(33, 33);
  CHECK(largest_difference(read_grid<double>(folder / "field.npy"), zero) <= 1.01);
}

TEST_CASE("A field that rounding has ruined fails its check and wave2d exits 1") {
  // In floats 2 (1 - 2 C^2) rounds to 2: nothing pulls the wave back, and it grows without end.
  const Words arguments{"--size",  "9",    "--type",  "float",  "--courant",     "1e-4", "--steps",   "10000",
                        "--model", "even", "--units", "device", "--repetitions", "1",    "--warmups", "0"};
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  write_model(folder, "even", 1e-6);
  Words checked = arguments;
  checked.insert(checked.end(), {"--result", "result"});
  const Outcome outcome = run(ranks, wave2d, checked, folder.path());
  CHECK(outcome.status == 1);
  CHECK(outcome.out.find("FAILED") != std::string::npos);
  const auto check = read_json_file(folder / "result" / "run.json").at("check");
  CHECK(check.at("passed") == false);
  CHECK(check.at("error").get<double>() > check.at("tolerance").get<double>());

  Words unchecked = arguments;
  unchecked.insert(unchecked.end(), {"--check", "none"});
  CHECK(run(ranks, wave2d, unchecked, folder.path()).status == 0);
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_accuracy
