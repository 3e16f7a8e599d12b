// The programs with a companion that is an emulated device: right whatever it is like, and wrong, which their checks
// and the tool find, where something is missing that a device needs.
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/communication/platform.hpp"
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
      {built("gemm"), {"--size", "130", "--block", "8", "--device-memory", "100KiB"}, {"fence", "event", "copy"}},
      {built("summa"), {"--size", "96", "--block", "8"}, {"fence", "event", "copy"}},
      {built("wave2d"), {"--size", "70", "--steps", "24", "--time-tile", "4"}, {"fence", "event", "copy", "barrier"}},
      {built("fft2d"), {"--size", "72"}, {"fence", "copy", "barrier"}},
      // Steps on old values converge as well, if later: only what is never copied is found.
      {built("jacobi"), {"--size", "40", "--steps", "50"}, {"copy"}},
      {built("heat"), {"--size", "40", "--steps", "20"}, {"fence", "copy"}},
      {built("cavity"), {"--size", "64", "--steps", "2"}, {"fence", "copy", "barrier"}}};
  return all;
}

Start start(const App& app, int ranks, const std::string& device, const TemporaryFolder& folder,
            const Words& more = {}) {
  // One that runs in a single node has no option for its network.
  const Words platform = app.program == built("gemm") ? Words{} : with_platform(folder);
  return {ranks,
          app.program,
          app.arguments + words("--repetitions 1 --warmups 0") + platform + more,
          folder.path(),
          // Memory that nothing wrote shall not hold zeros, which may be right.
          {"STEELYARD_EMULATED_DEVICE=" + device, "MALLOC_PERTURB_=1"}};
}

/// As above, by models that share out evenly.
Start start_evenly(const App& app, int ranks, const std::string& device, const TemporaryFolder& folder,
                   const Words& more = {}) {
  return start(app, ranks, device, folder, with_models(folder, {1e-6}) + more);
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
      starts.push_back(start_evenly(app, 1, device, folder, {"--units", "device"}));
      starts.push_back(start_evenly(app, 2, device, folder));
    }
    for (const int ranks : {2, 3, 4}) starts.push_back(start_evenly(app, ranks, "devices=2,seed=5", folder));
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
      starts.push_back(start_evenly(app, 1, "lose=" + mistake + ",seed=" + std::to_string(seed), folder));
    }
    const std::vector<Outcome> outcomes = run_all(starts);
    const auto found = std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome& x) { return x.status != 0; });
    INFO(app.program.filename().string() << " without any " << mistake);
    CHECK(found >= 9);
  }
}

TEST_CASE("Several devices of a rank multiply as one unit, in turns on a link that they share") {
  const TemporaryFolder folder;
  const std::vector<App> multiplying{{built("gemm"), words("--size 300"), {}},
                                     {built("summa"), words("--size 300 --block 24"), {}}};
  std::vector<Start> starts;
  for (const App& app : multiplying) {
    for (const char* const units : {"host+2device", "3device"}) {
      for (const char* const memory : {"1GiB", "256KiB"}) {
        for (const int ranks : {1, 2}) {
          starts.push_back(
              start_evenly(app, ranks, "devices=3,seed=6", folder, {"--units", units, "--device-memory", memory}));
        }
      }
    }
  }
  expect_right(starts);
  const App gemm{built("gemm"), words("--size 200 --units 2device --device-memory 256KiB"), {}};
  const std::vector<Outcome> outcomes = run_all({start(gemm, 1, "devices=2,link=100MiB,seed=0", folder),
                                                 start(gemm, 1, "devices=2,links=100MiB,seed=0", folder)});
  CHECK_THAT(outcomes[0].out, ContainsSubstring("2 devices in turns"));
  CHECK_THAT(outcomes[1].out, ContainsSubstring("2 devices at once"));
}

TEST_CASE("Devices that share a link are measured to copy at half its speed each", "[alone]") {
  const TemporaryFolder folder;
  const Words calibrate = words("calibrate --quick --to 1048576 --output link.platform.json");
  const Outcome calibrated =
      run_all({{2, steelyard_tool, calibrate, folder.path(), {"STEELYARD_EMULATED_DEVICE=devices=2,link=400MiB"}}})
          .front();
  INFO(calibrated.out << calibrated.err);
  REQUIRE(calibrated.status == 0);
  const models::Platform platform = models::read_platform_file(folder / "link.platform.json");
  std::map<std::string, double> seconds;
  for (const models::Channel& channel : platform.channels) {
    if (!channel.hockney.empty()) seconds[channel.name] = channel.hockney.back().hockney.time_s(1 << 20);
  }
  const double share = seconds["host to device, pinned, 2 devices at once"] / seconds["host to device, pinned"];
  CHECK((share > 1.5 && share < 2.5));
}

TEST_CASE("Halos leave from a device's memory where MPI takes it and the platform's channels say that this is faster",
          "[alone]") {
  const TemporaryFolder folder;
  const std::vector<std::string> device{"STEELYARD_EMULATED_DEVICE=mpi=aware,link=100MiB"};
  const auto run = [&](const std::filesystem::path& program, const Words& arguments) {
    const Outcome outcome = run_all({{2, program, arguments, folder.path(), device}}).front();
    INFO(joined(program, arguments) << '\n' << outcome.out << outcome.err);
    REQUIRE(outcome.status == 0);
  };
  run(steelyard_tool, words("calibrate --quick --to 1048576 --output link.platform.json"));
  models::Platform platform = models::read_platform_file(folder / "link.platform.json");
  CHECK(platform.is_faster_direct(1 << 20) == true);
  // What is called direct now is in truth staged, and slower.
  for (models::Channel& channel : platform.channels) {
    if (channel.name == "device to device, direct") {
      channel.name = "device to device, staged";
    } else if (channel.name == "device to device, staged") {
      channel.name = "device to device, direct";
    }
  }
  models::write_platform_file(folder / "turned.platform.json", platform);
  for (const auto& [name, expected] : {std::pair{"link", "direct"}, std::pair{"turned", "staged"}}) {
    run(built("wave2d"), words("--rows 40 --columns 20000 --steps 6 --units device --warmups 0 --repetitions 1") +
                             with_models(folder, {1e-6}) + Words{"--platform", name + std::string(".platform.json")} +
                             Words{"--output", name + std::string(".npy"), "--result", name});
    CHECK(read_run(folder / name, "wave2d").at("settings").at("device_halos") == expected);
  }
  CHECK(folder.read("link.npy") == folder.read("turned.npy"));
}

TEST_CASE("A speed model is refused for another number of devices than it was measured with") {
  const TemporaryFolder folder;
  const std::vector<std::string> environment{"STEELYARD_EMULATED_DEVICE=devices=2"};
  for (const std::string measured : {"device", "2device"}) {
    const Words measure =
        words("measure gemm --size 64 --to 2 --points 2 --rounds 1 --units " + measured + " --output " + measured);
    REQUIRE(run_all({{1, steelyard_tool, measure, folder.path(), environment}}).front().status == 0);
    for (const std::string used : {"device", "2device"}) {
      const Words gemm = words("--size 64 --units " + used + " --model " + measured + "/rank0-device.fpm.json");
      const Outcome outcome = run_all({{1, built("gemm"), gemm, folder.path(), environment}}).front();
      INFO(used << " by models of " << measured << '\n' << outcome.out << outcome.err);
      CHECK(outcome.status == (used == measured ? 0 : 2));
      CHECK(contains(outcome.err, "rank0-device.fpm.json: parameters.devices") == (used != measured));
    }
  }
}

TEST_CASE("Passes, and parts of matrices, are no longer than a device's memories hold, that ranks share too") {
  const TemporaryFolder folder;
  const App wave2d{built("wave2d"), words("--size 200 --steps 256 --units device"), {}};
  std::vector<Start> starts;
  for (const char* const order : {"2", "4"}) {
    for (const char* const type : {"double", "float"}) {
      for (const char* const device : {"scratch=48KiB", "scratch=16KiB"}) {
        // Without models, which would fix the time tile.
        starts.push_back(start(wave2d, 1, device, folder, {"--order", order, "--type", type}));
      }
    }
  }
  const App complex{built("fft2d"), {}, {}}, real{built("fft2d"), {"--real"}, {}}, gemm{built("gemm"), {}, {}};
  for (const int ranks : {1, 2, 3}) {
    for (const App* const app : {&complex, &real, &gemm}) {
      starts.push_back(start_evenly(*app, ranks, "memory=1MiB", folder, {"--size", "500"}));
    }
  }
  expect_right(starts);
}

TEST_CASE(
    "The tool finds nothing wrong with a device and measures it, and exits 1 where what is copied never arrives") {
  const TemporaryFolder folder;
  const auto on = [&](const std::string& device, const std::string& line) {
    const Words arguments = words(line + " --units device");
    return run_all({{1, steelyard_tool, arguments, folder.path(), {"STEELYARD_EMULATED_DEVICE=" + device}}}).front();
  };
  const Outcome right = on("seed=1", "conformance"), wrong = on("lose=copy,seed=1", "conformance");
  INFO(right.out << right.err << wrong.out << wrong.err);
  CHECK((right.status == 0 && !contains(right.out, "WRONG")));
  CHECK((wrong.status == 1 && contains(wrong.out, "WRONG")));
  // STREAM's four kernels, GEMM of both types and copies.
  const Words row = words(table_rows(on("seed=1", "units --measure").out).back());
  REQUIRE(row.size() >= 2 + 8);
  CHECK(row[1] == "device");
  for (std::size_t column = 2; column < 2 + 8; ++column) CHECK(std::stod(row[column]) > 0.0);
}

}  // namespace steelyard::test_emulated_device
