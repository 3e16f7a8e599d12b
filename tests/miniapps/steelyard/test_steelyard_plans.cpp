#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

#include "core/base/json_file.hpp"
#include "tests/miniapps/steelyard/predictions.hpp"

namespace steelyard::tests::test_steelyard_plans {
namespace {

using nlohmann::json;
using test_steelyard_predict::predicted;
using test_steelyard_predict::write_platform;

/// Speed models of `units` units of as many different speeds, and the channels.
Words with_files(const TemporaryFolder& folder, int units) {
  std::vector<double> seconds;
  for (int i = 0; i < units; ++i) seconds.push_back(1e-6 * (3 + 2 * i % 5));
  return with_models(folder, seconds);
}

TEST_CASE("A plan of processes on paper is that of a run, to the last digit") {
  const int ranks = GENERATE(1, 2, 3, 4);
  const std::string units = GENERATE("host", "host+device");
  const TemporaryFolder folder;
  const int count = ranks * (units == "host" ? 1 : 2);
  const Words files = with_files(folder, count);
  const Words platform{"--platform", write_platform(folder)};
  const std::string column = write_model(folder, "column.fpm.json", 2e-6);
  const Words partitions{"even", "constant:40", "geometric", "numerical", "hpopta", "exact"};
  auto turn = static_cast<std::size_t>(3 * ranks + count);
  struct App {
    std::filesystem::path program;
    Words problem;
  };
  for (const App& app :
       {App{STEELYARD_JACOBI, Words{"--size", "301", "--steps", "17"} + platform},
        App{STEELYARD_GEMM, {"--m", "700", "--n", "65", "--k", "33", "--block", "3"}},
        App{STEELYARD_SUMMA, Words{"--size", "700", "--block", "32"} + platform},
        App{STEELYARD_SUMMA, Words{"--size", "90", "--block", "8", "--communication", "paper"} + platform},
        App{STEELYARD_FFT2D, Words{"--size", "96"} + platform},
        App{STEELYARD_FFT2D, Words{"--rows", "60", "--columns", "99", "--transposed", "--exchange", "pipelined",
                                   "--column-model", column} +
                                 platform},
        App{STEELYARD_HEAT, Words{"--rows", "131", "--columns", "90", "--steps", "30"} + platform},
        App{STEELYARD_WAVE2D,
            Words{"--rows", "131", "--columns", "90", "--steps", "30", "--time-tile", "4"} + platform},
        App{STEELYARD_CAVITY, Words{"--size", "64", "--steps", "7", "--iterations", "5", "9"} + platform}}) {
    const std::string name = app.program.filename();
    // Every algorithm has its turn with every app.
    const std::string& partition = partitions[turn++ % partitions.size()];
    const Words on = files + Words{"--units", units, "--partition", partition};
    INFO(name << " on " << ranks << " ranks with " << units << ", " << partition);
    good_run(ranks, app.program, app.problem + on + Words{"--dry-run", "--result", name}, folder.path());
    const json dry = read_json_file(folder / (name + "/run.json"));
    const json paper = predicted(folder, app.problem + on + Words{"--processes", std::to_string(ranks)}, name);
    CHECK(paper.at("distribution") == dry.at("distribution"));
    CHECK(paper.at("time_s") == dry.at("predicted_time_s"));
    CHECK(paper.at("predicted_interval_s") == dry.at("predicted_interval_s"));
    json phases = json::array();
    for (const json& phase : dry.at("phases")) {
      phases.push_back({{"name", phase.at("name")}, {"time_s", phase.at("predicted_s")}});
    }
    CHECK(paper.at("phases") == phases);
  }
}

TEST_CASE("What measuring keeps of a kernel's parts is the same in a plan on paper and in a run's") {
  const TemporaryFolder folder;
  struct App {
    std::filesystem::path program;
    Words kernel, problem;
    std::string part;
  };
  for (const App& app :
       {App{STEELYARD_WAVE2D, {"--columns", "90", "--time-tile", "4"}, {"--rows", "100", "--steps", "20"}, "border"},
        App{STEELYARD_CAVITY, {"--columns", "48"}, {"--rows", "60", "--iterations", "5", "9"}, "multigrid"}}) {
    const std::string name = app.program.filename();
    INFO(name);
    good_run(
        1, steelyard_tool,
        Words{"measure", name, "--units", "host", "--sizes", "20", "60", "--rounds", "1", "--repetitions-min", "2",
              "--repetitions-max", "2", "--precision", "0.99", "--confidence", "0.2", "--output", name + "-models"} +
            app.kernel,
        folder.path());
    const std::string model = folder / (name + "-models/rank0-host.fpm.json");
    const json file = read_json_file(model);
    const json& points = file.at("points").empty() ? file.at("imprecise_points") : file.at("points");
    CHECK(points.back().at("parts_s").at(app.part).get<double>() > 0.0);
    const Words on = app.kernel + app.problem + Words{"--units",    "host",    "--model",    model,
                                                      "--slowdown", "rank1=3", "--platform", write_platform(folder)};
    good_run(2, app.program, on + Words{"--dry-run", "--result", name}, folder.path());
    const json dry = read_json_file(folder / (name + "/run.json"));
    const json paper = predicted(folder, on + Words{"--processes", "2"}, name);
    CHECK(paper.at("distribution") == dry.at("distribution"));
    CHECK(paper.at("time_s") == dry.at("predicted_time_s"));
    for (std::size_t i = 0; i < paper.at("phases").size(); ++i) {
      CHECK(paper.at("phases")[i].at("time_s") == dry.at("phases")[i].at("predicted_s"));
      if (paper.at("phases")[i].at("name") == app.part) CHECK(paper.at("phases")[i].at("time_s").get<double>() > 0.0);
    }
  }
}

}  // namespace
}  // namespace steelyard::tests::test_steelyard_plans
