// What cavity prints and what it leaves for other programs.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/json_file.hpp"
#include "tests/miniapps/cavity/cavity_runs.hpp"

namespace steelyard::tests::test_cavity_results {
namespace {

using Numbers = std::vector<long long>;

TEST_CASE("Only rank 0 of cavity prints, once, and units get what their speeds deserve") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run_cavity(2,
                 Words{"--rows", "60", "--columns", "40", "--steps", "3", "--units", "host+device"} +
                     with_models(folder, {1e-6, 2e-6, 1e-6, 2e-6}),
                 folder);
  for (const char* start :
       {"cavity 60 x 40, Re 100", "unit ", "time ", "predicted ", "speed ", "iterations ", "  momentum ", "  pressure ",
        "  multigrid ", "  rest ", "  sums ", "  halos ", "change ", "vortex ", "velocity ", "Ghia ", "check "}) {
    INFO(start << " in\n" << outcome.out);
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  CHECK(outcome.out.find("check      passed") != std::string::npos);
  CHECK(slices_in_table(outcome.out, "rows") == Numbers{20, 10, 20, 10});
}

TEST_CASE("A dry run of cavity prints who gets what and writes nothing but its result") {
  const TemporaryFolder models;
  const TemporaryFolder folder;
  const Outcome outcome =
      run_cavity(1,
                 with_models(models, {1e-6, 3e-6}) + Words{"--size", "40", "--dry-run", "--units", "host+device",
                                                           "--result", "result", "--checkpoint", "flow"},
                 folder);
  CHECK(slices_in_table(outcome.out, "rows") == Numbers{30, 10});
  CHECK(lines_that_start(outcome.out, "predicted") == 1);
  CHECK(lines_that_start(outcome.out, "time ") == 0);
  // A result of predictions alone.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
  CHECK(read_json_file(folder / "result/run.json").at("median_time_s").is_null());
}

TEST_CASE("cavity's result folder says what ran, step by step") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  run_cavity(ranks,
             {"--size", "33", "--reynolds", "400", "--steps", "5", "--repetitions", "2", "--compare-even", "--result",
              "deep/result"},
             folder);
  const auto result = folder / "deep" / "result";
  const auto json = read_run(result, "cavity");
  CHECK(json.at("params").at("rows") == 33.0);
  CHECK(json.at("params").at("reynolds") == 400.0);
  CHECK(json.at("settings").at("scheme") == "euler");
  CHECK(sum(json.at("distribution").get<Numbers>()) == 33);
  CHECK(json.at("check").at("passed") == true);
  const auto& figures = json.at("figures");
  for (const char* figure : {"momentum_iterations", "pressure_iterations", "cells_per_s", "share_of_bound", "v_max",
                             "speedup", "speedup_bound", "speedup_computation"}) {
    INFO(figure);
    CHECK(figures.at(figure).get<double>() > 0.0);
  }
  CHECK(figures.at("streamfunction_min").get<double>() < 0.0);
  CHECK(figures.at("u_min").get<double>() < 0.0);
  CHECK(figures.at("v_min").get<double>() < 0.0);
  CHECK(figures.at("vortex_centre").size() == 2);
  const double r = figures.at("communication_ratio"), s = figures.at("speedup_computation");
  CHECK(std::abs(figures.at("speedup_bound").get<double>() - (s + r) / (1.0 + r)) < 1e-12);
  double predicted_s = 0.0;
  std::string phases;
  for (const auto& phase : json.at("phases")) {
    predicted_s += phase.at("predicted_s").get<double>();
    phases += phase.at("name").get<std::string>() + " ";
  }
  CHECK(phases == "momentum pressure multigrid rest sums halos ");
  CHECK(std::abs(predicted_s - json.at("predicted_time_s").get<double>()) <= 1e-9 * predicted_s);
  CHECK(read_samples(result).size() == 2);

  // Every solve's residuals fall below the tolerance, the last one for the first time.
  std::istringstream lines(folder.read("deep/result/solves.jsonl"));
  std::string line;
  int steps = 0;
  double iterations = 0.0;
  while (std::getline(lines, line)) {
    const auto step = nlohmann::json::parse(line);
    ++steps;
    CHECK(step.at("step") == steps);
    CHECK(step.at("pressure").size() == 2);
    for (const auto& solve : step.at("pressure")) {
      const auto residuals = solve.at("residuals").get<std::vector<double>>();
      REQUIRE(residuals.size() == solve.at("iterations").get<std::size_t>() + 1);
      iterations += solve.at("iterations").get<double>();
      for (std::size_t i = 0; i < residuals.size(); ++i) CHECK((residuals[i] <= 1e-6) == (i + 1 == residuals.size()));
    }
  }
  CHECK(steps == 5);
  CHECK(iterations == figures.at("pressure_iterations").get<double>());
  for (const char* file : {"flow.vti", "centre_lines.csv", "flow.png"}) {
    CHECK(folder.read(std::string("deep/result/") + file).size() > 100);
  }
}

TEST_CASE("Runs end with the step, the time or the steadiness that the user wants") {
  const TemporaryFolder folder;
  const Words problem{"--size", "16", "--units", "host", "--time-step", "0.05"};
  const auto outcomes = run_cavity({{1, problem + Words{"--end-time", "0.5"}},
                                    {1, problem + Words{"--end-time", "0.52"}},
                                    {1, problem + Words{"--end-time", "0.5", "--steps", "4"}},
                                    {1, problem + Words{"--steady", "1e-4"}},
                                    {1, problem + Words{"--steps", "0"}}},
                                   folder);
  CHECK(outcomes[0].out.find("for 10 steps to t = 0.5 ") != std::string::npos);
  CHECK(outcomes[1].out.find("for 11 steps to t = 0.55 ") != std::string::npos);
  CHECK(outcomes[2].out.find("for 4 steps to t = 0.2 ") != std::string::npos);
  CHECK(outcomes[3].out.find("check      passed") != std::string::npos);
  CHECK(outcomes[4].out.find("for 0 steps to t = 0 ") != std::string::npos);
}

TEST_CASE("cavity's help names its options") {
  const TemporaryFolder folder;
  const Outcome help = run(1, cavity_program, {"--help"}, folder.path());
  CHECK(help.status == 0);
  std::istringstream options(
      "--size --rows --columns --height --reynolds --scheme --correctors --time-step --cfl --steps --end-time --steady "
      "--pressure-preconditioner --reductions --pressure-tolerance --momentum-tolerance "
      "--most-iterations --compare-even --profiles --picture --checkpoint --restart --output --units --partition "
      "--model --platform --check --repetitions --warmups --result --dry-run -h,--help --version --slowdown");
  for (std::string option; options >> option;) {
    INFO(option << " in\n" << help.out);
    CHECK(lines_of_option(help.out, option) == 1);
  }
}

TEST_CASE("Outputs that fail keep no other from being written, and each is named") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/full", folder / "full");
  const Outcome outcome = run(1, STEELYARD_CAVITY,
                              {"--size", "8", "--steps", "2", "--units", "host", "--picture", "/dev/full", "--profiles",
                               "full", "--checkpoint", "k", "--result", "result"},
                              folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 3);
  REQUIRE(outcome.told_by("cavity").size() == 1);
  const std::string told = outcome.told_by("cavity").front();
  CHECK(contains(told, "/dev/full: "));
  CHECK(contains(told, " full: "));
  for (const char* written : {"k", "result/run.json", "result/flow.png", "result/centre_lines.csv"}) {
    CHECK(std::filesystem::exists(folder / written));
  }
}

}  // namespace
}  // namespace steelyard::tests::test_cavity_results
