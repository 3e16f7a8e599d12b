// What a user can get wrong, and linear solvers that do not get there.

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/miniapps/cavity/cavity_runs.hpp"

namespace steelyard::tests::test_cavity_errors {
namespace {

TEST_CASE("Words of cavity that there are not, and values that cannot be, are refused by name") {
  const WrongRuns runs(cavity_program, {"--size", "8", "--steps", "1", "--result", "result", "--checkpoint", "flow"});
  runs.expect_refused({{{"--sise", "9"}, "--sise"},
                       {{"--partition", "fair"}, "fair"},
                       {{"--reynolds", "0"}, "--reynolds"},
                       {{"--reynolds", "nan"}, "--reynolds"},
                       {{"--height", "-1"}, "--height"},
                       {{"--time-step", "0"}, "--time-step"},
                       {{"--time-step", "0.1", "--cfl", "1"}, "--cfl"},
                       {{"--end-time", "never"}, "--end-time"},
                       {{"--correctors", "0"}, "--correctors"},
                       {{"--scheme", "leap-frog"}, "leap-frog"},
                       {{"--pressure-preconditioner", "jacobi"}, "multigrid"},
                       {{"--pressure-tolerance", "2"}, "--pressure-tolerance"},
                       {{"--type", "float"}, "--type"},
                       {{"--output", "flow.npy"}, ".vti"},
                       {{"--input", "a.npy"}, "--input"}},
                      runs.with_model(), {2});
  runs.expect_refused({{{"--rows", "9"}, "--rows"}}, runs.with_model(), {1});
}

TEST_CASE("Checkpoints that do not fit are refused by file, with what they are and what was asked for") {
  const TemporaryFolder folder;
  const Words problem{"--rows", "9", "--columns", "8"};
  run_cavity(1, problem + Words{"--steps", "2", "--checkpoint", "good"}, folder);
  const WrongRuns runs(cavity_program, {"--rows", "9", "--columns", "8", "--steps", "1", "--result", "result"});
  const std::string good = folder.read("good");
  runs.write("good", good);
  runs.write("short", good.substr(0, good.size() - 8));
  runs.write("text", "no checkpoint\n");
  runs.expect_refused({{{"--restart", runs.path("missing")}, "missing"},
                       {{"--restart", runs.path("short")}, "short"},
                       {{"--restart", runs.path("text")}, "text"},
                       {{"--restart", runs.path("good"), "--reynolds", "400"}, "400"},
                       {{"--restart", runs.path("good"), "--scheme", "crank-nicolson"}, "good"},
                       {{"--restart", runs.path("good"), "--end-time", "0.1"}, "--end-time"}},
                      runs.with_model());
}

TEST_CASE("A linear solver that does not converge ends the run with 3, and no result is left") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder, "model.fpm.json", 1e-6);
  for (const int ranks : {1, 3}) {
    const TemporaryFolder empty;
    const Outcome outcome = run(ranks, cavity_program,
                                {"--size", "32", "--steps", "3", "--most-iterations", "2", "--pressure-preconditioner",
                                 "none", "--model", model, "--result", "result", "--checkpoint", "flow"},
                                empty.path());
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("iterations 2") != std::string::npos);
    CHECK(empty.entries() == 0);
  }
}

TEST_CASE("A solver that fails in the sample costs the prediction, and a line says why") {
  const TemporaryFolder folder, both;
  const Words few = Words{"--size", "24", "--most-iterations", "2", "--pressure-preconditioner", "none"} +
                    Words{"--units", "host+device"} + with_models(both, {1e-6, 1e-6});
  for (const Words& words : {few + Words{"--steps", "0", "--result", "result"}, few + Words{"--dry-run"}}) {
    const Outcome outcome = run_cavity(1, words, folder);
    INFO(outcome.out << outcome.err);
    CHECK(lines_that_start(outcome.out, "predicted  nothing") == 1);
    CHECK(outcome.out.find("the solver") != std::string::npos);
  }
  const auto json = read_run(folder / "result", "cavity");
  CHECK(json.at("predicted_time_s").is_null());
}

TEST_CASE("A flow that does not become steady in the steps given ends with 3, and what there is is kept") {
  const TemporaryFolder folder;
  const std::string model = write_model(folder, "model.fpm.json", 1e-6);
  const Outcome outcome = run(
      2, cavity_program,
      {"--size", "16", "--steps", "3", "--steady", "1e-9", "--model", model, "--checkpoint", "flow", "--units", "host"},
      folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 3);
  CHECK(outcome.err.find("not steady after 3 steps") != std::string::npos);
  CHECK(folder.read("flow").size() > 1000);
}

TEST_CASE("Files of a flow that cannot be written are refused before the run") {
  expect_unwritable_refused(cavity_program, {"--size", "8", "--steps", "1"});
  const TemporaryFolder folder;
  folder.write("file", "");
  for (const char* option : {"--profiles", "--picture", "--checkpoint"}) {
    const Outcome outcome =
        run(1, cavity_program, {"--size", "8", "--steps", "1", option, folder / "file" / "below"}, folder.path());
    INFO(option << "\n" << outcome.out << outcome.err);
    CHECK(outcome.status == 3);
    CHECK(outcome.out.empty());
  }
}

}  // namespace
}  // namespace steelyard::tests::test_cavity_errors
