// What becomes of runs whose ranks, memories, devices, disks and files fail: each ends soon, says why in one line, and
// leaves what was finished.
#include <signal.h>

#include <array>
#include <atomic>
#include <catch2/catch_get_random_seed.hpp>
#include <catch2/generators/catch_generators_adapters.hpp>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::tests::test_faults {
namespace {

constexpr std::chrono::seconds soon(10);

struct App {
  std::filesystem::path program;
  Words arguments;
};

const std::vector<App>& apps() {
  static const std::vector<App> all{
      {built("gemm"), words("--size 130 --block 8")},  {built("summa"), words("--size 96 --block 8")},
      {built("wave2d"), words("--size 70 --steps 6")}, {built("fft2d"), words("--size 72 --planner estimate")},
      {built("jacobi"), words("--size 80 --steps 5")}, {built("heat"), words("--size 80 --steps 5")},
      {built("cavity"), words("--size 64 --steps 1")}};
  return all;
}

Start start(const App& app, int ranks, const TemporaryFolder& folder, const std::string& fault) {
  const Words platform = app.program == built("gemm") ? Words{} : with_platform(folder);
  const Words arguments = with_models(folder, {1e-6}) + words("--repetitions 2 --warmups 0 --result r");
  return {ranks, app.program, app.arguments + platform + arguments, folder.path(), {fault}};
}

/// Runs apps with the N-th of something failing, N at random up to about what a run has of it.
/// @param fault the environment that makes the N-th fail on a rank
void expect_told(const std::function<std::string(int n, int rank)>& fault, const std::string& reason,
                 const Words& more = {}) {
  Random random(Catch::getSeed());
  int failed = 0;
  constexpr int trials = 42;
  for (int trial = 0; trial < trials; ++trial) {
    const TemporaryFolder folder;
    const App& app = apps()[static_cast<std::size_t>(trial) % apps().size()];
    const int ranks = whole(random, 1, 3), rank = whole(random, 0, ranks - 1);
    const int n = 1 + static_cast<int>(std::exp(uniform(random, 0.0, std::log(300.0))));
    Start run = start(app, ranks, folder, fault(n, rank));
    run.environment = run.environment + more;
    Command command(run);
    const Outcome outcome = command.wait(soon);
    INFO(run.environment.front() << ' ' << joined(app.program, run.arguments) << " on " << ranks << " ranks\n"
                                 << outcome.out << outcome.err);
    REQUIRE_FALSE(outcome.timed_out);
    if (outcome.status == 0) continue;  // it has fewer of them
    ++failed;
    REQUIRE(outcome.status == 3);
    std::vector<std::string> told = outcome.told_by(app.program.filename());
    // The first rank, which mpirun ends once another one has failed, tells what it keeps.
    std::erase_if(told, [](const std::string& line) { return contains(line, ": interrupted; "); });
    REQUIRE(told.size() == 1);
    CHECK(contains(told.front(), reason));
    // Which rank, unless it is alone, and what it was doing.
    const std::string who = ranks > 1 ? "rank " + std::to_string(rank) + ", " : "";
    const std::string doing = "(start of its units|plan|allocation|repetition [12]|check|output)";
    CHECK_THAT(told.front(), Catch::Matchers::Matches(app.program.filename().string() + ": " + who + doing + ": .*"));
  }
  CHECK(failed > trials / 4);
}

}  // namespace

TEST_CASE("Whichever rank is late, whenever, results are right") {
  const TemporaryFolder folder;
  std::vector<Start> starts;
  for (const App& app : apps()) {
    for (const int ranks : {2, 3, 6}) {
      starts.push_back(start(app, ranks, folder, "STEELYARD_DELAYS=" + std::to_string(Catch::getSeed() % 1000)));
      starts.back().environment.emplace_back("LD_PRELOAD=" + built("libsteelyard_delays.so").string());
      starts.back().arguments.back() = "r" + std::to_string(starts.size());
    }
  }
  const std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    INFO(joined(starts[i].program, starts[i].arguments) << ' ' << starts[i].environment.front() << '\n'
                                                        << outcomes[i].out << outcomes[i].err);
    CHECK(outcomes[i].status == 0);
  }
}

#if STEELYARD_HAS_DEVICE
TEST_CASE("Whatever work of a device fails, on one rank of several, the run says so and ends") {
  const auto fault = [](int n, int rank) {
    return "STEELYARD_EMULATED_DEVICE=devices=3,seed=" + std::to_string(n) + ",fail=" + std::to_string(n) + ":" +
           std::to_string(rank);
  };
  expect_told(fault, "emulated device: work");
}

#else
// Once is enough; and the emulated device needs host memory of its own.
TEST_CASE("Whatever memory is refused, on one rank of several, the run says so and ends") {
  const auto fault = [](int n, int rank) {
    return "STEELYARD_SHORT=" + std::to_string(n) + ":" + std::to_string(rank);
  };
  expect_told(fault, "memory", {"LD_PRELOAD=" + built("libsteelyard_short_memory.so").string()});
}

namespace {

/// The processes of a run's ranks: those whose working folder is the run's.
std::vector<pid_t> processes_in(const std::filesystem::path& folder, const std::string& program, int rank) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code error;
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (std::filesystem::read_symlink(entry.path() / "cwd", error) != folder || error) continue;
    if (std::filesystem::read_symlink(entry.path() / "exe", error).filename() != program || error) continue;
    std::ifstream file(entry.path() / "environ", std::ios::binary);
    const std::string environment{std::istreambuf_iterator<char>(file), {}};
    const std::string variable = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    if (rank < 0 || environment.find(variable + '\0') != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

}  // namespace

TEST_CASE("A rank that is killed ends the run soon, and the repetitions that were finished are on disk") {
  const auto [ranks, killed] = GENERATE(std::pair(1, 0), std::pair(2, 0), std::pair(2, 1), std::pair(3, 2));
  const TemporaryFolder folder;
  const Words endless = words("--size 64 --steps 100 --check all --repetitions 1000000 --warmups 0 --result r");
  Command run({ranks,
               built("jacobi"),
               endless + with_models(folder, {1e-6}) + with_platform(folder),
               folder.path(),
               {"OMPI_MCA_odls_base_sigkill_timeout=1"}});
  for (int i = 0; i < 1000 && !std::filesystem::exists(folder / "r" / "run.json"); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::vector<pid_t> processes =
      processes_in(std::filesystem::canonical(folder.path()), "jacobi", ranks == 1 ? -1 : killed);
  REQUIRE(processes.size() == 1);
  ::kill(processes.front(), SIGKILL);
  const Outcome outcome = run.wait(soon);
  INFO(outcome.out << outcome.err);
  REQUIRE_FALSE(outcome.timed_out);
  CHECK(outcome.status != 0);
  if (ranks > 1) CHECK(contains(outcome.err, "rank " + std::to_string(killed)));
  CHECK(read_run(folder / "r", "jacobi").at("interrupted") == true);
  CHECK_FALSE(read_samples(folder / "r").empty());
}

TEST_CASE("Results that find no room are told with file and reason, and nothing that is cut off has a name") {
  const std::size_t number = GENERATE(range(std::size_t{0}, apps().size()));
  const App& app = apps()[number];
  const int ranks = 1 + static_cast<int>(number % 2);
  const TemporaryFolder folder;
  // 4 KiB, in the shell's units.
  const Words limited = Words{"-c", "ulimit -f 4; exec \"$0\" \"$@\"", app.program} + app.arguments +
                        words("--repetitions 200 --warmups 0 --result r") + with_models(folder, {1e-6});
  Command command({ranks, "/bin/bash", limited, folder.path(), {}});
  const Outcome outcome = command.wait(std::chrono::seconds(60));
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 3);
  CHECK(contains(outcome.out, "time "));
  const std::vector<std::string> told = outcome.told_by(app.program.filename());
  REQUIRE(told.size() == 1);
  CHECK(contains(told.front(), "cannot be written"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.path().filename() == "samples.jsonl") CHECK_FALSE(read_samples(folder / "r").empty());
    CHECK_FALSE(contains(entry.path().filename(), ".part"));
  }
}

TEST_CASE("A run needs its models and platform no longer once it computes") {
  const TemporaryFolder folder;
  const Words endless = words("--size 64 --steps 100 --repetitions 1000000 --warmups 0 --result r") +
                        with_models(folder, {1e-6}) + with_platform(folder);
  Command run({2, built("jacobi"), endless, folder.path(), {"OMPI_MCA_odls_base_sigkill_timeout=1"}});
  REQUIRE(run.has_told("repetitions of jacobi [1-9]"));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() == ".json") std::filesystem::remove(entry.path());
  }
  run.send(SIGTERM);
  const Outcome outcome = run.wait(soon);
  INFO(outcome.out << outcome.err);
  CHECK_FALSE(outcome.timed_out);
  CHECK(read_run(folder / "r", "jacobi").at("distribution").size() >= 2);
}

TEST_CASE("What numbers mislead is said in the output and in run.json, and is an error with --strict") {
  const TemporaryFolder folder;
  const Words run = words("--size 1024 --steps 100 --repetitions 10 --units host --result r --model m.fpm.json");
  nlohmann::json model = {{"schema", "steelyard.fpm/1"}, {"points", {{{"units", 1}, {"time_s", 1e-6}}}}};
  const auto start = [&](const Words& more, int status) {
    std::filesystem::remove_all(folder / "r");
    folder.write("m.fpm.json", model.dump());
    const Outcome outcome = run_all({{1, built("jacobi"), run + more, folder.path(), {}}}).front();
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == status);
    return outcome;
  };
  const auto notes = [&] { return read_run(folder / "r", "jacobi").at("notes").dump(); };
  const std::string elsewhere = "a speed model is of another origin, rank 0 host";
  for (const auto& [key, value, told] :
       std::vector<std::array<std::string, 3> >{{"/machine", "elsewhere, Processor 9000", elsewhere},
                                                {"/commit", "0123abc", elsewhere},
                                                {"/unit/cores", "0-1023", elsewhere},
                                                {"/unit/blas", "BLAS of yesterday", elsewhere},
                                                {"/note", "measured on a bad day", "measured on a bad day"}}) {
    INFO(key);
    const nlohmann::json before = model;
    model[nlohmann::json::json_pointer(key)] = value;
    CHECK(contains(start({}, 0).out, "note: " + told));
    CHECK(contains(notes(), told));
    start({"--strict"}, 2);
    CHECK_FALSE(std::filesystem::exists(folder / "r"));
    model = before;
  }
  std::atomic<bool> ends{false};
  std::vector<std::thread> others(std::thread::hardware_concurrency());
  for (std::thread& other : others)
    other = std::thread([&] {
      while (!ends) continue;
    });
  const Outcome busy = start({"--strict"}, 3);
  const auto tool = [&](const std::string& line) {
    return run_all({{1, steelyard_tool, words(line), folder.path(), {}}}).front();
  };
  const Outcome measured = tool("measure jacobi --sizes 64 --size 512 --units host --output busy");
  ends = true;
  for (std::thread& other : others) other.join();
  CHECK(contains(busy.err, "busy with other work"));
  CHECK(contains(notes(), "busy with other work"));
  CHECK(measured.status == 0);
  CHECK(contains(tool("predict jacobi --size 512 --model busy/rank0-host.fpm.json").out, "busy with other work"));
}

#endif

}  // namespace steelyard::tests::test_faults
