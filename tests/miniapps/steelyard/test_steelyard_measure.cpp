#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <map>
#include <set>
#include <string>

#include "models/fpm_file.hpp"
#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_steelyard_measure {
namespace {

/// Three repetitions whatever comes: at these levels Student's interval of three times is never wider than the
/// precision asks for, however much they differ.
const Words quick{"--columns", "64",         "--repetitions-min", "3",    "--repetitions-max", "3",
                  "--warmups", "0",          "--precision",       "0.99", "--confidence",      "0.2",
                  "--units",   "host+device"};

Words measure(const Words& more, int rounds = 1) {
  return Words{"measure", "wave2d"} + quick + Words{"--rounds", std::to_string(rounds)} + more;
}

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return {names.begin(), names.end()};
}

std::vector<std::string> expected_files(int ranks, bool solo) {
  std::set<std::string> names;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::string& kind : Words{"host", "device"}) {
      names.insert("rank" + std::to_string(rank) + "-" + kind + ".fpm.json");
      if (solo) names.insert("rank" + std::to_string(rank) + "-" + kind + ".solo.fpm.json");
    }
  }
  return {names.begin(), names.end()};
}

std::vector<double> sizes_of(const models::FpmFile& file) {
  std::vector<double> sizes;
  for (const models::MeasuredPoint& point : file.points) sizes.push_back(point.units);
  return sizes;
}

/// Sizes that a measurement with these arguments writes for rank 0's host unit.
std::vector<double> measured_sizes(const Words& arguments) {
  const TemporaryFolder folder;
  const Outcome outcome = good_run(1, steelyard_tool, measure(arguments + Words{"--output", "out"}), folder.path());
  INFO(outcome.out << outcome.err);
  std::vector<double> sizes = sizes_of(models::read_fpm_file(folder / "out/rank0-host.fpm.json"));
  // All units are measured at the same sizes.
  CHECK(sizes_of(models::read_fpm_file(folder / "out/rank0-device.fpm.json")) == sizes);
  return sizes;
}

TEST_CASE("steelyard measure writes a model for each rank and unit, which wave2d and steelyard partition accept") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome =
      good_run(ranks, steelyard_tool, measure({"--sizes", "8", "16", "--output", "out"}), folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(files_in(folder / "out") == expected_files(ranks, false));
  CHECK(files_in(folder.path()) == Words{"out"});
  Words models;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::string& kind : Words{"host", "device"}) {
      models.push_back(folder / ("out/rank" + std::to_string(rank) + "-" + kind + ".fpm.json"));
      const models::FpmFile file = models::read_fpm_file(models.back());
      CHECK(file.app == "wave2d");
      CHECK(file.element == "double");
      CHECK(file.unit_kind == kind);
      CHECK(file.parameters.at("columns") == 64.0);
      CHECK(file.bytes_per_unit == 24.0 * 64.0);
      CHECK(file.slowdown == 1.0);
      CHECK_FALSE(file.solo);
      CHECK_FALSE(file.machine.empty());
      CHECK(sizes_of(file) == std::vector<double>{8.0, 16.0});
      for (const models::MeasuredPoint& point : file.points) CHECK(point.repetitions == 3);
    }
  }
  const Outcome parts =
      run(1, steelyard_tool, Words{"partition", "--total", "1000", "--models"} + models, folder.path());
  CHECK(parts.status == 0);
  const Outcome wave = run(ranks, wave2d,
                           Words{"--rows", "60", "--columns", "64", "--steps", "2", "--units", "host+device",
                                 "--repetitions", "1", "--model"} +
                               models,
                           folder.path());
  INFO(wave.out << wave.err);
  CHECK(wave.status == 0);
  CHECK(slices_in_table(wave.out, "rows").size() == models.size());
}

TEST_CASE("Rows of fft2d are measured by the library that the user names") {
  const TemporaryFolder folder;
  const Outcome outcome = good_run(1, steelyard_tool, {"measure",   "fft2d",
                                                       "--columns", "60",
                                                       "--type",    "float",
                                                       "--real",    "--fft",
                                                       "portable",  "--sizes",
                                                       "8",         "--rounds",
                                                       "1",         "--repetitions-min",
                                                       "3",         "--repetitions-max",
                                                       "3",         "--warmups",
                                                       "0",         "--precision",
                                                       "0.99",      "--confidence",
                                                       "0.2",       "--units",
                                                       "host",      "--output",
                                                       "out"},
                                   folder.path());
  INFO(outcome.out << outcome.err);
  const models::FpmFile file = models::read_fpm_file(folder / "out/rank0-host.fpm.json");
  CHECK(file.app == "fft2d");
  CHECK(file.kernel == "row_fft_portable");
  CHECK(file.element == "float");
  CHECK(file.parameters.at("columns") == 60.0);
  CHECK(file.parameters.at("real") == 1.0);
  CHECK(file.bytes_per_unit == 60.0 * 4.0 + 31.0 * 8.0);
}

TEST_CASE("A measurement says once what a computation unit is, and has a line for each unit and size") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome = good_run(ranks, steelyard_tool, measure({"--sizes", "8", "16"}), folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(lines_that_start(outcome.out,
                         "wave2d leap_frog double, columns 64, order 2, time_tile 1; a computation unit is one grid "
                         "row advanced by one step") == 1);
  CHECK(lines_that_start(outcome.out, std::to_string(ranks) + " rank") == 1);
  CHECK(lines_that_start(outcome.out, "measured ") == 1);
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK(lines_that_start(outcome.out, "rank " + std::to_string(rank) + " host ") == 2);
    CHECK(lines_that_start(outcome.out, "rank " + std::to_string(rank) + " device ") == 2);
  }
  CHECK_FALSE(contains(outcome.out, "contention"));
  CHECK_FALSE(contains(outcome.out, "emulated"));
  // Nobody asked for files.
  CHECK(folder.entries() == 0);
}

TEST_CASE("With --solo there is a second model of each unit, and a contention factor") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome =
      good_run(ranks, steelyard_tool, measure({"--sizes", "8", "16", "--solo", "--output", "out"}), folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(contains(outcome.out, " contention "));
  CHECK(files_in(folder / "out") == expected_files(ranks, true));
  for (const std::string& name : files_in(folder / "out")) {
    const models::FpmFile file = models::read_fpm_file(folder / ("out/" + name));
    CHECK(file.solo == contains(name, ".solo."));
    CHECK(sizes_of(file) == std::vector<double>{8.0, 16.0});
  }
}

TEST_CASE("Sizes are those that were asked for") {
  using Sizes = std::vector<double>;
  CHECK(measured_sizes({"--sizes", "16", "8", "16"}) == Sizes{8.0, 16.0});
  CHECK(measured_sizes({"--from", "8", "--to", "64", "--points", "4"}) == Sizes{8.0, 16.0, 32.0, 64.0});
  CHECK(measured_sizes({"--from", "10", "--to", "40", "--points", "4", "--spacing", "linear"}) ==
        Sizes{10.0, 20.0, 30.0, 40.0});
  CHECK(measured_sizes({"--from", "9", "--to", "9"}) == Sizes{9.0});
  // One end beyond the app's range is the other end too.
  CHECK(measured_sizes({"--to", "5"}) == Sizes{5.0});
}

TEST_CASE("An adaptive selection covers its range, keeps to its number of sizes and says how it ended") {
  const TemporaryFolder folder;
  const Outcome outcome = good_run(1, steelyard_tool,
                                   measure({"--from", "8", "--to", "64", "--spacing", "adaptive", "--error", "0.9",
                                            "--points", "7", "--output", "out"}),
                                   folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(lines_that_start(outcome.out, "adaptive ") == 1);
  const std::vector<double> sizes = sizes_of(models::read_fpm_file(folder / "out/rank0-host.fpm.json"));
  CHECK(sizes.front() == 8.0);
  CHECK(sizes.back() == 64.0);
  CHECK(sizes.size() >= 5);
  CHECK(sizes.size() <= 7);
}

TEST_CASE("Repetitions of all rounds are behind a point") {
  const TemporaryFolder folder;
  REQUIRE(run(1, steelyard_tool, measure({"--sizes", "8", "16", "--output", "out"}, 3), folder.path()).status == 0);
  for (const models::MeasuredPoint& point : models::read_fpm_file(folder / "out/rank0-host.fpm.json").points) {
    CHECK(point.repetitions == 9);
  }
}

TEST_CASE("Emulated units are called so, and no others") {
  const TemporaryFolder folder;
  const Outcome outcome = good_run(
      3, steelyard_tool,
      measure({"--sizes", "8", "--slowdown", "device=2", "--slowdown", "rank1=4", "--output", "out"}), folder.path());
  INFO(outcome.out << outcome.err);
  for (const std::string& line : lines_of(outcome.out)) {
    if (line.rfind("rank ", 0) != 0) continue;
    CHECK(contains(line, "(emulated)") == (contains(line, " device") || line.rfind("rank 1 ", 0) == 0));
  }
  for (int rank = 0; rank < 3; ++rank) {
    const std::string stem = "out/rank" + std::to_string(rank);
    CHECK((models::read_fpm_file(folder / (stem + "-host.fpm.json")).slowdown > 1.0) == (rank == 1));
    CHECK(models::read_fpm_file(folder / (stem + "-device.fpm.json")).slowdown > 1.0);
  }
}

TEST_CASE("A measurement that was never precise warns once what would help, and its models can be used") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome =
      run(ranks, steelyard_tool,
          {"measure", "wave2d", "--columns", "64", "--sizes", "8", "16", "24", "32", "--precision", "1e-12",
           "--repetitions-min", "3", "--repetitions-max", "3", "--rounds", "2", "--output", "models"},
          folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 0);
  REQUIRE(outcome.told_by("steelyard").size() == 1);
  for (const char* help : {"--precision", "--time-limit", "--repetitions-max"}) {
    CHECK(contains(outcome.told_by("steelyard").front(), help));
  }
  CHECK(contains(outcome.out, "yes, imprecise"));
  const std::string model = folder / "models/rank0-host.fpm.json";
  CHECK(models::read_fpm_file(model).all_imprecise);
  CHECK(contains(good_run(1, steelyard_tool, {"model", model}, folder.path()).out, "all imprecise"));
  good_run(1, steelyard_tool, {"partition", "--total", "40", "--models", model, model}, folder.path());
}

TEST_CASE("A folder that cannot be written to is found before anything is measured") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  for (const std::string& output : {file, file + "/below"}) {
    const Outcome outcome = run(ranks, steelyard_tool, measure({"--sizes", "8", "--output", output}), folder.path());
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == 3);
    REQUIRE(outcome.told_by("steelyard").size() == 1);
    CHECK(contains(outcome.told_by("steelyard").front(), file));
    CHECK(outcome.out.empty());
    CHECK(files_in(folder.path()) == Words{"file"});
  }
}

TEST_CASE("A size that fits no unit is refused by number, and nothing is measured") {
  const int ranks = GENERATE(1, 3);
  const TemporaryFolder folder;
  const Outcome outcome =
      run(ranks, steelyard_tool, measure({"--sizes", "8", "1000000000000", "--output", "out"}), folder.path());
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 2);
  REQUIRE(outcome.told_by("steelyard").size() == 1);
  CHECK(contains(outcome.told_by("steelyard").front(), "1000000000000"));
  CHECK(lines_that_start(outcome.out, "rank 0") == 0);
  CHECK(folder.entries() == 0);
}

TEST_CASE("Help on a measurement names the program and every option of app and tool") {
  const TemporaryFolder folder;
  const Outcome outcome = run(1, steelyard_tool, {"measure", "wave2d", "--help"}, folder.path());
  CHECK(outcome.status == 0);
  for (const char* part : {"steelyard measure wave2d", "--columns", "--type", "--sizes", "--spacing", "--precision",
                           "--rounds", "--solo", "--slowdown", "--output"}) {
    CAPTURE(part);
    CHECK(contains(outcome.out, part));
  }
}

TEST_CASE("Every app's options fix what is measured, and those that fix nothing of it are unknown") {
  struct Measured {
    std::string app;
    Words options;
    std::map<std::string, double> parameters;
    std::string kernel;
    double bytes_per_unit;  ///< 0 for whatever it is
    Words unknown;
  };
  const Measured measured[] = {
      {"wave2d",
       {"--columns", "77", "--type", "float"},
       {{"columns", 77}, {"order", 2}, {"time_tile", 1}},
       "leap_frog",
       12.0 * 77.0,
       {"--steps", "--courant", "--frames", "--rows", "--seed"}},
      {"wave2d",
       {"--size", "50", "--order", "4", "--time-tile", "8"},
       {{"columns", 50}, {"order", 4}, {"time_tile", 8}},
       "leap_frog",
       6 * 8.0 * 50.0,
       {}},
      {"gemm",
       {"--n", "77", "--k", "78", "--block", "79", "--beta", "-0.5"},
       {{"n", 77}, {"k", 78}, {"block", 79}, {"reads_c", 1}},
       "gemm",
       0.0,
       {"--serialize", "--input"}},
      {"gemm", {"--size", "60", "--device-memory", "64MiB"}, {{"n", 60}, {"k", 60}, {"reads_c", 0}}, "gemm", 0.0, {}},
      {"summa",
       {"--size", "100", "--block", "9", "--type", "float"},
       {{"block", 9}},
       "gemm",
       2.0 * 4.0 * 81.0,
       {"--communication", "--barrier", "--seed"}},
      {"fft2d",
       {"--columns", "77", "--real", "--fft", "portable", "--planner", "patient"},
       {{"columns", 77}, {"real", 1}, {"planner", 2}},
       "row_fft_portable",
       0.0,
       {"--rows", "--exchange"}},
      {"cavity",
       {"--size", "66"},
       {{"columns", 66}},
       "time_step",
       0.0,
       {"--rows", "--type", "--reynolds", "--iterations"}},
      {"jacobi", {"--size", "55"}, {{"columns", 55}}, "sweep", 0.0, {"--steps", "--columns", "--input"}}};
  for (const Measured& one : measured) {
    const TemporaryFolder folder;
    const Words command = Words{"measure", one.app} + one.options;
    good_run(1, steelyard_tool,
             command + Words{"--sizes", "2", "--repetitions-min", "3", "--repetitions-max", "3", "--rounds", "1",
                             "--precision", "0.99", "--confidence", "0.2", "--units", "host", "--output", "out"},
             folder.path());
    const models::FpmFile file = models::read_fpm_file(folder / "out/rank0-host.fpm.json");
    INFO(one.app << " " << one.options.front());
    for (const auto& [name, value] : one.parameters) CHECK(file.parameters.at(name) == value);
    CHECK(file.kernel == one.kernel);
    if (one.bytes_per_unit > 0.0) CHECK(file.bytes_per_unit == one.bytes_per_unit);
    for (const std::string& option : one.unknown) {
      expect_refused(steelyard_tool, {{Words{"measure", one.app, option, "3"}, option}}, {}, {1});
    }
  }
}

TEST_CASE("Measurements that cannot be made are refused by name") {
  const auto wave = [](const Words& words) { return Words{"measure", "wave2d"} + words; };
  const Words output{"--output", "out"};
  expect_refused(steelyard_tool, {{{"measure"}, "app"},
                                  {{"measure", "abacus"}, "abacus"},
                                  {wave({"--sizes", "8", "-4"}), "-4"},
                                  {wave({"--from", "64", "--to", "8"}), "64 to 8"},
                                  {wave({"--precision", "nan"}), "nan"},
                                  {wave({"--slowdown", "host=0.5"}), "0.5"},
                                  {wave({"--slowdown", "rank7=2"}), "7"},
                                  {wave({"--layout", "missing"}), "missing"}});
  expect_refused(steelyard_tool,
                 {{wave({"--sizes", "0"}), "--sizes"},
                  {wave({"--sizes", "many"}), "many"},
                  {wave({"--sizes"}), "--sizes"},
                  {wave({"--sizes", "8", "--from", "3"}), "--from"},
                  {wave({"--sizes", "8", "--to", "9"}), "--to"},
                  {wave({"--sizes", "8", "--points", "3"}), "--points"},
                  {wave({"--from", "0"}), "--from"},
                  {wave({"--to", "-1"}), "--to"},
                  {wave({"--points", "0"}), "--points"},
                  {wave({"--from", "8", "--to", "9", "--points", "1"}), "1 sizes"},
                  {wave({"--spacing", "cubic"}), "cubic"},
                  {wave({"--spacing", "adaptive", "--error", "0"}), "error 0"},
                  {wave({"--spacing", "adaptive", "--error", "1.5"}), "1.5"},
                  {wave({"--spacing", "adaptive", "--points", "3"}), "--points 3"},
                  {wave({"--repetitions-max", "2"}), "5 to 2"},
                  {wave({"--warmups", "-1"}), "--warmups"},
                  {wave({"--rounds", "0"}), "--rounds"},
                  {wave({"--columns", "2"}), "2 x 2 points"},
                  {wave({"--columns", "many"}), "--columns"},
                  {wave({"--size", "9", "--columns", "9"}), "--size"},
                  {wave({"--order", "3"}), "--order"},
                  {wave({"--time-tile", "65"}), "--time-tile"},
                  {{"measure", "gemm", "--n", "4294967296"}, "--n"},
                  {{"measure", "gemm", "--block", "0"}, "--block"},
                  {{"measure", "fft2d", "--fft", "abacus"}, "abacus"},
                  {{"measure", "fft2d", "--planner", "lazy"}, "lazy"},
                  {{"measure", "cavity", "--columns", "2147483649"}, "2147483649"},
                  {wave({"--type", "int"}), "int"},
                  {wave({"--units", "gpu"}), "gpu"},
                  {wave({"--everything"}), "--everything"}},
                 output, {1});
}

}  // namespace
}  // namespace steelyard::tests::test_steelyard_measure
