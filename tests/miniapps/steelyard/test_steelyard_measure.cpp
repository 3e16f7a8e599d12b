// steelyard measure: what is measured, and that its models lead through the tool to plans and runs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/json_file.hpp"
#include "models/fpm_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/steelyard/predictions.hpp"

namespace steelyard::tests::test_steelyard_measure {
namespace {

using nlohmann::json;
using Sizes = std::vector<double>;

/// Three repetitions whatever comes: at these levels Student's interval of three times is never wider than the
/// precision asks for, however much they differ.
std::string measure(const std::string& app, const std::string& options, const std::string& precision = "0.99") {
  const std::string quick = " --repetitions-min 3 --repetitions-max 3 --warmups 0 --confidence 0.2 --precision ";
  return "measure " + app + quick + precision + " " + options;
}

Sizes sizes_of(const models::FpmFile& file) {
  Sizes sizes;
  for (const models::MeasuredPoint& point : file.points) sizes.push_back(point.units);
  return sizes;
}

/// Sizes that a measurement with these options writes.
Sizes measured_sizes(const std::string& options) {
  const TemporaryFolder folder;
  good_tool(folder, measure("wave2d", "--columns 64 --units host --rounds 1 --output out " + options));
  return sizes_of(models::read_fpm_file(folder / "out/rank0-host.fpm.json"));
}

}  // namespace

TEST_CASE("steelyard measure writes a model of each unit, alone too if asked, and a run is distributed by them") {
  const int ranks = GENERATE(1, 3);
  const bool solo = GENERATE(false, true);
  const TemporaryFolder folder;
  const std::string units =
      std::string("--size 64 --units host+device --slowdown device=2") + (ranks == 3 ? " --slowdown rank1=4 " : " ");
  const std::string line = measure("jacobi", units + "--sizes 16 8 16 --rounds 2" + (solo ? " --solo" : ""));
  const Outcome outcome = good_tool(folder, line + " --output out", ranks);
  INFO(outcome.out << outcome.err);
  std::set<std::string> names;
  std::string models;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::string kind : {"host", "device"}) {
      const std::string stem = fmt::format("rank{}-{}", rank, kind);
      const bool is_slow = rank == 1 || kind == "device";
      models += " out/" + stem + ".fpm.json";
      for (const std::string& alone : solo ? Words{"", ".solo"} : Words{""}) {
        names.insert(stem + alone + ".fpm.json");
        const models::FpmFile file = models::read_fpm_file(folder / ("out/" + stem + alone + ".fpm.json"));
        CHECK(file.unit_kind == kind);
        CHECK(file.solo == !alone.empty());
        CHECK((file.slowdown > 1.0) == is_slow);
        CHECK(sizes_of(file) == Sizes{8.0, 16.0});
        for (const models::MeasuredPoint& point : file.points) CHECK(point.repetitions == 2 * 3);
      }
      CHECK(lines_that_start(outcome.out, fmt::format("rank {} {}{}", rank, kind, is_slow ? "/" : " ")) == 2);
    }
  }
  std::set<std::string> written;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "out")) written.insert(entry.path().filename());
  CHECK(written == names);
  CHECK(contains(outcome.out, " contention ") == solo);

  const std::string parts = good_tool(folder, "partition --total 64 --format json --models" + models).out;
  folder.write("split.json", parts);
  const std::string run = units + "--distribution split.json --steps 2 --repetitions 1 --result r --model" + models;
  good_run(ranks, built("jacobi"), words(run) + with_platform(folder), folder.path());
  CHECK(read_run(folder / "r", "jacobi").at("distribution") == json::parse(parts).at("units"));
}

TEST_CASE("Every app's options fix what is measured, and with its model a plan on paper is that of a run") {
  struct Measured {
    std::filesystem::path program;
    std::string options;
    std::string facts;    ///< of the model
    std::string problem;  ///< further options of a run; none without
    std::string part;     ///< a part of the kernel that the model has seconds of
  };
  const std::vector<Measured> all{
      {built("wave2d"), "--columns 77 --type float", "leap_frog float columns=77 order=2 time_tile=1", "--rows 90", ""},
      {built("wave2d"), "--size 50 --order 4 --time-tile 4", "leap_frog double columns=50 order=4 time_tile=4",
       "--steps 20", "border"},
      {built("gemm"), "--n 77 --k 78 --block 79 --beta -0.5", "gemm double block=79 k=78 n=77 reads_c=1", "--m 1000",
       ""},
      {built("gemm"), "--size 60 --device-memory 64MiB", "gemm double block=32 k=60 n=60 reads_c=0", "", ""},
      {built("summa"), "--size 100 --block 9 --type float", "gemm float block=9", "--communication bcast", ""},
      {built("fft2d"), "--columns 77 --real --fft portable --planner patient",
       "row_fft_portable double columns=77 planner=2 real=1", "", ""},
      {built("cavity"), "--columns 66", "time_step double columns=66", "--rows 60 --iterations 5 9", "multigrid"},
      {built("heat"), "--size 55", "step double columns=55", "--steps 7", ""},
      {built("jacobi"), "--size 55", "sweep double columns=55", "--steps 7", ""}};
  for (const auto& [program, options, facts, problem, part] : all) {
    const std::string app = program.filename();
    INFO(app << " " << options);
    const TemporaryFolder folder;
    good_tool(folder, measure(app, "--sizes 20 60 --rounds 1 --units host --output out " + options));
    const std::string path = folder / "out/rank0-host.fpm.json";
    const models::FpmFile file = models::read_fpm_file(path);
    std::string found = file.kernel + " " + file.element;
    for (const auto& [name, value] : file.parameters) found += fmt::format(" {}={:g}", name, value);
    CHECK(file.app == app);
    CHECK(found.rfind(facts, 0) == 0);
    if (!part.empty()) CHECK(read_json_file(path).at("points").back().at("parts_s").at(part) > 0.0);
    if (problem.empty()) continue;
    const std::string run = options + " " + problem + " --units host --slowdown rank1=3 --model " + path;
    const Words platform = app == "gemm" ? Words{} : with_platform(folder);
    const json paper = test_steelyard_predict::predicted_as_run(folder, 2, program, words(run) + platform);
    for (const json& phase : paper.at("phases")) {
      if (phase.at("name") == part) CHECK(phase.at("time_s") > 0.0);
    }
  }
}

TEST_CASE("Sizes are those that were asked for, and an adaptive selection's cover its range") {
  CHECK(measured_sizes("--from 8 --to 64 --points 4") == Sizes{8.0, 16.0, 32.0, 64.0});
  // One end beyond the app's range is the other end too.
  CHECK(measured_sizes("--to 5") == Sizes{5.0});
  const Sizes adaptive = measured_sizes("--from 8 --to 64 --spacing adaptive --error 0.9 --points 7");
  CHECK((adaptive.front() == 8.0 && adaptive.back() == 64.0));
  CHECK((adaptive.size() >= 5 && adaptive.size() <= 7));
}

TEST_CASE("A measurement that was never precise warns once what would help, and its models can be used") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const std::string line = measure("wave2d", "--columns 64 --sizes 8 16 24 32 --rounds 2 --output models", "1e-12");
  const Outcome outcome = run(ranks, steelyard_tool, words(line), folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 0);
  REQUIRE(outcome.told_by("steelyard").size() == 1);
  CHECK(contains(outcome.told_by("steelyard").front(), "--repetitions-max"));
  const std::string model = "models/rank0-host.fpm.json";
  CHECK(models::read_fpm_file(folder / model).all_imprecise);
  CHECK(contains(good_tool(folder, "model " + model).out, "all imprecise"));
  good_tool(folder, "partition --total 40 --models " + model + " " + model);
}

}  // namespace steelyard::tests::test_steelyard_measure
