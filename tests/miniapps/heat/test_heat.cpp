#include <numbers>

#include "core/base/text_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::tests::test_heat {
namespace {

const std::filesystem::path heat = STEELYARD_HEAT;

TEST_CASE("A plate's slowest mode decays as in the differential equation, to second order") {
  const TemporaryFolder folder;
  double before = 0.0;
  for (const std::int64_t n : {15, 31, 63}) {
    // To the same time: a step is a quarter as long where points are half as far apart.
    const std::int64_t steps = (n + 1) * (n + 1) / 8;
    const std::string output = folder / (std::to_string(n) + ".npy");
    good_run(2, heat, {"--size", std::to_string(n), "--steps", std::to_string(steps), "--output", output},
             folder.path());
    const double time = 0.2 * static_cast<double>(steps) / std::pow(static_cast<double>(n + 1), 2);
    const double exact = std::exp(-2.0 * std::numbers::pi * std::numbers::pi * time);
    const double error = std::abs(read_grid<double>(output)(n / 2, n / 2) - exact);
    if (before > 0.0) CHECK_THAT(before / error, Catch::Matchers::WithinRel(4.0, 0.1));
    before = error;
  }
}

TEST_CASE("Every rank, unit and partition computes the same bits") {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  const Words problem = Words{"--rows",  "29",   "--columns",     "17", "--steps", "50",
                              "--units", "host", "--repetitions", "2",  "--check", "all"} +
                        with_models(folder, {1e-6}) + with_platform(folder);
  for (const auto& [ranks, partition] :
       {std::pair(1, "even"), std::pair(2, "shares:2:1"), std::pair(3, "even"), std::pair(4, "shares:1:5:2:3")}) {
    const std::string output = folder / (std::to_string(ranks) + ".npy");
    good_run(ranks, heat, problem + Words{"--partition", partition, "--output", output}, folder.path());
    files.push_back(read_text_file(output));
  }
  for (const std::string& file : files) CHECK(file == files.front());
}

TEST_CASE("A plate may be smaller than its units are many, and nothing happens in no time") {
  const TemporaryFolder folder;
  run_app(heat,
          {{3, Words{"--rows", "1", "--columns", "1", "--steps", "3"} + with_platform(folder)},
           {1, {"--size", "20", "--steps", "0"}}},
          folder);
  expect_refused(heat, {{{"--ratio", "0.3"}, "--ratio"}, {{"--type", "float"}, "--type"}, {{"--size", "0"}, "--size"}},
                 {}, {1});
}

}  // namespace
}  // namespace steelyard::tests::test_heat
