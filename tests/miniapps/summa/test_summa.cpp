// C = A B + C', whoever computes which blocks of it, and however its pivots travel.

#include <nlohmann/json.hpp>

#include "core/base/json_file.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/summa/summa_runs.hpp"
#include "tests/partition/random_rectangles.hpp"

namespace steelyard::tests::test_summa {
namespace {

TEMPLATE_TEST_CASE(
    "summa writes A B + C' of any size, in any blocks, by any units, ranks, partitions and memories, however pivots "
    "travel",
    "", double, float) {
  const unsigned seed = sizeof(TestType);
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto any = [&](const auto& choices) { return choices[random() % choices.size()]; };
  Words partitions = partition_names();
  partitions.insert(partitions.end(), {"column", "column", "column"});
  // n and block: prime, less than a block, one block, a block and one element, blocks of one element, a giant one.
  const std::vector<std::array<int, 2>> problems{{97, 13}, {31, 7}, {5, 8}, {8, 8},        {9, 8},
                                                 {7, 1},   {1, 1},  {2, 1}, {60, 1048576}, {150, 32}};
  std::size_t number = 0;
  for (const auto& [n, block] : problems) {
    const int side = (n + block - 1) / block;
    CAPTURE(n, block);
    SummaTest<TestType> test(n);
    std::vector<AppRun> runs;
    std::vector<Words> kinds;
    for (int i = 0; i < 6; ++i, ++number) {
      const int ranks = any(std::array{1, 2, 3, 4, 6, 9});
      kinds.push_back(any(std::vector<Words>{{"host"}, {"device"}, {"host", "device"}, {"host", "device"}}));
      std::vector<double> seconds(static_cast<std::size_t>(ranks) * kinds.back().size());
      for (double& of_unit : seconds) of_unit = any(std::array{1e-6, 3e-6, 5e-7, 4e-6});
      const std::string units = kinds.back().size() == 2 ? "host+device" : kinds.back().front();
      Words words{"--block", std::to_string(block), "--units", units, "--partition", any(partitions)};
      words = words + communications[number % communications.size()] + test.models(seconds);
      // Panels of a block's depth.
      const std::size_t least = sizeof(TestType) * 32 * (3 * static_cast<std::size_t>(block) + 64);
      const Words memories{std::to_string(least), std::to_string(2 * least), "1GiB"};
      if (i % 2 == 1 && block <= 32) words = words + Words{"--device-memory", any(memories)};
      // Every repetition starts from C' again.
      if (i % 3 == 2) words = words + Words{"--repetitions", "3", "--warmups", "1", "--check", "all"};
      runs.push_back({ranks, words});
    }
    test.expect_products(runs, number % 4 != 0);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Rectangles parts = test.parts(i);
      CHECK(parts.size() == static_cast<std::size_t>(runs[i].ranks) * kinds[i].size());
      CHECK(tile(parts, side));
    }
  }
}

TEST_CASE("Ranks that drive other units than their neighbours, and ranks without blocks, write the product") {
  SummaTest<double> test(59);
  REQUIRE(run(4, steelyard_tool, {"layout", "--output", "all"}, test.folder().path()).status == 0);
  const Words kinds{"host", "device", "host+device", "device"};
  std::string layout = test.folder().read("all");
  std::size_t from = 0;
  for (const std::string& kind : kinds) {
    from = layout.find("host+device", from);
    REQUIRE(from != std::string::npos);
    layout.replace(from, std::string("host+device").size(), kind);
    from += kind.size();
  }
  const std::string file = test.folder().write("mixed.layout", layout);
  // Models that are too slow for a single block.
  const std::vector<std::vector<double>> speeds{{1e-6, 1e-6, 1e-6, 1e-6, 1e-6},
                                                {1e-6, 1.0, 1e-6, 1e-6, 1.0},
                                                {1.0, 1.0, 1e-6, 1.0, 1e-6},
                                                {1.0, 1.0, 1.0, 1e-6, 1.0},
                                                {1.0, 1e-6, 1e-6, 1.0, 1.0}};
  std::vector<AppRun> runs;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    runs.push_back({4, Words{"--block", "8", "--layout", file} + test.models(speeds[i]) + communications[i]});
  }
  test.expect_products(runs);
  for (std::size_t run = 0; run < speeds.size(); ++run) {
    const Rectangles parts = test.parts(run);
    CHECK(tile(parts, 8));
    REQUIRE(parts.size() == speeds[run].size());
    for (std::size_t i = 0; i < parts.size(); ++i) CHECK(parts[i].empty() == (speeds[run][i] == 1.0));
  }
}

TEST_CASE("Rectangles from a file are followed, and give the same bits however pivots travel") {
  // In rows that are cut at different places: bands of columns that overlap.
  std::vector<Rectangles> all{{{0, 0, 3, 4}, {0, 4, 3, 5}, {3, 0, 1, 9}, {4, 0, 5, 6}, {4, 6, 5, 3}},
                              // In columns, by ranks in no order, of which one has nothing.
                              {{5, 2, 4, 7}, {}, {0, 0, 9, 2}, {0, 2, 5, 6}, {0, 8, 5, 1}},
                              // Somebody inside whose neighbours on each side are others than those beyond.
                              {{0, 0, 9, 1}, {0, 1, 1, 8}, {1, 1, 7, 7}, {1, 8, 8, 1}, {8, 1, 1, 7}},
                              pinwheel(9, 2, 6)};
  Random random(1);
  while (all.size() < 9) {
    all.push_back(random_rectangles(random, 9, 5));
    for (partition::Rectangle& rectangle : all.back())
      rectangle = rectangle.empty() ? partition::Rectangle{} : rectangle;
  }
  SummaTest<double> test(69);
  std::vector<AppRun> runs;
  for (const Rectangles& rectangles : all) {
    for (const Words& communication : communications) {
      const std::string name = std::to_string(runs.size());
      const std::string file = write_rectangles(test.folder(), name + ".json", rectangles);
      Words words{"--block", "8", "--partition", file, "--result", "result" + name};
      if (rectangles.size() % 2 == 0) words = words + Words{"--device-memory", "50000"};
      runs.push_back({static_cast<int>(rectangles.size()), words + communication});
    }
  }
  test.expect_products(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CAPTURE(i);
    const Rectangles& asked = all[i / communications.size()];
    CHECK((test.results()[i] == test.results()[i / communications.size() * communications.size()]));
    CHECK((rectangles_of(read_run(test.folder() / ("result" + std::to_string(i)), "summa")) == asked));
    CHECK(share_out(asked, test.parts(i)));
  }
}

TEST_CASE("Pivots larger than what MPI sends at once, and tiles multiplied in pieces, give the same bits") {
  // 96 KiB and more to each rank, and owners that send and receive at the same time.
  SummaTest<double> test(256);
  const std::string file = write_rectangles(test.folder(), "pinwheel.json", pinwheel(4, 1, 3));
  std::vector<AppRun> runs;
  for (const Words& communication : communications) {
    runs.push_back({5, Words{"--block", "64", "--units", "host", "--partition", file} + communication});
  }
  test.expect_products(runs);
  for (const std::string& result : test.results()) CHECK((result == test.results().front()));
  // Each rank has all rows, between whose pieces messages move.
  SummaTest<float> high(800);
  const std::string columns = write_rectangles(high.folder(), "columns.json", {{0, 0, 5, 2}, {0, 2, 5, 3}});
  const Words in_columns{"--block", "160", "--units", "host", "--partition", columns};
  high.expect_products({{2, in_columns + communications[0]}, {2, in_columns + communications[2]}});
  CHECK((high.results()[0] == high.results()[1]));
}

TEST_CASE("Columns that the partition tool writes are what summa follows") {
  const TemporaryFolder folder;
  Words arguments{"partition", "--columns", "--total", "144", "--format", "json", "--models"};
  for (const double seconds : {1e-6, 2e-6, 5e-6, 3e-6}) {
    arguments.push_back(write_model(folder, std::to_string(arguments.size()) + ".fpm.json", seconds));
  }
  const std::string written = good_run(1, steelyard_tool, arguments, folder.path()).out;
  const std::string file = folder.write("columns.json", written);
  const Words words{"--size", "93", "--block", "8", "--partition", file, "--units", "host"};
  CHECK((parts_in_table(run_summa(4, words, folder).out) == rectangles_of(nlohmann::json::parse(written))));
}

TEST_CASE("A dry run says what a run does, by any partition") {
  const TemporaryFolder folder;
  const Words size{"--size", "117", "--block", "8"};
  const Words words = size + with_models(folder, {1e-6, 3e-6, 5e-7, 4e-6, 2e-6, 2e-6, 1e-6, 1e-6});
  const std::string file = write_rectangles(folder, "pinwheel.json", pinwheel(15, 4, 12));
  std::vector<AppRun> runs;
  Words names = partition_names();
  names.insert(names.end(), {"column", "constant:20", "shares:1:2:3:4:5:6:7:0"});
  for (const std::string& name : names) runs.push_back({4, words + Words{"--partition", name}});
  runs.push_back({5, size + Words{"--partition", file}});
  const std::size_t count = runs.size();
  for (std::size_t i = 0; i < count; ++i) runs.push_back({runs[i].ranks, runs[i].arguments + Words{"--dry-run"}});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].arguments = runs[i].arguments + Words{"--result", std::to_string(i)};
  }
  const std::vector<Outcome> outcomes = run_summa(runs, folder);
  for (std::size_t i = 0; i < count; ++i) {
    const Rectangles parts = parts_in_table(outcomes[i].out);
    CHECK(tile(parts, 15));
    CHECK((parts_in_table(outcomes[i + count].out) == parts));
    const auto ran = read_run(folder / std::to_string(i), "summa");
    const auto dry = read_json_file(folder / std::to_string(i + count) / "run.json");
    CHECK(dry.at("predicted_time_s") == ran.at("predicted_time_s"));
    CHECK(dry.at("median_time_s").is_null());
    CHECK(lines_that_start(outcomes[i + count].out, "time ") == 0);
  }
}

TEST_CASE("The same rectangles give the same bits, whichever rank owns them") {
  SummaTest<double> test(70);
  // One core each, or a GPU: its BLAS does the same wherever it runs.
  const Words block{"--block", "8", "--units", "device"};
  const Rectangles parts{{0, 0, 9, 5}, {0, 5, 4, 4}, {4, 5, 5, 4}};
  const std::string file = write_rectangles(test.folder(), "parts.json", parts);
  const std::string turned = write_rectangles(test.folder(), "turned.json", {parts[2], parts[0], parts[1]});
  const std::string more = write_rectangles(test.folder(), "more.json", {{}, parts[1], parts[0], {}, parts[2]});
  test.expect_products({{3, block + Words{"--partition", file}},
                        {3, block + Words{"--partition", turned}},
                        {5, block + Words{"--partition", more, "--communication", "bcast"}}});
  CHECK((test.results()[1] == test.results()[0]));
  CHECK((test.results()[2] == test.results()[0]));
}

}  // namespace
}  // namespace steelyard::tests::test_summa
