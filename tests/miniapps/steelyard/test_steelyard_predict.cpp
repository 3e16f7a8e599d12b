// steelyard predict: plans on paper are those of runs, or as by hand; advice is the best of all ways.
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "models/estimate.hpp"
#include "models/fpm_file.hpp"
#include "partition/algorithms.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/rectangles.hpp"
#include "tests/miniapps/steelyard/predictions.hpp"

namespace steelyard::tests::test_steelyard_predict {
namespace {

using nlohmann::json;

const std::string on_platform = " --platform made-up.platform.json ", by_unit = " --model unit.fpm.json ";

/// What is predicted of summa, or another app, with files in the folder.
json predict(const TemporaryFolder& folder, const std::string& line, const std::string& app = "summa") {
  return predicted(folder, words(line), app);
}

double time_s(const json& prediction) { return prediction.at("time_s"); }
double upper_s(const json& prediction) { return prediction.at("predicted_interval_s")[1]; }

/// Writes `NAME.fpm.json` of a unit at constant speed.
void write_unit(const TemporaryFolder& folder, const std::string& name, double unit_s, models::FpmFile file = {}) {
  for (const double units : {1.0, 1000.0}) file.points.push_back({units, units * unit_s});
  models::write_fpm_file(folder / (name + ".fpm.json"), file);
}

/// As above, which was measured on these cores.
void write_unit_on(const TemporaryFolder& folder, const std::string& name, const std::string& kind,
                   const std::string& cores, double unit_s, int time_tile = 1) {
  models::FpmFile file;
  file.unit_kind = kind;
  file.unit_cores = cores;
  file.parameters["time_tile"] = time_tile;
  write_unit(folder, name, unit_s, file);
}

/// Ways to run an app: the first is as good as the fastest, the others come in the order of their times.
json advised(const TemporaryFolder& folder, const std::string& app, const std::string& line) {
  const json result = predict(folder, "--advise " + line, app);
  std::vector<double> times_s;
  for (const json& run : result.at("runs")) times_s.push_back(run.at("time_s"));
  CHECK(std::is_sorted(times_s.begin() + 1, times_s.end()));
  CHECK(times_s.front() <= 1.05 * *std::min_element(times_s.begin(), times_s.end()));
  return result;
}

}  // namespace

TEST_CASE("A plan of processes on paper is that of a run, to the last digit") {
  const int ranks = GENERATE(1, 2, 3, 4);
  const std::string units = GENERATE("host", "host+device");
  const TemporaryFolder folder;
  write_platform(folder);
  write_model(folder, "column.fpm.json", 2e-6);
  const int count = ranks * (units == "host" ? 1 : 2);
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) seconds.push_back(1e-6 * (3 + 2 * i % 5));
  const Words files = with_models(folder, seconds);
  const Words partitions{"even", "constant:40", "geometric", "numerical", "hpopta", "exact"};
  auto turn = static_cast<std::size_t>(3 * ranks + count);
  using App = std::pair<std::filesystem::path, std::string>;
  for (const auto& [program, problem] :
       {App{built("jacobi"), "--size 301 --steps 17" + on_platform},
        App{built("gemm"), "--m 700 --n 65 --k 33 --block 3 "},
        App{built("summa"), "--size 700 --block 32" + on_platform},
        App{built("summa"), "--size 90 --block 8 --communication paper" + on_platform},
        App{built("fft2d"), "--size 96" + on_platform},
        App{built("fft2d"),
            "--rows 60 --columns 99 --transposed --exchange pipelined --column-model column.fpm.json" + on_platform},
        App{built("heat"), "--rows 131 --columns 90 --steps 30" + on_platform},
        App{built("wave2d"), "--rows 131 --columns 90 --steps 30 --time-tile 4" + on_platform},
        App{built("cavity"), "--size 64 --steps 7 --iterations 5 9" + on_platform}}) {
    // Every algorithm has its turn with every app, on one level or two.
    const std::string partition = partitions[turn++ % 6];
    const bool has_levels = turn % 4 < 2 && partition != "constant:40";
    const std::string how = " --units " + units + " --partition " + partition + (has_levels ? " --levels 2" : "");
    predicted_as_run(folder, ranks, program, files + words(problem + how));
  }
}

TEST_CASE("On two levels every app distributes over nodes first, and then within them, as steelyard partition does") {
  const TemporaryFolder folder;
  write_platform(folder);
  Words files = with_models(folder, {3e-6, 7e-6, 5e-6, 2e-6, 9e-6, 4e-6});
  const std::string on_nodes = on_platform + "--processes 6 --per-node 3 --levels 2 --partition ";
  const Words models(files.begin() + 1, files.end());
  for (const partition::Algorithm& algorithm : partition::algorithms()) {
    for (const auto& [app, problem] : {std::pair<std::string, std::string>{"jacobi", "--size 301"},
                                       {"gemm", "--m 700 --block 3"},
                                       {"heat", "--size 90"},
                                       {"wave2d", "--size 131 --time-tile 4"},
                                       {"cavity", "--size 64 --iterations 5 9"}}) {
      INFO(app << ", " << algorithm.name);
      const std::string platform = app == "gemm" ? on_nodes.substr(on_platform.size() - 1) : on_nodes;
      const json slices = predicted(folder, files + words(problem + platform + algorithm.name), app).at("distribution");
      const std::vector<std::int64_t> units = slices;
      const auto total = std::accumulate(units.begin(), units.end(), std::int64_t{0});
      const Words line = words("partition --format json --levels 2 --per-node 3 --algorithm " + algorithm.name +
                               " --total " + std::to_string(total) + " --models") +
                         models;
      CHECK(json::parse(good_run(1, steelyard_tool, line, folder.path()).out).at("units") == slices);
    }
  }
}

TEST_CASE("Four processes on two nodes take what one gets by hand, on nodes of a layout too, on any number of ranks") {
  const TemporaryFolder folder;
  write_platform(folder);
  write_unit(folder, "unit", 1e-4);
  const std::string problem = "--size 64 --block 16 --partition even" + on_platform + by_unit;
  const std::string on = problem + "--processes 4 --per-node 2 ", by_paper = "--communication paper ";
  const json paper = predict(folder, on + by_paper);
  // Rectangles of 2 x 2 blocks. In each of 4 iterations two processes send 32 x 16 elements inside their nodes, then
  // two as many across, at the same time.
  const double bytes = 32 * 16 * 8, computation_s = 4 * 4e-4;
  const double tau_lop_s = 4 * bytes * (memory_s + two_at_once * network_s);
  CHECK_THAT(phase_time_s(paper, "update"), WithinRel(computation_s, 1e-12));
  CHECK_THAT(phase_time_s(paper, "communication"), WithinRel(tau_lop_s, 1e-12));
  CHECK_THAT(time_s(paper), WithinRel(computation_s + tau_lop_s, 1e-12));
  // Overlapped, only the first communication is seen beside the longer computation.
  const json pipelined = predict(folder, on + "--communication pipelined");
  const double one_s = phase_time_s(pipelined, "communication");
  CHECK(one_s < 4e-4);
  CHECK_THAT(time_s(pipelined), WithinRel(computation_s + one_s, 1e-9));

  folder.write("nodes.layout", "a 0 all host\na 1 all host\nb 0 all host\nb 1 all host\n");
  CHECK(predict(folder, problem + by_paper + "--layout nodes.layout") == paper);
  const std::string line = "predict summa --detail " + on;
  CHECK(good_tool(folder, line, 3).out == good_tool(folder, line).out);
}

TEST_CASE("A slice is as much slower as its unit is beside that which was measured, in strong and weak scaling alike") {
  const TemporaryFolder folder;
  models::FpmFile facts;
  facts.slowdown = 4.0;
  write_unit(folder, "unit", 1e-3, facts);
  const std::string problem = "--m 640 --block 16 --partition even" + by_unit;
  const auto on_layout = [&](const std::string& text) {
    folder.write("some.layout", text);
    return predict(folder, problem + "--layout some.layout", "gemm");
  };
  // 40 block rows.
  CHECK_THAT(time_s(predict(folder, problem, "gemm")), WithinRel(40e-3, 1e-12));
  CHECK_THAT(time_s(on_layout("a 0 all host\n")), WithinRel(10e-3, 1e-12));
  const json uneven = on_layout("a 0 0-5 host slowdown=2\na 1 6 host+device device_slowdown=6\n");
  CHECK(uneven.at("distribution") == json({14, 13, 13}));
  CHECK_THAT(phase_time_s(uneven, "multiply"), WithinRel(13 * 1.5e-3, 1e-12));
  // One file is every slot's, one for each unit of a rank every rank's.
  write_unit(folder, "slow", 3e-3, facts);
  const auto slices = [&](const std::string& files) {
    const std::string units = "--m 640 --block 16 --processes 2 --units host+device --model ";
    return predict(folder, units + files, "gemm").at("distribution");
  };
  CHECK(slices("unit.fpm.json") == json({10, 10, 10, 10}));
  CHECK(slices("unit.fpm.json slow.fpm.json") == json({15, 5, 15, 5}));
  for (const std::string scaling : {"strong", "weak"}) {
    const json runs = predict(folder, problem + "--processes 8 --scaling " + scaling, "gemm").at("runs");
    REQUIRE(runs.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK_THAT(runs[i].at("speedup").get<double>(), WithinRel(static_cast<double>(1 << i), 1e-12));
      CHECK_THAT(time_s(runs[i]), WithinRel(scaling == "weak" ? 40e-3 : 40e-3 / (1 << i), 1e-12));
    }
  }
}

TEST_CASE("Without models only communication is predicted, and areas go by slowdown; one process sends nothing") {
  const TemporaryFolder folder;
  write_platform(folder);
  write_unit(folder, "unit", 1e-3);
  folder.write("two.layout", "a 0 all host\nb 0 all host slowdown=3\n");
  const json two = predict(folder, "--size 128 --block 16 --layout two.layout" + on_platform);
  CHECK(two.at("phases").size() == 1);
  CHECK(two.at("time_s") == phase_time_s(two, "communication"));
  CHECK((rectangles_of(two)[0].area() == 48 && rectangles_of(two)[1].area() == 16));
  const json one = predict(folder, "--size 128 --block 16" + by_unit);
  CHECK(phase_time_s(one, "communication") == 0.0);
  CHECK_THAT(time_s(one), WithinRel(8 * 64e-3, 1e-12));
}

TEST_CASE("Rectangles of a prediction make it again as a partition, and without communication it is no longer") {
  const TemporaryFolder folder;
  write_platform(folder);
  const std::string on =
      "--size 320 --block 16 --processes 7 --per-node 3 --communication paper" + on_platform + by_unit;
  for (const auto& [block_s, working] : {std::pair{1e-9, 1}, {1e-4, 0}, {1.0, 7}}) {
    CAPTURE(block_s);
    write_unit(folder, "unit", block_s);
    const json prediction = predict(folder, on);
    folder.write("cut.json", prediction.dump());
    CHECK(predict(folder, on + "--partition cut.json") == prediction);
    const json avoided = predict(folder, on + "--avoid-communication");
    CHECK(time_s(avoided) <= time_s(prediction) * (1 + 1e-12));
    const Rectangles rectangles = rectangles_of(avoided);
    const auto with_blocks = std::count_if(rectangles.begin(), rectangles.end(),
                                           [](const partition::Rectangle& rectangle) { return rectangle.area() > 0; });
    if (working > 0) CHECK(with_blocks == working);
  }
}

TEST_CASE("Nodes that the platform names are of their kinds, others like those where all are alike") {
  const TemporaryFolder folder;
  models::Platform platform = made_up_platform();
  platform.nodes = {{"a", "fat", 12}, {"b", "thin", 8}};
  platform.channels[1].between = {"fat", "thin"};
  platform.channels.push_back(channel(2, 2 * network_start_s, 2 * network_s));
  platform.channels.back().between = {"fat", "fat"};
  const auto hockney_s = [&](const std::string& hosts) {
    write_platform(folder, platform);
    folder.write("two.layout", hosts);
    const json prediction = predict(folder, "--size 128 --block 16 --layout two.layout" + on_platform);
    return prediction.at("models").at("Hockney").get<double>();
  };
  // A column of the matrix for each process; whoever has the pivot column sends it across.
  const double expected_s = 8 * (network_start_s + 128 * 16 * 8 * network_s);
  CHECK_THAT(hockney_s("a 0 all host\nb 0 all host\n"), WithinRel(expected_s, 1e-12));
  // Unknown ones are all like the first that it names.
  CHECK_THAT(hockney_s("x 0 all host\ny 0 all host\n"), WithinRel(2 * expected_s, 1e-12));
  const std::string unknown = folder.write("one.layout", "a 0 all host\nx 0 all host\n");
  const Words refused{"predict", "summa", "--platform", write_platform(folder, platform), "--layout", unknown};
  expect_refused(steelyard_tool, {{refused, "x is none of the platform's nodes"}}, {}, {1});
  platform.nodes[1].kind = "fat";
  CHECK_THAT(hockney_s("a 0 all host\nx 0 all host\n"), WithinRel(2 * expected_s, 1e-12));
}

TEST_CASE("A thousand processes are predicted in seconds, all blocks of them, and noted where none were measured") {
  const TemporaryFolder folder;
  write_platform(folder);
  write_unit(folder, "unit", 1e-3);
  const std::string communication = GENERATE("paper", "bcast", "pipelined");
  const std::string problem = "--size 16384 --block 64 --processes 1000 --per-node 20 --communication ";
  const json prediction = predict(folder, problem + communication + on_platform + by_unit);
  CHECK(prediction.at("rectangles").size() == 1000);
  CHECK(tile(rectangles_of(prediction), 256));
  CHECK(time_s(prediction) >= phase_time_s(prediction, "update"));
  // More processes of a node than transfers were measured at once.
  const std::string scaling = "predict jacobi --size 512 --scaling strong" + on_platform + by_unit;
  CHECK(lines_that_start(good_tool(folder, scaling + "--processes 8").out, "note ") == 1);
}

TEST_CASE("Intervals are a point, or as wide as the models' drift and the channels' error, in every prediction") {
  const TemporaryFolder folder;
  const std::string gemm = "--m 640 --block 16" + by_unit;
  write_unit(folder, "unit", 1e-3);
  CHECK(upper_s(predict(folder, gemm, "gemm")) == 40e-3);
  models::FpmFile drifting;
  drifting.drift = {0.02, 1000};
  write_unit(folder, "unit", 1e-3, drifting);
  const double wide = 1.0 + std::hypot(1.646 * std::sqrt(2.0) * 0.02, 1.645 * models::later_drift);
  for (const json& one :
       {predict(folder, gemm, "gemm"), predict(folder, gemm + "--processes 4 --scaling strong", "gemm").at("runs")[2],
        predict(folder, "--size 64 --steps 10 --iterations 7 12" + by_unit, "cavity")}) {
    CHECK_THAT(upper_s(one) / time_s(one), WithinRel(wide, 1e-4));
    const double lower_s = one.at("predicted_interval_s")[0];
    CHECK_THAT(lower_s * upper_s(one), WithinRel(std::pow(time_s(one), 2), 1e-12));
  }
  models::Platform platform = made_up_platform();
  for (models::Channel& one : platform.channels) one.error = 0.5;
  write_platform(folder, platform);
  const json communication = predict(folder, "--size 64 --processes 4" + on_platform);
  CHECK_THAT(upper_s(communication), WithinRel(1.5 * time_s(communication), 1e-12));
}

TEST_CASE(
    "Advice takes the simplest of the ways that are within 5 % of the fastest, each predicted as when asked for") {
  const unsigned seed = GENERATE(1U, 2U, 3U, 4U);
  std::mt19937 random(seed);
  const auto speed_s = [&] { return 1e-3 * (1.0 + static_cast<double>(random() % 1000) / 1000.0); };
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "alone");
  write_unit_on(folder, "alone/host", "host", "0-1", speed_s());
  write_unit_on(folder, "host", "host", "0", speed_s());
  // As fast as the host, or of no use.
  write_unit_on(folder, "device", "device", "1", speed_s() * (seed % 2 == 0 ? 100.0 : 1.0));
  const std::string problem = "--m 640 --block 16 ";
  const std::string all = problem + "--processes 2 --model alone/host.fpm.json host.fpm.json device.fpm.json";
  const json advice = advised(folder, "gemm", all);
  INFO("seed " << seed << "\n" << advice.dump(1));
  struct Way {
    std::string name, options;
    std::size_t units;
  };
  const Way ways[] = {{"host 0-1", "--units host --model alone/host.fpm.json", 1},
                      {"host 0", "--units host --model host.fpm.json", 1},
                      {"device 1", "--units device --model device.fpm.json", 1},
                      {"host 0 + device 1", "--units host+device --model host.fpm.json device.fpm.json", 2}};
  const json& best = advice.at("runs")[0];
  std::pair<int, std::size_t> simplicity;
  double least_s = time_s(best);
  std::vector<std::tuple<int, std::size_t, double>> asked;
  for (const auto& [name, options, units] : ways) {
    if (best.at("units") == name) simplicity = {best.at("processes"), units};
    for (const std::string partition : {"even", "geometric", "exact"}) {
      for (const int processes : {1, 2}) {
        const std::string how = " --partition " + partition + " --processes " + std::to_string(processes);
        const double way_s = time_s(predict(folder, problem + options + how, "gemm"));
        asked.emplace_back(processes, units, way_s);
        least_s = std::min(least_s, way_s);
        for (const json& run : advice.at("runs")) {
          if (run.at("units") != name || run.at("processes") != processes || run.at("partition") != partition) continue;
          CHECK(run.at("time_s") == way_s);
        }
      }
    }
  }
  CHECK(time_s(best) <= 1.05 * least_s);
  for (const auto& [processes, units, way_s] : asked) {
    CHECK((way_s > 1.05 * least_s || std::pair(processes, units) >= simplicity));
  }
  const bool pays = contains(best.at("units"), "device");
  CHECK(contains(advice.at("advice"), pays ? "; the companion pays (" : "; a companion does not pay ("));
}

TEST_CASE("Advice takes more processes where they pay and nodes have cores, and the fastest time tile") {
  const TemporaryFolder folder;
  models::Platform platform = made_up_platform();
  platform.nodes = {{"a", "", 2}};
  write_platform(folder, platform);
  const auto processes = [&](const std::string& cores, double row_s, const std::string& more = "") {
    write_unit_on(folder, "unit", "host", cores, row_s);
    const std::string line = "--size 1024 --processes 4 " + more + on_platform + by_unit;
    return advised(folder, "jacobi", line).at("runs")[0].at("processes").get<int>();
  };
  CHECK(processes("0", 1e-4, "--per-node 1") == 4);
  CHECK(processes("0", 1e-9, "--per-node 1") == 1);
  CHECK(processes("0", 1e-4) == 2);
  CHECK(processes("0-1", 1e-4) == 1);
  write_unit_on(folder, "single", "host", "0", 1e-4);
  for (const double pass_s : {4e-4, 16e-4}) {
    write_unit_on(folder, "tiled", "host", "0", pass_s, 8);
    const json advice = advised(folder, "wave2d", "--size 512 --steps 80 --model single.fpm.json tiled.fpm.json");
    REQUIRE(advice.at("runs").size() == 2);
    CHECK(advice.at("runs")[0].at("variant") == (pass_s < 8e-4 ? "time_tile 8" : "time_tile 1"));
  }
}

}  // namespace steelyard::tests::test_steelyard_predict
