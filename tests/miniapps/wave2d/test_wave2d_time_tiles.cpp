// The field does not depend on how many steps a pass makes.

#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "core/base/json_file.hpp"
#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d_time_tiles {
namespace {

const std::vector<std::string> tiles{"1", "2", "3", "4", "7", "16", "auto"};
const std::vector<int> rank_counts{1, 2, 3, 5};

/// Tiles and numbers of ranks, with partitions, units and speeds in turns: each tile with each number of ranks once, or
/// every `stride`-th of these.
template <class Scalar>
std::vector<AppRun> splits(SplitTest<Scalar>& test, std::size_t stride) {
  const Words partitions = partition_names() + Words{"column", "column"};
  const std::vector<Words> units{{"--units", "host"}, {"--units", "host+device"}, {"--units", "device"}};
  std::vector<AppRun> runs;
  for (std::size_t i = 0; i < tiles.size() * rank_counts.size(); i += stride) {
    const int ranks = rank_counts[i % rank_counts.size()];
    const Words& driven = units[(i / 2) % units.size()];
    // Speeds of all units, so that some have few rows and halos reach beyond them.
    std::vector<double> seconds;
    const std::size_t count = (driven[1] == "host+device" ? 2 : 1) * static_cast<std::size_t>(ranks);
    for (std::size_t unit = 0; unit < count; ++unit) {
      seconds.push_back(1e-6 * static_cast<double>(1 + (5 * unit + i) % 7));
    }
    const Words split{"--time-tile", tiles[i % tiles.size()], "--partition",
                      partitions[(i + i / 4) % partitions.size()]};
    runs.push_back({ranks, split + driven + test.models(seconds)});
  }
  return runs;
}

TEST_CASE("Any time tile, ranks, partition and units compute the same bits") {
  const bool neumann = GENERATE(false, true);
  const int order = GENERATE(2, 4);
  SplitTest<double> test({.rows = 41, .columns = 53, .neumann = neumann, .order = order, .steps = 17});
  test.expect_same(splits(test, neumann == (order == 2) ? 1 : 5));
}

TEST_CASE("A pass may be longer than the run, and deeper than the grid") {
  const int order = GENERATE(2, 4);
  SplitTest<float> test({.rows = 11, .columns = 7, .neumann = order == 2, .order = order, .steps = 5});
  std::vector<AppRun> runs;
  for (const char* tile : {"4", "5", "6", "64"}) {
    for (const char* partition : {"even", "column"}) {
      runs.push_back({3, {"--units", "host", "--partition", partition, "--time-tile", tile}});
    }
  }
  test.expect_same(runs);
}

TEST_CASE("Phases run one after the other compute the same bits") {
  const int order = GENERATE(2, 4);
  SplitTest<double> test({.order = order});
  const Words apart{"--serialize", "--time-tile"};
  test.expect_same({{1, apart + Words{"1"}},
                    {2, apart + Words{"1", "--partition", "column"}},
                    {3, apart + Words{"4"}},
                    {2, apart + Words{"7", "--slowdown", "rank1=2"}},
                    {3, apart + Words{"1", "--barrier"}},
                    {3, {"--time-tile", "4", "--barrier"}}});
}

TEST_CASE("Rows that move while the field runs, or are balanced by trying out, change no bits") {
  const Words balance =
      GENERATE(Words{"--balance", "dynamic"}, Words{"--partition", "dynamic"}, Words{"--balance", "binary"},
               Words{"--balance", "ternary"}, Words{"--balance", "ternary", "--balance-level", "internal"},
               Words{"--balance", "binary", "--balance-level", "external"});
  SplitTest<double> test({.rows = 61, .columns = 47, .order = 4, .steps = 83});
  const Words slow =
      balance + Words{"--slowdown", "rank0=3",   "--units", "host",     "--time-tile", "2",        "--repetitions",
                      "1",          "--warmups", "1",       "--output", "field0.npy",  "--result", "result"};
  const TemporaryFolder platform;
  const Words channels{"--platform", platform.write("none", R"({"schema": "steelyard.platform/1", "channels": [
    {"id": 0, "path": [0], "hockney": {"segments": [
      {"up_to_bytes": null, "latency_s": 1e-6, "bandwidth_bytes_per_s": 1e9}]}}]})")};
  const Outcome outcome = run(3, wave2d, slow + channels + test.arguments(), test.folder().path());
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  test.expect_same(read_grid<double>(test.folder() / "field0.npy"));
  const auto json = read_json_file(test.folder() / "result" / "run.json");
  CHECK(sum(json.at("distribution").get<std::vector<long long>>()) == 61);
  if (balance.back() == "internal") CHECK(json.at("distribution") == nlohmann::json{21, 20, 20});
  CHECK(json.at("check").at("passed") == true);
  // Nothing is known of a run that balances itself, nor how far off that is.
  const bool predicted = balance[1] != "dynamic";
  CHECK(json.at("predicted_time_s").is_null() != predicted);
  CHECK(json.at("figures").contains("percentage_difference") == predicted);
  CHECK(json.at("figures").contains("repartitions") != predicted);
}

TEST_CASE("Taking pictures changes no bits") {
  SplitTest<double> test({});
  test.expect_same({{2, {"--frames", "5", "--frame-dir", "pictures", "--time-tile", "4", "--partition", "column"}}});
  CHECK(std::filesystem::exists(test.folder() / "pictures" / "frame_0004.png"));
}

TEST_CASE("The run chooses a time tile without --time-tile, and prints it") {
  const int order = GENERATE(2, 4);
  SplitTest<double> test({.rows = 97, .columns = 131, .neumann = true, .order = order, .steps = 23});
  const Words arguments =
      test.arguments() + Words{"--time-tile", "auto", "--repetitions", "1", "--output", "own.npy", "--result", "own"};
  const Outcome outcome = run(1, wave2d, arguments, test.folder().path());
  REQUIRE(outcome.status == 0);
  test.expect_same(read_grid<double>(test.folder() / "own.npy"));
  const auto json = read_json_file(test.folder() / "own" / "run.json");
  const int chosen = json.at("params").at("time_tile").get<int>();
  CHECK(chosen >= 1);
  CHECK(chosen <= 23);
  CHECK(json.at("figures").at("time_tile_time_s").get<double>() > 0.0);
  CHECK(outcome.out.find("time tile  " + std::to_string(chosen) + " step") != std::string::npos);
  for (const char* unit : {"host", "device"}) {
    const std::filesystem::path model = test.folder() / "own" / "models" / ("rank0-" + std::string(unit) + ".fpm.json");
    if (!std::filesystem::exists(model)) continue;
    CHECK(read_json_file(model).at("parameters").at("time_tile") == chosen);
    CHECK(read_json_file(model).at("parameters").at("order") == order);
  }
}

TEST_CASE("Models decide the time tile without --time-tile") {
  SplitTest<double> test({});
  std::vector<AppRun> runs;
  for (const int tile : {1, 3, 6}) {
    const std::string model = test.folder().write(
        "tile" + std::to_string(tile), R"({"schema": "steelyard.fpm/1", "parameters": {"time_tile": )" +
                                           std::to_string(tile) + R"(}, "points": [{"units": 1, "time_s": 1e-6}]})");
    runs.push_back({1, {"--model", model, "--result", std::to_string(tile)}});
    runs.push_back({2, {"--model", model, "--time-tile", "auto"}});
  }
  test.expect_same(runs);
  for (const int tile : {1, 3, 6}) {
    CHECK(read_json_file(test.folder() / std::to_string(tile) / "run.json").at("params").at("time_tile") == tile);
  }
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_time_tiles
