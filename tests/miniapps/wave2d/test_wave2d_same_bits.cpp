// The field does not depend on who computes which points, nor on how many steps a pass makes.

#include "core/base/json_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/wave2d/wave2d_runs.hpp"

namespace steelyard::tests::test_wave2d_same_bits {
namespace {

TEMPLATE_TEST_CASE("Any time tile, ranks, partition, units, speeds and order of phases compute the same bits", "",
                   double, float) {
  const bool neumann = GENERATE(false, true);
  const int order = GENERATE(2, 4);
  SplitTest<TestType> test({.rows = 41, .columns = 53, .neumann = neumann, .order = order, .steps = 17});
  const std::vector<int> rank_counts{1, 2, 3, 4, 6};
  const Words tiles{"1", "2", "3", "4", "7", "16", "auto"};
  const Words partitions = partition_names() + Words{"column", "column"};
  const std::vector<Words> units{{"--units", "host"}, {"--units", "host+device"}, {"--units", "device"}};
  const std::vector<Words> manners{
      {}, {"--serialize"}, {}, {"--barrier"}, {"--slowdown", "rank0=2"}, {"--serialize", "--barrier"}};
  std::vector<AppRun> runs;
  // Each tile with each number of ranks once, or some of these.
  const std::size_t stride = sizeof(TestType) == 8 && neumann == (order == 2) ? 1 : 4;
  for (std::size_t i = 0; i < tiles.size() * rank_counts.size(); i += stride) {
    const int ranks = rank_counts[i % rank_counts.size()];
    const Words& driven = units[(i / 2) % units.size()];
    // Speeds of all units, so that some have few rows or none and halos reach beyond them.
    std::vector<double> seconds;
    const std::size_t count = (driven[1] == "host+device" ? 2 : 1) * static_cast<std::size_t>(ranks);
    for (std::size_t unit = 0; unit < count; ++unit) {
      const std::size_t speed = (5 * unit + i) % 7;
      seconds.push_back(speed == 0 ? 1.0 : 1e-6 * static_cast<double>(speed));
    }
    const Words split{"--time-tile", tiles[i % tiles.size()], "--partition",
                      partitions[(i + i / 4) % partitions.size()]};
    runs.push_back({ranks, split + driven + manners[i % manners.size()] + test.models(seconds)});
  }
  test.expect_same(runs);
}

TEST_CASE("The smallest grids, a row for each unit and passes longer than a run compute like any other") {
  const bool neumann = GENERATE(false, true);
  const int order = GENERATE(2, 4);
  const Words even{"--partition", "even", "--units"};
  SplitTest<double>({.rows = 6, .columns = 3, .neumann = neumann, .order = order})
      .expect_same(
          {{3, even + Words{"host+device"}}, {6, even + Words{"host"}}, {6, even + Words{"host", "--time-tile", "5"}}});
  SplitTest<float>({.rows = 3, .columns = 3, .neumann = neumann, .order = order})
      .expect_same({{3, even + Words{"host"}},
                    {1, even + Words{"host+device", "--time-tile", "4"}},
                    {3, {"--units", "host", "--partition", "column", "--time-tile", "2"}}});
  std::vector<AppRun> runs;
  for (const char* tile : {"4", "5", "6", "64"}) {
    runs.push_back({3, even + Words{"host", "--time-tile", tile}});
    runs.push_back({3, {"--units", "host", "--partition", "column", "--time-tile", tile}});
  }
  SplitTest<float>({.rows = 11, .columns = 7, .neumann = neumann, .order = order, .steps = 5}).expect_same(runs);
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
  good_run(3, wave2d, slow + with_platform(platform) + test.arguments(), test.folder().path());
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

TEST_CASE("Repetitions, which start anew, and pictures change no bits") {
  SplitTest<double> test({.rows = 19, .columns = 41, .steps = 7});
  const Words again{"--repetitions", "3", "--warmups", "2", "--check", "all"};
  test.expect_same({{2, again},
                    {2, again + Words{"--time-tile", "4"}},
                    {2, {"--frames", "5", "--frame-dir", "pictures", "--time-tile", "4", "--partition", "column"}}});
  CHECK(std::filesystem::exists(test.folder() / "pictures" / "frame_0004.png"));
}

TEST_CASE("Speed models and a time tile that the run finds itself change no bits, and are kept and printed") {
  const int order = GENERATE(2, 4);
  SplitTest<double> test({.rows = 97, .columns = 131, .neumann = true, .order = order, .steps = 23});
  const int ranks = order / 2;
  const Words own{"--time-tile", "auto", "--repetitions", "1", "--output", "own.npy", "--result", "own"};
  const Outcome outcome = run(ranks, wave2d, test.arguments() + own, test.folder().path());
  REQUIRE(outcome.status == 0);
  test.expect_same(read_grid<double>(test.folder() / "own.npy"));
  const auto json = read_json_file(test.folder() / "own" / "run.json");
  const int chosen = json.at("params").at("time_tile").get<int>();
  CHECK((chosen >= 1 && chosen <= 23));
  CHECK(json.at("figures").at("time_tile_time_s").get<double>() > 0.0);
  CHECK(contains(outcome.out, "time tile  " + std::to_string(chosen) + " step"));
  CHECK(contains(outcome.out, "speed models measured in "));
  for (const auto& file : std::filesystem::directory_iterator(test.folder() / "own" / "models")) {
    CHECK(read_json_file(file.path()).at("parameters").at("time_tile") == chosen);
    CHECK(read_json_file(file.path()).at("parameters").at("order") == order);
  }
}

TEST_CASE("Models decide the time tile without --time-tile") {
  SplitTest<double> test({});
  std::vector<AppRun> runs;
  for (const std::string tile : {"1", "3", "6"}) {
    const std::string model =
        test.folder().write("tile" + tile, R"({"schema": "steelyard.fpm/1", "parameters": {"time_tile": )" + tile +
                                               R"(}, "points": [{"units": 1, "time_s": 1e-6}]})");
    runs.push_back({1, {"--model", model, "--result", tile}});
    runs.push_back({2, {"--model", model, "--time-tile", "auto"}});
  }
  test.expect_same(runs);
  for (const int tile : {1, 3, 6}) {
    CHECK(read_json_file(test.folder() / std::to_string(tile) / "run.json").at("params").at("time_tile") == tile);
  }
}

}  // namespace
}  // namespace steelyard::tests::test_wave2d_same_bits
