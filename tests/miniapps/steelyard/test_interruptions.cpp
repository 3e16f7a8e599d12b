// What runs and measurements leave that are told to end, and what they show until then.
#include <catch2/catch_get_random_seed.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "models/fpm_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::tests::test_interruptions {
namespace {

const std::filesystem::path jacobi = built("jacobi"), cavity = built("cavity"), wave2d = built("wave2d");

/// Starts, waits for text of this pattern, and interrupts; mpirun by SIGTERM, which leaves its ranks seconds to end.
Outcome interrupted(int ranks, const std::filesystem::path& program, const Words& arguments, const std::string& pattern,
                    const TemporaryFolder& folder, int signal) {
  Command run({ranks, program, arguments, folder.path(), {"OMPI_MCA_odls_base_sigkill_timeout=3"}});
  CHECK(run.has_told(pattern));
  run.send(ranks == 1 ? signal : SIGTERM);
  Outcome outcome = run.wait();
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status != 0);
  if (ranks == 1 && signal != SIGKILL) CHECK(outcome.status == 128 + signal);
  const std::vector<std::string> told = outcome.told_by(program.filename());
  CHECK((signal == SIGKILL || (told.size() == 1 && contains(told.front(), "interrupted"))));
  return outcome;
}

/// The line that starts so.
std::string line_of(const std::string& text, const std::string& start) {
  const std::size_t at = ("\n" + text).find("\n" + start);
  INFO(text);
  REQUIRE(at != std::string::npos);
  return text.substr(at, text.find('\n', at) - at);
}

/// The number that follows these words.
long number_after(const std::string& text, const std::string& before) {
  const std::size_t at = text.find(before);
  INFO(text);
  REQUIRE(at != std::string::npos);
  return std::stol(text.substr(at + before.size()));
}

}  // namespace

TEST_CASE("An interrupted run shows its progress, leaves the finished repetitions and says so") {
  const int ranks = GENERATE(1, 2), signal = ranks == 1 ? GENERATE(SIGINT, SIGTERM) : SIGTERM;
  const TemporaryFolder folder;
  const Words endless = words("--size 64 --steps 200 --partition dynamic --units host --check all --result r") +
                        words("--repetitions 1000000 --warmups 0") + with_platform(folder);
  const Outcome outcome = interrupted(ranks, jacobi, endless, "repetitions of jacobi [1-9]", folder, signal);
  INFO(outcome.out << outcome.err);
  for (const char* start : {"time ", "check      passed", "result     r"}) {
    CHECK(lines_that_start(outcome.out, start) == 1);
  }
  CHECK(read_run(folder / "r", "jacobi").at("interrupted") == true);
  const std::size_t finished = read_samples(folder / "r").size();
  CHECK(finished >= 1);
  CHECK(contains(outcome.err, std::to_string(finished) + " of 1000000 repetitions"));
}

TEST_CASE("A run that is interrupted within a repetition shows its step, leaves nothing and says so") {
  const std::filesystem::path& program = GENERATE_REF(jacobi, cavity, wave2d);
  const TemporaryFolder folder;
  const Words steps = words("--size 64 --steps 1000000000 --result r") + with_models(folder, {1e-6});
  const std::string name = program.filename(), progress = "repetitions of " + name + " 0/.*[(]step .* of 1000000000[)]";
  const Outcome outcome = interrupted(1, program, steps, progress, folder, SIGINT);
  CHECK(contains(outcome.err, "interrupted; 0 of "));
  CHECK_FALSE(std::filesystem::exists(folder / "r" / "run.json"));
}

TEST_CASE("cavity's checkpoint of an interrupted run is that of as many steps, and of a killed one of every so many") {
  const int ranks = GENERATE(1, 2), signal = ranks == 1 ? GENERATE(SIGINT, SIGKILL) : SIGTERM;
  const TemporaryFolder folder;
  const Words problem = words("--size 96 --units host") + with_models(folder, {1e-5}) + with_platform(folder);
  const Words endless = words("--steps 100000000 --checkpoint stopped --checkpoint-every 7");
  const std::string told = signal == SIGKILL ? "[(]step [0-9]{2,}" : "[(]step ";
  const Outcome outcome = interrupted(ranks, cavity, problem + endless, told, folder, signal);
  if (signal == SIGKILL) {
    const Words again = problem + words("--restart stopped --steps 1");
    const long step = number_after(run_app(cavity, {{1, again}}, folder).front().out, "from step ");
    CHECK(step > 0);
    CHECK(step % 7 == 0);
    return;
  }
  const long steps = number_after(outcome.out, "checkpoint stopped after ");
  const Words whole = problem + words("--checkpoint whole --steps " + std::to_string(steps));
  run_app(cavity, {{1, whole}}, folder);
  CHECK(folder.read("stopped") == folder.read("whole"));
}

TEST_CASE("A run that goes on from a checkpoint, even a killed one's, has bits and check of one that never ended") {
  const std::filesystem::path& program = GENERATE_REF(jacobi, wave2d);
  const std::string name = program.filename();
  const TemporaryFolder folder;
  Random random(Catch::getSeed());
  const auto shared_out = [&](int ranks) {
    Words words{"--distribution"};
    std::string shares;
    for (int i = 0; i < 2 * ranks; ++i) shares += (i > 0 ? ":" : "") + std::to_string(whole(random, 1, 9));
    words.push_back(shares);
    if (program == wave2d) words = words + Words{"--time-tile", std::to_string(whole(random, 1, 8))};
    return words;
  };
  const Words boundary = program == wave2d ? words("--boundary neumann") : Words{};
  const Words problem = words("--size 53 --check all") + boundary + with_platform(folder);
  for (int trial = 0; trial < 6; ++trial) {
    const int first = whole(random, 0, 40), second = whole(random, 0, 40), ranks = whole(random, 1, 3);
    const auto steps = [](int count) { return Words{"--steps", std::to_string(count)}; };
    const Outcome one = run_app(program,
                                {{1, problem + steps(first + second) + words("--output whole.npy")},
                                 {ranks, problem + steps(first) + words("--checkpoint half") + shared_out(ranks)}},
                                folder)
                            .front();
    const Words rest = problem + steps(second) + words("--restart half --output parts.npy") + shared_out(4 - ranks);
    const Outcome two = run_app(program, {{4 - ranks, rest}}, folder).front();
    INFO(name << ", " << first << " + " << second << " steps");
    CHECK(folder.read("whole.npy") == folder.read("parts.npy"));
    CHECK(line_of(two.out, "check      passed") == line_of(one.out, "check      passed"));
  }
  // Old or new, never neither and never a part. Alone, for ranks whose mpirun is killed go on writing for a moment.
  Command run(
      {1, program, problem + words("--steps 100000000 --checkpoint killed --checkpoint-every 7"), folder.path(), {}});
  for (int i = 0; i < 3000 && !std::filesystem::exists(folder / "killed"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(whole(random, 0, 300)));
  run.send(SIGKILL);
  run.wait();
  const Outcome after = run_app(program, {{1, problem + words("--restart killed --steps 3")}}, folder).front();
  CHECK(number_after(after.out, "from step ") >= 7);
  // Checkpoints of other problems, and damaged ones.
  std::string bytes = folder.read("killed");
  bytes[bytes.size() / 2] ^= 1;
  folder.write("damaged", bytes);
  folder.write("cut", bytes.substr(0, bytes.size() - 40));
  expect_refused(program, {{problem + words("--restart " + (folder / "damaged").string()), "checksum"},
                           {problem + words("--restart " + (folder / "cut").string()), "end"},
                           {words("--size 54 --restart " + (folder / "killed").string()) + boundary, "shape"}});
}

TEST_CASE("An interrupted measurement keeps the points that it has", "[alone]") {
  const int ranks = GENERATE(1, 2);
  const TemporaryFolder folder;
  const Words endless = words(
      "measure wave2d --sizes 8 16 32 --rounds 1000 --columns 64 --repetitions-min 3 --repetitions-max 3 "
      "--precision 0.99 --confidence 0.2 --units host --output models");
  const Outcome outcome = interrupted(ranks, steelyard_tool, endless, "measuring wave2d [0-9]{2,}/", folder, SIGINT);
  CHECK(lines_that_start(outcome.out, "rank 0 host") == 3);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string name = "models/rank" + std::to_string(rank) + "-host.fpm.json";
    CHECK(models::read_fpm_file(folder / name).points.size() == 3);
  }
}

}  // namespace steelyard::tests::test_interruptions
