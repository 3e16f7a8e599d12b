// cavity from the outside: what it computes, prints and leaves, what users get wrong, and what `steelyard predict
// cavity` says of time steps that do not take place.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_cavity {
namespace {

using nlohmann::json;

const std::filesystem::path program = built("cavity");

/// run_app() with cavity; neither speeds nor channels are measured before.
std::vector<Outcome> run_cavity(std::vector<AppRun> runs, const TemporaryFolder& folder) {
  const TemporaryFolder platform;
  for (AppRun& run : runs) run.arguments = run.arguments + with_platform(platform);
  return run_app(program, runs, folder);
}
Outcome run_cavity(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_cavity({{ranks, arguments}}, folder).front();
}

/// Runs each and compares their checkpoints with that of the host unit of one rank alone, bit by bit.
void expect_same(const Words& problem, const std::vector<AppRun>& runs, const TemporaryFolder& folder) {
  std::vector<AppRun> all{{1, problem + Words{"--units", "host", "--checkpoint", "alone"}}};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    all.push_back({runs[i].ranks, problem + runs[i].arguments + Words{"--checkpoint", "run" + std::to_string(i)}});
  }
  run_cavity(all, folder);
  const std::string alone = folder.read("alone");
  REQUIRE(alone.size() > 1000);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    INFO("run " << i << " of " << runs[i].ranks << " ranks");
    CHECK((folder.read("run" + std::to_string(i)) == alone));
  }
}

TEST_CASE("Any units, ranks and ways to solve compute the same flow, bit by bit") {
  const Words numerics = GENERATE(Words{}, Words{"--pressure-preconditioner", "none", "--scheme", "crank-nicolson"},
                                  Words{"--pressure-preconditioner", "none", "--reductions", "merged"},
                                  Words{"--reductions", "merged", "--correctors", "3"});
  const TemporaryFolder folder;
  expect_same(Words{"--rows", "29", "--columns", "34", "--reynolds", "400", "--steps", "4"} + numerics,
              {{1, {"--units", "device"}},
               {1, {"--units", "host+device"}},
               {2, {"--units", "host"}},
               {3, {"--units", "host+device"}},
               {4, {"--units", "device"}},
               {6, {"--units", "host+device"}}},
              folder);
}

TEST_CASE("Every partition, slow units and units without rows compute the same flow") {
  const TemporaryFolder folder;
  std::vector<AppRun> runs{{2, {"--slowdown", "device=3", "rank1=2"}},
                           {3, with_models(folder, {1e-6, 1.0, 1.0, 1e-6, 1.0, 1e-6})},
                           {3, with_models(folder, {1.0, 1.0, 1e-6, 1.0, 1.0, 1.0})}};
  for (const std::string& name : partition_names()) {
    runs.push_back({3, Words{"--partition", name} + with_models(folder, {1e-6, 3e-6, 2e-6, 7e-6, 5e-7, 4e-6})});
    runs.push_back({1, Words{"--partition", name} + with_models(folder, {5e-6, 1e-6})});
  }
  expect_same({"--size", "31", "--height", "1.5", "--steps", "3"}, runs, folder);
}

TEST_CASE("A run that goes on from a checkpoint does what one run would have done") {
  const Words scheme = GENERATE(Words{}, Words{"--scheme", "crank-nicolson"});
  const TemporaryFolder folder;
  const Words problem = Words{"--size", "20", "--reynolds", "1000", "--cfl", "0.5"} + scheme;
  run_cavity({{1, problem + Words{"--steps", "9", "--checkpoint", "whole"}},
              {2, problem + Words{"--steps", "4", "--checkpoint", "first"}}},
             folder);
  const Outcome rest =
      run_cavity(3, problem + Words{"--steps", "5", "--restart", "first", "--checkpoint", "second"}, folder);
  CHECK(lines_that_start(rest.out, "restart    from step 4") == 1);
  CHECK((folder.read("second") == folder.read("whole")));
  // With other steps, and what does not make another cavity.
  const Words finer = words("--size 20 --reynolds 1000 --cfl 0.25 --correctors 3 --restart first --steps 1") + scheme;
  const Outcome other = run_cavity(1, finer, folder);
  CHECK(contains(other.out, "reached with time steps of 0.025, this run goes on with 0.0125"));
  CHECK(contains(other.out, "extrapolated as if steps were equal") == !scheme.empty());
  // As little as that may be.
  const double time = 4.0 * 0.5 / 20.0;
  for (const Words& end : {Words{"--steps", "0"}, Words{"--end-time", std::to_string(time)}}) {
    const Outcome none = run_cavity(2, problem + Words{"--restart", "first", "--checkpoint", "again"} + end, folder);
    CHECK(contains(none.out, "check      passed"));
    CHECK((folder.read("again") == folder.read("first")));
  }
}

TEST_CASE("Runs end with the step, the time or the steadiness that the user wants", "[host]") {
  const TemporaryFolder folder;
  const Words problem{"--size", "16", "--units", "host", "--time-step", "0.05"};
  for (const auto& [words, end] : {std::pair{Words{"--end-time", "0.52"}, "for 11 steps to t = 0.55 "},
                                   {{"--end-time", "0.5", "--steps", "4"}, "for 4 steps to t = 0.2 "},
                                   {{"--steps", "0"}, "for 0 steps to t = 0 "}}) {
    CHECK(contains(run_cavity(1, problem + words, folder).out, end));
  }
  // With the first step that changes less.
  run_cavity(2, problem + Words{"--steady", "1e-2", "--result", "steady"}, folder);
  const json steady = read_run(folder / "steady", "cavity");
  CHECK(steady.at("figures").at("change") < 1e-2);
  const int steps = steady.at("params").at("steps");
  CHECK(steps > 10);
  const Words given = with_models(folder, {1e-6}) + with_platform(folder);
  const Words too_few = given + Words{"--steady", "1e-2", "--steps", std::to_string(steps - 1)};
  CHECK(run(2, program, problem + too_few, folder.path()).status == 3);
  const Words never = given + Words{"--steps", "3", "--steady", "1e-9", "--checkpoint", "flow"};
  const Outcome outcome = run(2, program, problem + never, folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 3);
  CHECK(contains(outcome.err, "not steady after 3 steps"));
  // What there is is kept.
  CHECK(folder.read("flow").size() > 1000);
}

TEST_CASE("cavity's result says what ran, step by step, and is what steelyard predicts of that run") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const auto result = folder / "deep" / "result";
  const Words problem =
      Words{"--size", "33", "--steps", "5", "--units", "host+device"} + with_models(folder, {2e-6, 3e-6});
  const Outcome outcome = run_cavity(
      ranks, problem + Words{"--reynolds", "400", "--repetitions", "2", "--compare-even", "--result", result}, folder);
  CHECK(lines_that_start(outcome.out, "check      passed") == 1);
  const auto left = read_run(result, "cavity");
  CHECK(left.at("params").at("reynolds") == 400.0);
  CHECK(sum(left.at("distribution").get<std::vector<long long>>()) == 33);
  CHECK(read_samples(result).size() == 2);
  const auto figure = [&](const char* name) { return left.at("figures").at(name).get<double>(); };
  for (const char* name : {"streamfunction_min", "u_min", "v_min"}) CHECK(figure(name) < 0.0);
  CHECK(left.at("figures").at("vortex_centre").size() == 2);
  const double r = figure("communication_ratio"), time_s = left.at("median_time_s");
  CHECK_THAT(figure("speedup_bound"), WithinRel((figure("speedup_computation") + r) / (1.0 + r), 1e-12));
  const double cells = 33.0 * 33.0, n_m = figure("momentum_iterations"), n_p = figure("pressure_iterations");
  // Words of each cell: iterations for momentum, for pressure with a V-cycle, and the rest of a step.
  const double words = 38.0 * n_m + (10.0 + 45.0 / 8.0) * n_p + 5.0 * (16.0 + 2.0 * 6.0 + 42.0);
  CHECK_THAT(figure("share_of_bound"), WithinRel(8.0 * cells * words / figure("bound_bytes_per_s") / time_s, 1e-9));

  // With as many iterations as the run needed.
  const Words paper{"predict", "cavity", "--processes", std::to_string(ranks), "--sample", result, "--format", "json"};
  const auto predicted =
      json::parse(good_run(1, steelyard_tool, paper + problem + with_platform(folder), folder.path()).out);
  CHECK_THAT(left.at("predicted_time_s").get<double>(), WithinRel(predicted.at("time_s").get<double>(), 1e-12));
  CHECK(predicted.at("phases").size() == left.at("phases").size());

  for (const char* file : {"flow.vti", "centre_lines.csv", "flow.png"}) {
    CHECK(folder.read(std::string("deep/result/") + file).size() > 100);
  }
}

TEST_CASE("What users get wrong is refused by name: options, files and checkpoints of other cavities", "[host]") {
  const TemporaryFolder folder;
  const Words problem{"--rows", "9", "--columns", "8"};
  run_cavity(1, problem + Words{"--steps", "2", "--checkpoint", "good"}, folder);
  const WrongRuns runs(program, {"--steps", "1", "--result", "result", "--checkpoint", "flow"});
  const std::string good = folder.read("good");
  runs.write("good", good);
  runs.write("short", good.substr(0, good.size() - 8));
  std::string bytes = good;
  bytes[bytes.size() / 2] ^= 1;
  runs.write("damaged", bytes);
  // What else options refuse is in the tests of options.
  runs.expect_refused({{{"--reynolds", "nan"}, "--reynolds"},
                       {{"--profiles", "flow"}, "both name"},
                       {{"--restart", "missing"}, "missing"},
                       {{"--size", "8", "--restart", runs.path("good")}, "rows: is 9 (expected 8)"}},
                      runs.with_model(), {2});
  runs.expect_refused({{{"--restart", runs.path("short")}, "short"},
                       {{"--restart", runs.path("damaged")}, "checksum"},
                       {{"--restart", runs.path("good"), "--reynolds", "400"}, "reynolds: is 100.0 (expected 400.0)"},
                       {{"--restart", runs.path("good"), "--height", "0.5"}, "height: is 1.0 (expected 0.5)"},
                       {{"--restart", runs.path("good"), "--scheme", "crank-nicolson"}, "scheme: is \"euler\""},
                       {{"--restart", runs.path("good"), "--end-time", "0.1"}, "--end-time"}},
                      problem + runs.with_model());
}

TEST_CASE("A linear solver that does not converge ends the run with 3, and no result is left") {
  const TemporaryFolder models;
  const Words line = words("--size 32 --steps 3 --result result --checkpoint flow --model") +
                     Words{write_model(models, "model.fpm.json", 1e-6)};
  for (const int ranks : {1, 3}) {
    for (const auto& [solver, named] :
         {std::pair{words("--most-iterations 20 --pressure-preconditioner none"), "pressure: "},
          {words("--most-iterations 1 --momentum-tolerance 1e-15"), "momentum: "}}) {
      const TemporaryFolder empty;
      const Outcome outcome = run(ranks, program, line + solver, empty.path());
      INFO(outcome.out << outcome.err);
      CHECK(outcome.status == 3);
      CHECK(contains(outcome.err, named));
      CHECK(contains(outcome.err, "iterations " + solver[1]));
      CHECK(empty.entries() == 0);
    }
  }
}

TEST_CASE("A solver that fails in the sample costs the prediction, and a line says why") {
  const TemporaryFolder folder, both;
  const Words few = words("--size 24 --most-iterations 2 --pressure-preconditioner none --units host+device") +
                    with_models(both, {1e-6, 1e-6});
  for (const Words& how : {words("--steps 0 --result result"), words("--dry-run --checkpoint flow")}) {
    const Outcome outcome = run_cavity(1, few + how, folder);
    INFO(outcome.out << outcome.err);
    CHECK(lines_that_start(outcome.out, "predicted  nothing") == 1);
    CHECK(contains(outcome.out, "the solver"));
  }
  CHECK(read_run(folder / "result", "cavity").at("predicted_time_s").is_null());
  // A dry run leaves nothing.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);
}

TEST_CASE("Files that cannot be written are refused before the run; one that fails keeps no other from being written",
          "[host]") {
  expect_unwritable_refused(program, {"--size", "8", "--steps", "1"});
  const TemporaryFolder folder, used;
  folder.write("file", "");
  for (const std::string option : {"--profiles", "--picture", "--checkpoint"}) {
    const Outcome outcome = run(1, program, words("--size 8 --steps 1 " + option + " file/below"), folder.path());
    INFO(option << "\n" << outcome.out << outcome.err);
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
  }
  std::filesystem::create_symlink("/dev/full", used / "full");
  const std::string line =
      "--size 8 --steps 2 --units host --picture /dev/full --profiles full --checkpoint k --result result";
  const Outcome outcome = run(1, program, words(line), used.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 3);
  REQUIRE(outcome.told_by("cavity").size() == 1);
  const std::string told = outcome.told_by("cavity").front();
  CHECK(contains(told, "/dev/full: "));
  CHECK(contains(told, " full: "));
  for (const char* written : {"k", "result/run.json", "result/flow.png", "result/centre_lines.csv"}) {
    CHECK(std::filesystem::exists(used / written));
  }
}

constexpr double row_s = 3e-6;  ///< of a step with three iterations a solve
const Words flow{"--size", "64", "--steps", "10", "--iterations", "7", "12"};
const Words alone{"--pressure-preconditioner", "none"}, merged{"--reductions", "merged"};

json predicted(const TemporaryFolder& folder, const Words& more) {
  const Outcome outcome =
      good_run(1, steelyard_tool, Words{"predict", "cavity", "--format", "json"} + more, folder.path());
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
    const json prediction = predicted(folder, flow + by.options + with_models(folder, {row_s}));
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

TEST_CASE("Processes share out sweeps, and synchronise as often as the solvers do", "[host]") {
  const TemporaryFolder folder;
  const Words on = flow + with_models(folder, {row_s});
  auto one = seconds_of(predicted(folder, on)), one_alone = seconds_of(predicted(folder, on + alone));
  for (const int processes : {2, 4}) {
    const Words shared = on + Words{"--processes", std::to_string(processes), "--platform"} +
                         Words{folder.write("hockney.json", hockney)};
    for (const Words& reductions : {Words{}, merged}) {
      const Words words = shared + alone + reductions;
      auto seconds = seconds_of(predicted(folder, words));
      const std::string text = good_run(1, steelyard_tool, Words{"predict", "cavity"} + words, folder.path()).out;
      std::smatch counts;
      REQUIRE(std::regex_search(text, counts, std::regex("per step +([0-9]+) sums and ([0-9]+) exch.* ([0-9]+) B ")));
      const double sums = std::stod(counts[1]), exchanges = std::stod(counts[2]), bytes = std::stod(counts[3]);
      CHECK(sums == (reductions.empty() ? 7 * 3 + 2 + 12 * 2 + 2 * 3 + 1 : 7 * 2 + 3 + 12 * 1 + 2 * 4 + 1));
      // A phase more for twice the processes, and inner ones have two neighbours.
      const double phases = processes == 2 ? 1.0 : 2.0;
      CHECK_THAT(seconds["sums"], WithinRel(10.0 * sums * phases * (1e-6 + 32.0 / 2e9), 1e-9));
      CHECK_THAT(seconds["halos"], WithinRel(10.0 * phases * (exchanges * 1e-6 + bytes / 2e9), 1e-6));
      if (reductions.empty()) CHECK_THAT(seconds["momentum"] * processes, WithinRel(one_alone["momentum"], 1e-12));
    }
    // All processes sweep a V-cycle's small levels.
    const json prediction = predicted(folder, shared);
    const double gained = one["multigrid"] / seconds_of(prediction)["multigrid"];
    CHECK(gained > 1.0);
    CHECK(gained < processes);
    CHECK(prediction.at("distribution") == json(std::vector<int>(static_cast<std::size_t>(processes), 64 / processes)));
  }
}

TEST_CASE("A unit that does not hold an even share gets what it holds, and the slowest unit's time counts") {
  const TemporaryFolder folder;
  const std::string point = R"({"schema": "steelyard.fpm/1", "points": [{"units": 1, "time_s": 1e-6}, {"units": 10,)";
  const std::string large = folder.write("large.fpm.json", point + R"( "time_s": 1e-5}]})");
  const std::string small = folder.write("small.fpm.json", point + R"( "time_s": 1e-5}], "max_units": 10})");
  const json prediction = predicted(folder, flow + alone + Words{"--units", "host+device", "--model", large, small});
  CHECK(prediction.at("distribution") == json({54, 10}));
  const double measured = 3 * 38.0 + 16.0 + 6 * 8.0 + 12.0 + 42.0;
  CHECK_THAT(seconds_of(prediction)["rest"], WithinRel(10.0 * 54e-6 * 42.0 / measured, 1e-12));
}

TEST_CASE("Predictions without iterations, or with a sample of other solvers, are refused by name", "[host]") {
  const TemporaryFolder folder;
  const Words run{"--size", "48", "--steps", "6", "--units", "host", "--result", "result"};
  good_run(1, program, run + with_models(folder, {row_s}), folder.path());
  const Words sample{"predict", "cavity", "--sample", folder / "result"};
  expect_refused(steelyard_tool,
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
}  // namespace steelyard::tests::test_cavity
