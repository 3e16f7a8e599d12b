// Who gets which blocks.

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/miniapps/summa/summa_runs.hpp"

namespace steelyard::tests::test_summa_partitions {
namespace {

/// `n` of which blocks of 8 make `side` block rows, the last one smaller.
Words of_side(int side) { return {"--size", std::to_string(8 * side - 3), "--block", "8"}; }

std::vector<std::int64_t> areas(const Rectangles& rectangles) {
  std::vector<std::int64_t> found;
  for (const partition::Rectangle& rectangle : rectangles) found.push_back(rectangle.area());
  return found;
}

TEST_CASE("Rectangles from a file are followed, in columns or not") {
  const partition::Rectangle nothing{};
  const std::vector<Rectangles> all{pinwheel(9, 2, 6),
                                    // In rows that are cut at different places: bands of columns that overlap.
                                    {{0, 0, 3, 4}, {0, 4, 3, 5}, {3, 0, 1, 9}, {4, 0, 5, 6}, {4, 6, 5, 3}},
                                    // In columns, by ranks in no order, of which one has nothing.
                                    {{5, 2, 4, 7}, nothing, {0, 0, 9, 2}, {0, 2, 5, 6}, {0, 8, 5, 1}},
                                    // Somebody inside whose neighbours on each side are others than those beyond.
                                    {{0, 0, 9, 1}, {0, 1, 1, 8}, {1, 1, 7, 7}, {1, 8, 8, 1}, {8, 1, 1, 7}}};
  SummaTest<double> test(69);
  std::vector<AppRun> runs;
  for (const Rectangles& rectangles : all) {
    REQUIRE(tile(rectangles, 9));
    const std::string name = std::to_string(runs.size());
    const std::string file = write_rectangles(test.folder(), name + ".json", rectangles);
    for (int i = 0; i < 2; ++i) {
      const std::string result = "result" + std::to_string(runs.size());
      runs.push_back({5, Words{"--block", "8", "--partition", file, "--result", result} +
                             communication_of(static_cast<int>(runs.size()))});
    }
  }
  test.expect_exact(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CAPTURE(i);
    const Rectangles& asked = all[i / 2];
    const Rectangles ranks = rank_rectangles(test.parts(i));
    const auto json = read_run(test.folder() / ("result" + std::to_string(i)), "summa");
    CHECK((rectangles_of(json) == asked));
    CHECK(areas(ranks) == areas(asked));
    for (std::size_t rank = 0; rank < 5; ++rank) {
      if (!asked[rank].empty()) CHECK((ranks[rank] == asked[rank]));
    }
  }
}

TEST_CASE("A dry run says what a run does, by any partition") {
  const TemporaryFolder folder;
  const Words words = of_side(15) + with_models(folder, {1e-6, 3e-6, 5e-7, 4e-6, 2e-6, 2e-6, 1e-6, 1e-6});
  const std::string file = write_rectangles(folder, "pinwheel.json", pinwheel(15, 4, 12));
  std::vector<AppRun> runs;
  Words names = partition_names();
  names.insert(names.end(), {"column", "constant:20", "shares:1:2:3:4:5:6:7:0"});
  for (const std::string& name : names) runs.push_back({4, words + Words{"--partition", name}});
  runs.push_back({5, of_side(15) + Words{"--partition", file}});
  const std::size_t count = runs.size();
  for (std::size_t i = 0; i < count; ++i) runs.push_back({runs[i].ranks, runs[i].arguments + Words{"--dry-run"}});
  const std::vector<Outcome> outcomes = run_summa(runs, folder);
  for (std::size_t i = 0; i < count; ++i) {
    const Rectangles parts = parts_in_table(outcomes[i].out);
    CHECK(tile(parts, 15));
    CHECK((parts_in_table(outcomes[i + count].out) == parts));
  }
}

TEST_CASE("Columns that the partition tool writes are what summa follows") {
  const TemporaryFolder folder;
  Words arguments{"partition", "--columns", "--total", "144", "--format", "json", "--models"};
  for (const double seconds : {1e-6, 2e-6, 5e-6, 3e-6}) {
    arguments.push_back(write_model(folder, std::to_string(arguments.size()) + ".fpm.json", seconds));
  }
  const Outcome tool = run(1, steelyard_tool, arguments, folder.path());
  REQUIRE(tool.status == 0);
  const std::string file = folder.write("columns.json", tool.out);
  const Rectangles written = rectangles_of(nlohmann::json::parse(tool.out));
  REQUIRE(tile(written, 12));
  const Outcome outcome =
      run_summa(4, of_side(12) + Words{"--partition", file, "--units", "host", "--result", "result"}, folder);
  CHECK((parts_in_table(outcome.out) == written));
  CHECK((rectangles_of(read_run(folder / "result", "summa")) == written));
}

}  // namespace
}  // namespace steelyard::tests::test_summa_partitions
