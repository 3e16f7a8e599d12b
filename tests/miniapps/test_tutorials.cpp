// The tutorials' mini-apps, which have no more of their own than a kernel: what the frame does for all is tested here
// too.
#include <nlohmann/json.hpp>
#include <numbers>
#include <span>
#include <thread>

#include "core/base/json_file.hpp"
#include "core/base/statistics.hpp"
#include "core/base/text_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::tests::test_tutorials {
namespace {

const std::filesystem::path heat = built("heat"), jacobi = built("jacobi");

TEST_CASE("heat's slowest mode decays as in the differential equation, to second order", "[host]") {
  const TemporaryFolder folder;
  double before = 0.0;
  for (const std::int64_t n : {15, 31, 63}) {
    // To the same time: a step is a quarter as long where points are half as far apart.
    const std::int64_t steps = (n + 1) * (n + 1) / 8;
    const std::string output = folder / (std::to_string(n) + ".npy");
    const Words problem{"--size", std::to_string(n), "--steps", std::to_string(steps), "--output", output};
    run_app(heat, {{2, problem + with_platform(folder)}}, folder);
    const double time = 0.2 * static_cast<double>(steps) / std::pow(static_cast<double>(n + 1), 2);
    const double exact = std::exp(-2.0 * std::numbers::pi * std::numbers::pi * time);
    const double error = std::abs(read_grid<double>(output)(n / 2, n / 2) - exact);
    if (before > 0.0) CHECK_THAT(before / error, WithinRel(4.0, 0.1));
    before = error;
  }
}

TEST_CASE("heat computes the same bits by every rank, unit and partition, also where units outnumber points") {
  const TemporaryFolder folder;
  std::vector<std::string> files;
  const Words problem = words("--rows 29 --columns 17 --steps 50 --units host --repetitions 2 --check all") +
                        with_models(folder, {1e-6}) + with_platform(folder);
  for (const auto& [ranks, partition] :
       {std::pair(1, "even"), std::pair(2, "shares:2:1"), std::pair(3, "even"), std::pair(4, "shares:1:5:2:3")}) {
    const std::string output = folder / (std::to_string(ranks) + ".npy");
    good_run(ranks, heat, problem + Words{"--partition", partition, "--output", output}, folder.path());
    files.push_back(read_text_file(output));
  }
  for (const std::string& file : files) CHECK(file == files.front());
  run_app(heat,
          {{3, words("--rows 1 --columns 1 --steps 3") + with_platform(folder)}, {1, words("--size 20 --steps 0")}},
          folder);
}

TEST_CASE("Every step of jacobi halves the distance from the solution, whatever the ranks and the partition") {
  const TemporaryFolder folder;
  std::vector<AppRun> runs{{1, words("--size 20 --steps 0")}, {1, words("--size 1 --steps 1")}};
  const Words problem = words("--size 83 --steps 60 --check all") + with_platform(folder);
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

TEST_CASE("Rows move away from a unit of jacobi that turns out to be slow") {
  const TemporaryFolder folder;
  const Words dynamic = words("--size 600 --steps 150 --units host --slowdown rank1=8 --partition dynamic --result r");
  run_app(jacobi, {{2, dynamic + with_platform(folder)}}, folder);
  const auto json = read_run(folder / "r", "jacobi");
  const auto rows = json.at("distribution").get<std::vector<std::int64_t>>();
  CHECK(rows[0] + rows[1] == 600);
  CHECK(rows[0] > rows[1]);
  CHECK(json.at("figures").at("repartitions").get<double>() >= 1.0);
  CHECK(json.at("predicted_time_s").is_null());
}

TEST_CASE("jacobi's prediction is that of the model") {
  const TemporaryFolder folder;
  const Words dry = words("--size 64 --steps 10 --units host --dry-run --result r") + with_models(folder, {1e-6});
  good_run(1, jacobi, dry, folder.path());
  const double predicted_s = read_json_file(folder / "r/run.json").at("predicted_time_s");
  CHECK_THAT(predicted_s, WithinRel(10 * 64e-6, 1e-12));
}

TEST_CASE("What is not given is measured: speed models, and channels between ranks with cores of their own",
          "[alone][host]") {
  const int ranks = GENERATE(1, 2, 3);
  const TemporaryFolder folder;
  const bool has_channels = ranks == 2 && std::thread::hardware_concurrency() > 1;
  const Words run = words("--size 64 --steps 2 --units host --repetitions 1 --result r") +
                    (ranks == 1 ? Words{} : with_models(folder, {1e-6}));
  // What a busy machine measures may look like nothing that a channel does, but not every time.
  const int attempts = has_channels ? 6 : 1;
  nlohmann::json figures;
  for (int attempt = 0; attempt < attempts && !figures.contains("channel_time_s"); ++attempt) {
    good_run(ranks, jacobi, run, folder.path());
    const nlohmann::json json = read_run(folder / "r", "jacobi");
    figures = json.at("figures");
    CHECK(figures.contains("model_time_s") == (ranks == 1));
    CHECK((json.at("phases")[1].at("predicted_s") > 0.0) == figures.contains("channel_time_s"));
  }
  if (ranks == 1 || has_channels) CHECK(figures.contains("channel_time_s") == has_channels);
}

TEST_CASE("Ranks with different options are refused at once, whatever they differ in", "[host]") {
  const TemporaryFolder folder;
  const Words same = words("--size 16 --steps 1");
  for (const char* other : {"--size 17 --steps 1", "--size 16 --steps 1 --repetitions 2", "--help",
                            "--size 16 --steps 1 --dry-run", "--size x"}) {
    const Outcome outcome = run(2, jacobi, same + Words{":", "-n", "1", jacobi.string()} + words(other), folder.path());
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    REQUIRE(outcome.told_by("jacobi").size() == 1);
    CHECK(contains(outcome.told_by("jacobi").front(), "rank 2: options"));
  }
}

TEST_CASE(
    "A result has all samples of repetitions, units and phases, their medians and how far the prediction is off") {
  const TemporaryFolder folder;
  const auto values = [&](const std::string& metric) {
    std::vector<double> all;
    for (const nlohmann::json& sample : read_samples(folder / "r", metric)) all.push_back(sample.at("value"));
    return all;
  };
  const int repetitions = GENERATE(1, 4);
  const Words run = words("--size 32 --steps 3 --units host --result r --repetitions " + std::to_string(repetitions)) +
                    with_models(folder, {1e-6}) + with_platform(folder);
  good_run(2, jacobi, run, folder.path());
  const nlohmann::json json = read_run(folder / "r", "jacobi");
  const nlohmann::json& figures = json.at("figures");
  const std::vector<double> times_s = values("time_s"), unit_times_s = values("unit_time_s");
  const auto count = static_cast<std::size_t>(repetitions);
  REQUIRE(times_s.size() == count);
  REQUIRE(unit_times_s.size() == 2 * count);
  const double median_s = json.at("median_time_s"), predicted_s = json.at("predicted_time_s");
  CHECK(median_s == median(times_s));
  CHECK(figures.at("confidence_s") == (repetitions == 1 ? 0.0 : confidence_half_width(times_s, 0.95)));
  CHECK(figures.at("coefficient_of_variation") == coefficient_of_variation(times_s));
  CHECK(figures.at("percentage_difference") == percentage_difference(predicted_s, median_s));
  CHECK(figures.at("proportional_error") == proportional_error(median_s, predicted_s));
  for (std::size_t unit = 0; unit < 2; ++unit) {
    CHECK(json.at("units")[unit].at("measured_s") == median(std::span(unit_times_s).subspan(unit * count, count)));
  }
  const auto phases = read_samples(folder / "r", "phase_time_s");
  REQUIRE(phases.size() == 2);
  CHECK((phases[0].at("callpath") == "sweep" && phases[1].at("callpath") == "exchange"));
  const Outcome next = good_run(2, jacobi, run, folder.path());
  CHECK(contains(next.err, "note: r has the result of an earlier run"));
}

TEST_CASE("A distribution is given by shares, by what the partition tool prints, or by an earlier run", "[host]") {
  const TemporaryFolder folder;
  const Words models = with_models(folder, {1e-6, 3e-6});
  const Words problem = words("--steps 3 --units host") + with_platform(folder);
  const Words partition =
      words("partition --total 64 --format json --models") + Words(models.begin() + 1, models.end());
  const Outcome tool = good_run(1, steelyard_tool, partition, folder.path());
  write_text_file(folder / "split.json", tool.out);
  const auto rows = [&](const Words& distribution, const char* size = "64") {
    good_run(2, jacobi, problem + models + distribution + Words{"--size", size, "--result", "result"}, folder.path());
    return read_run(folder / "result", "jacobi").at("distribution");
  };
  CHECK(rows({"--distribution", "1:7"}) == nlohmann::json{8, 56});
  CHECK(rows({"--distribution", folder / "result/run.json"}) == nlohmann::json{8, 56});
  CHECK(rows({"--distribution", folder / "split.json"}) == nlohmann::json::parse(tool.out).at("units"));
  CHECK(rows({"--distribution", "0:1"}) == nlohmann::json{0, 64});
  CHECK(rows({"--partition", "constant:5", "--kind", "constant"}) == nlohmann::json{48, 16});
  CHECK(rows({"--distribution", folder / "split.json"}, "32") == nlohmann::json{24, 8});
}

TEST_CASE("Mistakes are refused by name, and results that cannot be written before a program runs", "[host]") {
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
                  {{"--model", "missing.fpm.json"}, "missing.fpm.json"},
                  {with_models(folder, {1e-6}) + words("--platform missing.platform.json"), "missing.platform.json"}},
                 {"--repetitions", "1"});
  expect_refused(heat, {{{"--ratio", "0.3"}, "--ratio"}, {{"--type", "float"}, "--type"}, {{"--size", "0"}, "--size"}},
                 {}, {1});
  expect_unwritable_refused(jacobi, {"--size", "8", "--steps", "1"});
}

}  // namespace
}  // namespace steelyard::tests::test_tutorials
