// How near the field is to the truth, and fields from files and back.
#include <numbers>

#include "core/base/json_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d_fields {
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
    if (coarser > 0.0) CHECK(std::abs(std::log2(coarser / error) - order) <= 0.3);
    coarser = error;
  }
}

TEST_CASE("The scheme stays bounded and passes its check at the largest Courant number it allows, in any type") {
  const Words order =
      GENERATE(Words{"2", "--courant", "0.70710678118654752"}, Words{"4", "--courant", "0.612372435695794"});
  const TemporaryFolder folder;
  const Words arguments = Words{"--size", "33", "--steps", "2000", "--order"} + order;
  run_wave2d({{1, arguments + Words{"--output", "field.npy"}},
              {1, arguments + Words{"--type", "float", "--time-tile", "8", "--check", "all"}}},
             folder);
  CHECK(largest_difference(read_grid<double>(folder / "field.npy"), {33, 33}) <= 1.01);
}

TEST_CASE("A field that rounding has ruined fails its check and wave2d exits 1") {
  // In floats 2 (1 - 2 C^2) rounds to 2: nothing pulls the wave back, and it grows without end.
  const Words arguments{"--size",  "9",    "--type",  "float",  "--courant",     "1e-4", "--steps",   "10000",
                        "--model", "even", "--units", "device", "--repetitions", "1",    "--warmups", "0"};
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  write_model(folder, "even", 1e-6);
  const Outcome outcome = run(ranks, wave2d, arguments + Words{"--result", "result"}, folder.path());
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.out, "FAILED"));
  const auto check = read_json_file(folder / "result" / "run.json").at("check");
  CHECK(check.at("passed") == false);
  CHECK(check.at("error").get<double>() > check.at("tolerance").get<double>());
  CHECK(run(ranks, wave2d, arguments + Words{"--check", "none"}, folder.path()).status == 0);
}

/// The level before a field at rest: half way between it and what a step makes of it as if it had been there before.
template <class Scalar>
Grid<Scalar> before_rest(const Grid<Scalar>& field, bool neumann, int order) {
  Grid<Scalar> before = advanced(field, field, 1, 0.5, neumann, order);
  for (std::size_t i = 0; i < before.values.size(); ++i) before.values[i] = (before.values[i] + field.values[i]) / 2;
  return before;
}

TEMPLATE_TEST_CASE("A field at rest from one file, and a moving one from two, move as on paper", "", double, float) {
  const bool neumann = GENERATE(false, true);
  const bool at_rest = GENERATE(false, true);
  const int order = GENERATE(2, 4), steps = neumann ? 9 : 8;
  const TemporaryFolder folder;
  const auto current = random_grid<TestType>(23, 37, 5);
  auto previous = at_rest ? before_rest(current, neumann, order) : random_grid<TestType>(23, 37, 6);
  write_grid(folder / "previous.npy", previous);
  write_grid(folder / "current.npy", current);
  // Edges that the boundary holds keep the values of the current field.
  for (std::int64_t i = 0; i < previous.rows && !neumann; ++i) {
    for (std::int64_t j = 0; j < previous.columns; ++j) {
      if (current.is_edge(i, j)) previous(i, j) = current(i, j);
    }
  }
  const auto paper = advanced(previous, current, steps, 0.5, neumann, order);
  const Words input = at_rest ? Words{"--input", "current.npy"} : Words{"--input", "previous.npy", "current.npy"};
  const Words arguments = input + Words{"--steps",    std::to_string(steps),
                                        "--order",    std::to_string(order),
                                        "--type",     sizeof(TestType) == 8 ? "double" : "float",
                                        "--boundary", neumann ? "neumann" : "dirichlet"};
  std::vector<AppRun> runs{{1, {"--time-tile", "1"}},
                           {1, {"--time-tile", "4", "--partition", "column"}},
                           {3, {"--time-tile", "1", "--partition", "column"}},
                           {3, {"--time-tile", "2"}},
                           {3, {"--time-tile", "7", "--partition", "column"}}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].arguments = runs[i].arguments + arguments + Words{"--output", "end" + std::to_string(i) + ".npy"};
  }
  run_wave2d(runs, folder);
  const auto first = read_grid<TestType>(folder / "end0.npy");
  // Random fields grow up to a few times their start.
  CHECK(largest_difference(first, paper) <= 4.0 * rounding<TestType>(steps));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    INFO(i);
    CHECK(read_grid<TestType>(folder / ("end" + std::to_string(i) + ".npy")) == first);
  }
}

TEST_CASE("A standing wave from one file converges in second order") {
  const bool neumann = GENERATE(false, true);
  const int order = GENERATE(2, 4);
  const TemporaryFolder folder;
  double before = 0.0;
  for (const std::int64_t points : {17, 33, 65}) {
    Grid<double> wave(points, points);
    for (std::int64_t i = 0; i < points; ++i) {
      for (std::int64_t j = 0; j < points; ++j) {
        const double y = 2.0 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(points - 1);
        const double x = std::numbers::pi * static_cast<double>(j) / static_cast<double>(points - 1);
        wave(i, j) = neumann ? std::cos(y) * std::cos(x) : std::sin(y) * std::sin(x);
        if (!neumann && wave.is_edge(i, j)) wave(i, j) = 0.0;
      }
    }
    write_grid(folder / "start.npy", wave);
    // To t = 1 / 2, since C = c dt / dx is a half.
    run_wave2d(2,
               {"--input", "start.npy", "--output", "end.npy", "--steps", std::to_string(points - 1), "--order",
                std::to_string(order), "--boundary", neumann ? "neumann" : "dirichlet"},
               folder);
    for (double& value : wave.values) value *= std::cos(0.5 * std::numbers::pi * std::sqrt(5.0));
    const double error = largest_difference(read_grid<double>(folder / "end.npy"), wave);
    if (before > 0.0) CHECK(error < before / 3.5);
    before = error;
  }
  CHECK(before < 1e-2);
}

TEMPLATE_TEST_CASE("After no steps the output is the current input bit for bit", "", double, float) {
  const TemporaryFolder folder;
  auto current = random_grid<TestType>(23, 37, 3);
  current(4, 5) = -TestType(0);
  current(6, 7) = std::numeric_limits<TestType>::denorm_min();
  write_grid(folder / "current.npy", current);
  write_grid(folder / "previous.npy", random_grid<TestType>(23, 37, 4));
  const int ranks = GENERATE(1, 3);
  for (const Words& input : {Words{"current.npy"}, Words{"previous.npy", "current.npy"}}) {
    for (const Words& split : {Words{"--time-tile", "1"}, Words{"--time-tile", "5", "--partition", "column"}}) {
      const Words type{"--type", sizeof(TestType) == 8 ? "double" : "float"};
      run_wave2d(ranks, type + split + Words{"--steps", "0", "--output", "end.npy", "--input"} + input, folder);
      CHECK(folder.read("end.npy") == folder.read("current.npy"));
    }
  }
}

TEST_CASE("A run that goes on from files, in place of one of them, equals the run in one piece") {
  const std::string boundary = GENERATE("dirichlet", "neumann");
  const std::string order = GENERATE("2", "4");
  const Words problem{"--size", "29", "--boundary", boundary, "--order", order, "--steps"};
  const TemporaryFolder folder;
  run_wave2d({{1, problem + Words{"12", "--output", "whole.npy", "--time-tile", "1"}},
              {2, problem + Words{"6", "--output", "six.npy", "--time-tile", "4"}},
              {3, problem + Words{"7", "--output", "seven.npy", "--time-tile", "3", "--partition", "column"}}},
             folder);
  const Words rest{"5", "--input", "six.npy", "seven.npy", "--output", "seven.npy", "--time-tile", "2"};
  run_wave2d(2, problem + rest + Words{"--repetitions", "2"}, folder);
  CHECK(folder.read("seven.npy") == folder.read("whole.npy"));
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_fields
