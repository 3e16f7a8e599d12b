// The tutorial's mini-app, which has no more of its own than its kernel: what the frame does for it is tested here too.
#include <nlohmann/json.hpp>

#include "core/base/text_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::tests::test_jacobi {
namespace {

const std::filesystem::path jacobi = STEELYARD_JACOBI;

TEST_CASE("Every step halves the distance from the solution, whatever the ranks and the partition") {
  const TemporaryFolder folder;
  std::vector<AppRun> runs{{1, {"--size", "20", "--steps", "0"}}, {1, {"--size", "1", "--steps", "1"}}};
  const Words problem = Words{"--size", "83", "--steps", "60", "--check", "all"} + with_platform(folder);
  Words files;
  for (const int ranks : {1, 2, 3}) {
    for (const char* partition : {"even", "geometric", "dynamic"}) {
      files.push_back(folder / (std::to_string(ranks) + partition + ".npy"));
      runs.push_back({ranks, problem + Words{"--partition", partition, "--output", files.back()}});
    }
  }
  run_app(jacobi, runs, folder);
  for (const std::string& file : files) {
    const auto x = read_grid<double>(file);
    REQUIRE((x.rows == 83 && x.columns == 1));
    for (std::int64_t i = 0; i < x.rows; ++i) {
      CHECK_THAT(x(i, 0), WithinAbs(1.0 + static_cast<double>(i % 5) / 8.0, 1e-14));
    }
  }
}

TEST_CASE("Rows move away from a unit that turns out to be slow") {
  const TemporaryFolder folder;
  run_app(jacobi,
          {{2, Words{"--size", "600", "--steps", "150", "--units", "host", "--slowdown", "rank1=8", "--partition",
                     "dynamic", "--result", "result"} +
                   with_platform(folder)}},
          folder);
  const auto json = read_run(folder / "result", "jacobi");
  const auto rows = json.at("distribution").get<std::vector<std::int64_t>>();
  CHECK(rows[0] + rows[1] == 600);
  CHECK(rows[0] > rows[1]);
  CHECK(json.at("figures").at("repartitions").get<double>() >= 1.0);
  CHECK(json.at("predicted_time_s").is_null());
}

TEST_CASE("A prediction is that of the model, and the same without running; without one nothing is predicted") {
  const TemporaryFolder folder;
  const Words problem{"--size", "64", "--steps", "10", "--model", write_model(folder, "unit.fpm.json", 1e-6)};
  const Outcome dry = good_run(1, jacobi, problem + Words{"--units", "host", "--dry-run"}, folder.path());
  CHECK(contains(dry.out, "64.0 us"));
  const Words predict = Words{"predict", "jacobi", "--format", "json"} + problem;
  const Outcome forecast = good_run(1, STEELYARD_TOOL, predict, folder.path());
  CHECK_THAT(nlohmann::json::parse(forecast.out).at("time_s").get<double>(), WithinRel(10 * 64e-6, 1e-12));
  const Words strong = Words{"--processes", "4", "--scaling", "strong"} + with_platform(folder);
  const Outcome scaling = good_run(1, STEELYARD_TOOL, predict + strong, folder.path());
  const auto runs = nlohmann::json::parse(scaling.out).at("runs");
  REQUIRE(runs.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK_THAT(runs[i].at("phases")[0].at("time_s").get<double>(),
               WithinRel(640e-6 / static_cast<double>(1 << i), 1e-12));
  }
  const Words dynamic{"--size", "32", "--partition", "dynamic", "--units", "host", "--dry-run"};
  const Outcome nothing = good_run(1, jacobi, dynamic, folder.path());
  CHECK(lines_that_start(nothing.out, "predicted  nothing") == 1);
  CHECK_FALSE(contains(nothing.out, "0 ns"));
}

TEST_CASE("Ranks with different options are refused at once, whatever they differ in") {
  const TemporaryFolder folder;
  const Words same{"--size", "16", "--steps", "1"};
  for (const Words& other : {Words{"--size", "17", "--steps", "1"}, same + Words{"--repetitions", "2"}, Words{"--help"},
                             same + Words{"--dry-run"}, Words{"--size", "x"}}) {
    const Outcome outcome = run(2, jacobi, same + Words{":", "-n", "1", jacobi.string()} + other, folder.path());
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    REQUIRE(outcome.told_by("jacobi").size() == 1);
    CHECK(contains(outcome.told_by("jacobi").front(), "rank 2: options"));
  }
}

TEST_CASE("An output that fails keeps no other from being written") {
  const TemporaryFolder folder;
  const Outcome outcome =
      run(2, jacobi,
          {"--size", "16", "--steps", "1", "--partition", "dynamic", "--output", "/dev/full", "--result", "result"},
          folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 3);
  REQUIRE(outcome.told_by("jacobi").size() == 1);
  CHECK(contains(outcome.told_by("jacobi").front(), "/dev/full"));
  CHECK(read_samples(folder / "result").size() == 5);
}

TEST_CASE("A result has a sample for every repetition, every unit in it and every phase") {
  const TemporaryFolder folder;
  const Words arguments{"--size",      "32",      "--steps", "3",    "--repetitions", "4",
                        "--partition", "dynamic", "--units", "host", "--result",      "result"};
  good_run(2, jacobi, arguments, folder.path());
  CHECK(read_samples(folder / "result").size() == 4);
  CHECK(read_samples(folder / "result", "unit_time_s").size() == 8);
  const auto phases = read_samples(folder / "result", "phase_time_s");
  REQUIRE(phases.size() == 2);
  CHECK(phases[0].at("phase") == "sweep");
  CHECK(phases[1].at("phase") == "exchange");
  // The next one into the same folder says whose it replaces, before it runs and after.
  const Outcome next = good_run(2, jacobi, arguments, folder.path());
  CHECK(contains(next.err, "note: result has the result of an earlier run"));
  CHECK(contains(next.out, "in place of an earlier run's"));
}

TEST_CASE("A distribution is given by shares, by what the partition tool prints, or by an earlier run") {
  const TemporaryFolder folder;
  const Words models = with_models(folder, {1e-6, 3e-6});
  const Words problem = Words{"--steps", "3", "--units", "host"} + with_platform(folder);
  const Outcome tool = good_run(
      1, STEELYARD_TOOL,
      Words{"partition", "--total", "64", "--format", "json", "--models"} + Words(models.begin() + 1, models.end()),
      folder.path());
  const auto json = nlohmann::json::parse(tool.out);
  write_text_file(folder / "split.json", tool.out);
  const auto rows = [&](const Words& distribution, const char* size = "64") {
    good_run(2, jacobi, problem + models + distribution + Words{"--size", size, "--result", "result"}, folder.path());
    return read_run(folder / "result", "jacobi").at("distribution");
  };
  CHECK(rows({"--distribution", "1:7"}) == nlohmann::json{8, 56});
  CHECK(rows({"--distribution", folder / "result/run.json"}) == nlohmann::json{8, 56});
  CHECK(rows({"--distribution", folder / "split.json"}) == json.at("units"));
  CHECK(rows({"--distribution", "0:1"}) == nlohmann::json{0, 64});
  CHECK(rows({"--partition", "constant:5", "--kind", "constant"}) == nlohmann::json{48, 16});
  CHECK(rows({"--distribution", folder / "split.json"}, "32") == nlohmann::json{24, 8});
}

TEST_CASE("jacobi's mistakes are refused by name, and results that cannot be written before it runs") {
  const TemporaryFolder folder;
  write_text_file(folder / "none.json", R"({"units": [1, "two"]})");
  expect_refused(jacobi,
                 {{{"--size", "0"}, "--size"},
                  {{"--input", "a.npy"}, "--input"},
                  {{"--partition", "fair"}, "partition \"fair\" is unknown"},
                  {{"--partition", "constant:fast"}, "constant:fast"},
                  {{"--distribution", "0:0"}, "expected a share above 0"},
                  {{"--distribution", "missing.json"}, "missing.json"},
                  {{"--distribution", folder / "none.json"}, "none.json: units: holds \"two\""},
                  {{"--distribution", "1:2", "--partition", "even"}, "--distribution"},
                  {{"--kind", "round"}, "model kind \"round\" is unknown"},
                  {{"--steps", "-1"}, "--steps"},
                  {{"--model", "missing.fpm.json"}, "missing.fpm.json"}},
                 {"--repetitions", "1"});
  expect_refused(STEELYARD_TOOL, {{{"predict", "jacobi", "--scaling", "weak"}, "--scaling needs --model"}}, {}, {1});
  expect_unwritable_refused(jacobi, {"--size", "8", "--steps", "1"});
}

}  // namespace
}  // namespace steelyard::tests::test_jacobi
