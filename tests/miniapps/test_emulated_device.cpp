// The programs with a companion that is an emulated device: right whatever it is like, and wrong, which their checks
// and the tool find, where something is missing that a device needs.
#include <sstream>

#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"

namespace steelyard::test_emulated_device {

using namespace steelyard::tests;

namespace {

struct App {
  std::filesystem::path program;
  Words arguments;
  Words mistakes;  ///< what it could forget
};

const std::vector<App>& apps() {
  static const std::vector<App> all{
      {STEELYARD_GEMM, {"--size", "130", "--block", "8", "--device-memory", "100KiB"}, {"fence", "event", "copy"}},
      {STEELYARD_SUMMA, {"--size", "96", "--block", "8"}, {"fence", "event", "copy"}},
      {STEELYARD_WAVE2D, {"--size", "70", "--steps", "24", "--time-tile", "4"}, {"fence", "event", "copy", "barrier"}},
      {STEELYARD_FFT2D, {"--size", "72"}, {"fence", "copy", "barrier"}},
      // Steps on old values converge as well, if later: only what is never copied is found.
      {STEELYARD_JACOBI, {"--size", "40", "--steps", "50"}, {"copy"}},
      {STEELYARD_HEAT, {"--size", "40", "--steps", "20"}, {"fence", "copy"}},
      {STEELYARD_CAVITY, {"--size", "64", "--steps", "2"}, {"fence", "copy", "barrier"}}};
  return all;
}

Start start(const App& app, int ranks, const std::string& device, const TemporaryFolder& folder,
            const Words& more = {}) {
  const std::string model = folder / "even.fpm.json";
  if (!std::filesystem::exists(model)) write_model(folder, "even.fpm.json", 1e-6);
  // One that runs in a single node has no option for its network.
  const Words platform = app.program == STEELYARD_GEMM ? Words{} : with_platform(folder);
  return {ranks,
          app.program,
          app.arguments + Words{"--model", model, "--repetitions", "1", "--warmups", "0"} + platform + more,
          folder.path(),
          // Memory that nothing wrote shall not hold zeros, which may be right.
          {"STEELYARD_EMULATED_DEVICE=" + device, "MALLOC_PERTURB_=1"}};
}

void expect_right(const std::vector<Start>& starts) {
  const std::vector<Outcome> outcomes = run_all(starts);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    INFO(starts[i].environment.front() << ' ' << joined(starts[i].program, starts[i].arguments) << " on "
                                       << starts[i].ranks << " ranks\n"
                                       << outcomes[i].out << outcomes[i].err);
    CHECK(outcomes[i].status == 0);
  }
}

}  // namespace

TEST_CASE("Every program is right on a device of whatever seed, on several, and where MPI takes its memory") {
  const TemporaryFolder folder;
  std::vector<Start> starts;
  for (const App& app : apps()) {
    for (const char* const device : {"seed=0", "seed=1", "seed=2", "seed=3", "mpi=aware,seed=4", "scratch=40KiB"}) {
      starts.push_back(start(app, 1, device, folder, {"--units", "device"}));
      starts.push_back(start(app, 2, device, folder));
    }
    for (const int ranks : {2, 3, 4}) starts.push_back(start(app, ranks, "devices=2,seed=5", folder));
  }
  expect_right(starts);
}

TEST_CASE("A fence, an event, a copy or a barrier that is missing shows in nine of ten runs of every program") {
  const std::size_t number = GENERATE(range(std::size_t{0}, apps().size()));
  const App& app = apps()[number];
  const TemporaryFolder folder;
  for (const std::string& mistake : app.mistakes) {
    std::vector<Start> starts;
    for (int seed = 1; seed <= 10; ++seed) {
      starts.push_back(start(app, 1, "lose=" + mistake + ",seed=" + std::to_string(seed), folder));
    }
    const std::vector<Outcome> outcomes = run_all(starts);
    const auto found = std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome& x) { return x.status != 0; });
    INFO(app.program.filename().string() << " without any " << mistake);
    CHECK(found >= 9);
  }
}

TEST_CASE("Passes are no longer than a device's scratch memory holds, at any order and type") {
  const TemporaryFolder folder;
  std::vector<Start> starts;
  for (const char* const order : {"2", "4"}) {
    for (const char* const type : {"double", "float"}) {
      for (const char* const device : {"scratch=48KiB", "scratch=16KiB"}) {
        starts.push_back(start({STEELYARD_WAVE2D, {"--size", "200", "--steps", "256"}, {}}, 1, device, folder,
                               {"--order", order, "--type", type, "--units", "device"}));
        // Its time tile is to be chosen, which models would fix.
        Words& arguments = starts.back().arguments;
        const auto model = std::find(arguments.begin(), arguments.end(), "--model");
        arguments.erase(model, model + 2);
      }
    }
  }
  expect_right(starts);
}

TEST_CASE("Matrices that a device's memory does not hold are transformed and multiplied, by ranks that share it too") {
  const TemporaryFolder folder;
  std::vector<Start> starts;
  for (const int ranks : {1, 2, 3}) {
    starts.push_back(start({STEELYARD_FFT2D, {"--size", "500"}, {}}, ranks, "memory=1MiB", folder));
    starts.push_back(start({STEELYARD_FFT2D, {"--size", "500", "--real"}, {}}, ranks, "memory=1MiB", folder));
    starts.push_back(start({STEELYARD_GEMM, {"--size", "500"}, {}}, ranks, "memory=1MiB", folder));
  }
  expect_right(starts);
}

/// `steelyard` on the device alone.
Start start_tool(const Words& arguments, const std::string& device, const TemporaryFolder& folder) {
  return {1,
          steelyard_tool,
          arguments + Words{"--units", "device"},
          folder.path(),
          {"STEELYARD_EMULATED_DEVICE=" + device}};
}

TEST_CASE("steelyard conformance passes on a device, and exits 1 where what is copied never arrives") {
  const TemporaryFolder folder;
  const std::vector<Outcome> outcomes =
      run_all({start_tool({"conformance"}, "seed=1", folder), start_tool({"conformance"}, "lose=copy,seed=1", folder)});
  INFO(outcomes[0].out << outcomes[0].err << outcomes[1].out << outcomes[1].err);
  CHECK(outcomes[0].status == 0);
  CHECK(outcomes[1].status == 1);
  CHECK_FALSE(contains(outcomes[0].out, "WRONG"));
  CHECK(contains(outcomes[1].out, "WRONG"));
}

TEST_CASE("steelyard units --measure prints STREAM's four kernels, GEMM of both types and copies of a device") {
  const TemporaryFolder folder;
  const Outcome outcome = run_all({start_tool({"units", "--measure"}, "seed=1", folder)}).front();
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  // The last line is the device's.
  std::istringstream row(lines_of(outcome.out).back());
  std::string rank, unit;
  row >> rank >> unit;
  CHECK(unit == "device");
  std::vector<double> rates;
  for (double rate = 0.0; row >> rate;) rates.push_back(rate);
  CHECK(rates.size() == 8);
  CHECK(std::all_of(rates.begin(), rates.end(), [](double rate) { return rate > 0.0; }));
}

}  // namespace steelyard::test_emulated_device
