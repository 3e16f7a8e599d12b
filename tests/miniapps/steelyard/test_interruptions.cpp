// What runs and measurements leave that are told to end, and what they show until then.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "models/fpm_file.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::tests::test_interruptions {
namespace {

const std::filesystem::path jacobi = STEELYARD_JACOBI, cavity = STEELYARD_CAVITY, wave2d = STEELYARD_WAVE2D;

/// mpirun leaves ranks that long between asking and killing them; other tests give them no time.
const Words time_to_end{"OMPI_MCA_odls_base_sigkill_timeout=5"};

/// For ever, or until it is interrupted.
const Words endless{"--size",        "64",      "--steps",   "200", "--partition", "dynamic", "--units",  "host",
                    "--repetitions", "1000000", "--warmups", "0",   "--check",     "all",     "--result", "result"};

/// Whether a run has written the file, for which half a minute is enough on a busy machine too.
bool appears(const std::filesystem::path& file) {
  for (int i = 0; i < 1500 && !std::filesystem::exists(file); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return std::filesystem::exists(file);
}

TEST_CASE("An interrupted run shows its progress, leaves the finished repetitions and says so") {
  const int ranks = GENERATE(1, 2);
  const int signal = ranks == 1 ? GENERATE(SIGINT, SIGTERM) : SIGTERM;
  const TemporaryFolder folder;
  Command run({ranks, jacobi, endless, folder.path(), time_to_end});
  REQUIRE(run.has_told("repetitions of jacobi [1-9]"));
  run.send(signal);
  const Outcome outcome = run.wait();
  INFO(outcome.out << outcome.err);
  if (ranks == 1) CHECK(outcome.status == 130);
  CHECK(outcome.status != 0);
  CHECK(lines_that_start(outcome.out, "time ") == 1);
  CHECK(lines_that_start(outcome.out, "check      passed") == 1);
  CHECK(lines_that_start(outcome.out, "result     result") == 1);
  REQUIRE(outcome.told_by("jacobi").size() == 1);
  CHECK(contains(outcome.told_by("jacobi").front(), "interrupted"));
  const auto json = read_run(folder / "result", "jacobi");
  CHECK(json.at("interrupted") == true);
  const std::size_t finished = read_samples(folder / "result").size();
  CHECK(finished >= 1);
  CHECK(contains(outcome.told_by("jacobi").front(), std::to_string(finished) + " of 1000000 repetitions"));
}

TEST_CASE("Every app that goes in steps shows them within a repetition") {
  const std::filesystem::path& program = GENERATE_REF(jacobi, cavity, wave2d);
  const TemporaryFolder folder;
  Command run({1, program, {"--size", "64", "--steps", "1000000000", "--partition", "even"}, folder.path()});
  CHECK(run.has_told("repetitions of " + program.filename().string() + " 0/"));
  CHECK(run.has_told("[(]step "));
  CHECK(run.has_told(" of 1000000000[)]"));
  run.send(SIGINT);
  CHECK(run.wait().status == 130);
}

TEST_CASE("A run that is interrupted before a repetition is finished leaves nothing and says so") {
  const TemporaryFolder folder;
  const Words endless_repetition{"--size", "256", "--steps", "1000000000", "--partition", "dynamic", "--result", "r"};
  Command run({1, jacobi, endless_repetition, folder.path()});
  REQUIRE(run.has_told("repetitions of jacobi 0/"));
  run.send(SIGINT);
  const Outcome outcome = run.wait();
  CHECK(outcome.status == 130);
  CHECK(contains(outcome.err, "interrupted; 0 of 5 repetitions finished"));
  CHECK_FALSE(std::filesystem::exists(folder / "r" / "run.json"));
}

TEST_CASE("cavity's checkpoint of an interrupted run is that of as many steps") {
  const int ranks = GENERATE(1, 2);
  const TemporaryFolder folder;
  const Words problem{"--size", "24", "--units", "host", "--partition", "even"};
  const Words one_model{"--model", write_model(folder, "unit.fpm.json", 1e-5)};
  Command run(
      {ranks, cavity,
       problem + one_model + Words{"--steps", "100000000", "--checkpoint", "stopped", "--checkpoint-every", "7"},
       folder.path(), time_to_end});
  REQUIRE(run.has_told("[(]step "));
  CHECK(appears(folder / "stopped"));
  run.send(ranks == 1 ? SIGINT : SIGTERM);
  const Outcome outcome = run.wait();
  INFO(outcome.out << outcome.err);
  if (ranks == 1) CHECK(outcome.status == 130);
  const std::string words = "checkpoint stopped after ";
  const std::size_t at = outcome.out.find(words);
  REQUIRE(at != std::string::npos);
  const std::string steps = std::to_string(std::stol(outcome.out.substr(at + words.size())));
  good_run(1, cavity, problem + one_model + Words{"--steps", steps, "--checkpoint", "whole"}, folder.path());
  CHECK(folder.read("stopped") == folder.read("whole"));
}

TEST_CASE("A run that is killed has left the checkpoint of every so many steps") {
  const TemporaryFolder folder;
  const Words problem{"--size", "24", "--units", "host", "--model", write_model(folder, "unit.fpm.json", 1e-5)};
  Command run({1, cavity, problem + Words{"--steps", "100000000", "--checkpoint", "kept", "--checkpoint-every", "7"},
               folder.path()});
  REQUIRE(appears(folder / "kept"));
  run.send(SIGKILL);
  CHECK(run.wait().status == 128 + SIGKILL);
  const Outcome again = good_run(1, cavity, problem + Words{"--restart", "kept", "--steps", "1"}, folder.path());
  const std::string words = "from step ";
  const long step = std::stol(again.out.substr(again.out.find(words) + words.size()));
  CHECK(step > 0);
  CHECK(step % 7 == 0);
}

TEST_CASE("An interrupted measurement keeps the points that it has") {
  const int ranks = GENERATE(1, 2);
  const TemporaryFolder folder;
  const Words quick{"--columns",   "64",    "--repetitions-min", "3",   "--repetitions-max", "3",
                    "--precision", "0.99",  "--confidence",      "0.2", "--units",           "host",
                    "--output",    "models"};
  Command run({ranks, steelyard_tool,
               Words{"measure", "wave2d", "--sizes", "8", "16", "32", "--rounds", "1000"} + quick, folder.path(),
               time_to_end});
  REQUIRE(run.has_told("measuring wave2d [0-9]{2,}/"));
  run.send(ranks == 1 ? SIGINT : SIGTERM);
  const Outcome outcome = run.wait();
  INFO(outcome.out << outcome.err);
  if (ranks == 1) CHECK(outcome.status == 130);
  REQUIRE(outcome.told_by("steelyard").size() == 1);
  CHECK(contains(outcome.told_by("steelyard").front(), "interrupted"));
  CHECK(lines_that_start(outcome.out, "rank 0 host") == 3);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string name = "rank" + std::to_string(rank) + "-host.fpm.json";
    CHECK(models::read_fpm_file(folder / "models" / name).points.size() == 3);
  }
}

}  // namespace
}  // namespace steelyard::tests::test_interruptions
