// Who gets which blocks.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/miniapps/summa_runs.hpp"
#include "tests/partition/random_rectangles.hpp"

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

TEST_CASE("Any rectangles write the product") {
  Random random(2026);
  SummaTest<double> test(67);
  std::vector<AppRun> runs;
  std::vector<Rectangles> all;
  for (const Words& communication : communications) {
    const int block = whole(random, 3, 20);
    all.push_back(random_rectangles(random, (67 + block - 1) / block, 6));
    const std::string name = std::to_string(all.size());
    const std::string file = write_rectangles(test.folder(), name + ".json", all.back());
    runs.push_back({static_cast<int>(all.back().size()),
                    communication + Words{"--block", std::to_string(block), "--partition", file}});
  }
  test.expect_exact(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) CHECK(areas(rank_rectangles(test.parts(i))) == areas(all[i]));
}

TEST_CASE("An even grid is as square as the number of ranks allows") {
  struct Grid {
    int ranks, height, width, side;
  };
  const std::vector<Grid> grids{{1, 1, 1, 12}, {4, 2, 2, 12}, {6, 2, 3, 12}, {6, 2, 3, 13},
                                {7, 1, 7, 14}, {8, 2, 4, 13}, {12, 3, 4, 12}};
  const TemporaryFolder folder;
  std::vector<AppRun> runs;
  for (const Grid& grid : grids) {
    runs.push_back({grid.ranks, Words{"--partition", "even", "--dry-run", "--units", "host"} + of_side(grid.side)});
  }
  const std::vector<Outcome> outcomes = run_summa(runs, folder);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto& [ranks, height, width, side] = grids[i];
    INFO(outcomes[i].out);
    const Rectangles parts = parts_in_table(outcomes[i].out);
    REQUIRE(parts.size() == static_cast<std::size_t>(ranks));
    CHECK(tile(parts, side));
    std::set<std::int64_t> tops, lefts;
    for (const partition::Rectangle& part : parts) {
      tops.insert(part.row);
      lefts.insert(part.column);
      CHECK(part.rows >= side / height);
      CHECK(part.rows <= (side + height - 1) / height);
      CHECK(part.columns >= side / width);
      CHECK(part.columns <= (side + width - 1) / width);
    }
    CHECK(tops.size() == static_cast<std::size_t>(height));
    CHECK(lefts.size() == static_cast<std::size_t>(width));
  }
}

TEST_CASE("An even grid gives half to each unit, whatever their speeds") {
  const TemporaryFolder folder;
  const Words models = with_models(folder, {1e-6, 9e-6, 4e-6, 1e-6, 1e-6, 1e-6, 1e-3, 1e-6});
  for (const int side : {8, 13}) {
    const Outcome outcome = run_summa(4, Words{"--partition", "even", "--dry-run"} + of_side(side) + models, folder);
    const Rectangles parts = parts_in_table(outcome.out);
    CHECK(tile(parts, side));
    for (std::size_t i = 0; i < parts.size(); i += 2) CHECK(std::abs(parts[i].rows - parts[i + 1].rows) <= 1);
  }
}

TEST_CASE("Areas follow the models") {
  const TemporaryFolder folder;
  const auto dry_run = [&](int ranks, const char* units, int side, const std::vector<double>& seconds,
                           const char* partition) {
    return AppRun{ranks, Words{"--units", units, "--dry-run", "--partition", partition} + of_side(side) +
                             with_models(folder, seconds)};
  };
  std::vector<AppRun> runs;
  const Words names{"column", "constant", "geometric", "exact"};
  for (const std::string& name : names) {
    runs.push_back(dry_run(2, "host", 16, {3e-6, 1e-6}, name.c_str()));
    runs.push_back(dry_run(3, "host", 16, {2e-6, 2e-6, 1e-6}, name.c_str()));
    runs.push_back(dry_run(2, "host+device", 12, {1e-6, 1e-6, 4e-6, 4e-6 / 3}, name.c_str()));
  }
  const std::vector<Outcome> outcomes = run_summa(runs, folder);
  for (std::size_t i = 0; i < outcomes.size(); i += 3) {
    CAPTURE(names[i / 3]);
    CHECK(areas(parts_in_table(outcomes[i].out)) == std::vector<std::int64_t>{64, 192});
    CHECK(areas(parts_in_table(outcomes[i + 1].out)) == std::vector<std::int64_t>{64, 64, 128});
    const Rectangles parts = parts_in_table(outcomes[i + 2].out);
    CHECK(areas(rank_rectangles(parts)) == std::vector<std::int64_t>{96, 48});
    // Inside a rank both units take equally long.
    CHECK(parts[0].area() == parts[1].area());
    CHECK(3 * parts[2].area() == parts[3].area());
  }
}

TEST_CASE("Units of a rank end as early as they can together") {
  const TemporaryFolder folder;
  const std::vector<std::vector<double>> speeds{{1e-6, 2.7e-6}, {5e-6, 1e-6}, {1e-6, 1.0}, {1.0, 1e-6}};
  std::vector<AppRun> runs;
  for (const std::vector<double>& seconds : speeds) {
    runs.push_back({1, Words{"--dry-run"} + of_side(17) + with_models(folder, seconds)});
  }
  const std::vector<Outcome> outcomes = run_summa(runs, folder);
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const Rectangles parts = parts_in_table(outcomes[i].out);
    REQUIRE(parts.size() == 2);
    CHECK(tile(parts, 17));
    const auto seconds = [&](std::int64_t host_rows) {
      return 17.0 * std::max(static_cast<double>(host_rows) * speeds[i][0],
                             static_cast<double>(17 - host_rows) * speeds[i][1]);
    };
    for (std::int64_t rows = 0; rows <= 17; ++rows) CHECK(seconds(parts[0].rows) <= seconds(rows) * (1.0 + 1e-9));
  }
}

TEST_CASE("Every partition covers all blocks and writes the product") {
  SummaTest<double> test(77);
  Words names = partition_names();
  names.emplace_back("column");
  std::vector<AppRun> runs;
  for (const std::string& name : names) {
    const Words partition{"--partition", name, "--block", "4"};
    runs.push_back({3, partition + test.models({1e-6, 3e-6, 5e-7, 4e-6, 2e-6, 2e-6})});
    runs.push_back({1, partition + test.models({5e-6, 1e-6})});
  }
  test.expect_exact(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CAPTURE(names[i / 2]);
    CHECK(tile(test.parts(i), 20));
    CHECK(tile(rank_rectangles(test.parts(i)), 20));
    CHECK(test.outcomes()[i].out.find("partition " + names[i / 2]) != std::string::npos);
  }
}

TEST_CASE("column is what a user gets who asks for nothing") {
  const TemporaryFolder folder;
  const Words words = Words{"--dry-run"} + of_side(15) + with_models(folder, {1e-6, 3e-6, 5e-7, 4e-6, 2e-6, 2e-6});
  const std::vector<Outcome> outcomes = run_summa({{3, words}, {3, words + Words{"--partition", "column"}}}, folder);
  CHECK(lines_of(outcomes[0].out).front() == lines_of(outcomes[1].out).front());
  CHECK((parts_in_table(outcomes[0].out) == parts_in_table(outcomes[1].out)));
}

TEST_CASE("A dry run says what a run does") {
  const TemporaryFolder folder;
  const Words words = of_side(15) + with_models(folder, {1e-6, 3e-6, 5e-7, 4e-6, 2e-6, 2e-6, 1e-6, 1e-6});
  const std::string file = write_rectangles(folder, "pinwheel.json", pinwheel(15, 4, 12));
  std::vector<AppRun> runs;
  for (const Words& partition :
       {Words{"--partition", "column"}, Words{"--partition", "even"}, Words{"--partition", "exact"}}) {
    runs.push_back({4, words + partition});
  }
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
