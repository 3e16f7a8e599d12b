// C = A B + C', whoever computes which blocks of it, and however its pivots travel.

#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/miniapps/summa/summa_runs.hpp"

namespace steelyard::tests::test_summa_products {
namespace {

TEST_CASE("Any number of ranks and any units write the product, however pivots travel") {
  SummaTest<double> test(97);
  std::vector<AppRun> runs;
  for (const char* units : {"host", "device", "host+device"}) {
    for (const int ranks : {1, 2, 4}) runs.push_back({ranks, {"--units", units, "--block", "8"}});
  }
  for (int ranks = 1; ranks <= 12; ++ranks) {
    runs.push_back({ranks, Words{"--block", "8"} + communication_of(ranks)});
  }
  test.expect_products(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Rectangles parts = test.parts(i);
    CHECK(parts.size() == static_cast<std::size_t>(runs[i].ranks * (i < 6 ? 1 : 2)));
    CHECK(tile(parts, 13));
    if (i >= 6) CHECK(tile(rank_rectangles(parts), 13));
  }
}

TEST_CASE("Pivots that are larger than what MPI sends at once travel like others") {
  // 96 KiB and more to each rank, and owners that send and receive at the same time.
  SummaTest<double> test(256);
  const std::string file = write_rectangles(test.folder(), "pinwheel.json", pinwheel(4, 1, 3));
  std::vector<AppRun> runs;
  for (const Words& communication : communications) {
    runs.push_back({5, Words{"--block", "64", "--units", "host", "--partition", file} + communication});
  }
  runs.push_back({3, {"--block", "64", "--units", "host", "--communication", "paper"}});
  test.expect_exact(runs);
}

TEST_CASE("Any extents are multiplied in blocks of any size") {
  // n and block: prime, less than a block, one block, a block and one element, blocks of one element.
  for (const auto& [n, block, side] :
       {std::array{97, 13, 8}, std::array{31, 7, 5}, std::array{5, 8, 1}, std::array{8, 8, 1}, std::array{9, 8, 2},
        std::array{7, 1, 7}, std::array{1, 1, 1}, std::array{2, 1, 2}, std::array{60, 1048576, 1}}) {
    CAPTURE(n, block);
    const Words blocks{"--block", std::to_string(block)};
    std::vector<AppRun> runs{{1, blocks + communication_of(n)}, {3, blocks + communication_of(n + 1)}};
    if (block == 8) runs.push_back({4, blocks + Words{"--partition", "even", "--communication", "bcast"}});
    SummaTest<double> test(n);
    test.expect_products(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) CHECK(tile(test.parts(i), side));
    CHECK(test.outcomes()[0].out.find("n = " + std::to_string(n) + ", double, " + std::to_string(side) + " x " +
                                      std::to_string(side) + " blocks of " + std::to_string(block) + ",") !=
          std::string::npos);
  }
}

TEMPLATE_TEST_CASE("Every repetition starts from C' again, which is zero without a file", "", double, float) {
  for (const bool reads_c : {true, false}) {
    SummaTest<TestType> test(43);
    std::vector<AppRun> runs;
    for (const Words& communication : communications) {
      runs.push_back(
          {3, Words{"--block", "8", "--repetitions", "3", "--warmups", "1", "--check", "all"} + communication});
    }
    runs.push_back({1, {"--block", "8", "--device-memory", "40KiB", "--repetitions", "2", "--check", "all"}});
    test.expect_products(runs, reads_c);
  }
}

TEST_CASE("Ranks that drive other units than their neighbours write the product") {
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
  std::vector<AppRun> runs;
  for (const Words& communication : communications) {
    runs.push_back({4, Words{"--block", "8", "--layout", file} + communication});
  }
  runs.push_back({4, {"--block", "8", "--layout", file, "--partition", "even"}});
  test.expect_products(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    CHECK(tile(test.parts(i), 8));
    CHECK(test.parts(i).size() == 5);
  }
}

TEMPLATE_TEST_CASE("A device of any memory writes the product", "", double, float) {
  SummaTest<TestType> test(150);
  // Five buffers of 32 x 32, as for gemm; A, B and C have 66 Ki elements.
  const std::string least = std::to_string(5UL * 32 * 32 * sizeof(TestType));
  std::vector<AppRun> runs;
  for (const std::string& memory : Words{least, "50000", "200KiB", "1GiB"}) {
    runs.push_back({1, {"--units", "device", "--block", "32", "--device-memory", memory}});
    runs.push_back({1, {"--block", "16", "--device-memory", memory, "--communication", "paper"}});
  }
  runs.push_back({1, {"--block", "70", "--device-memory", "100000"}});
  for (const Words& communication : communications) {
    runs.push_back({3, Words{"--block", "16", "--device-memory", least} + communication});
  }
  test.expect_products(runs);
}

TEST_CASE("Ranks whose models are too slow for a single block leave C as the others compute it") {
  SummaTest<double> test(79);
  std::vector<AppRun> runs;
  const std::vector<std::vector<double>> speeds{{1e-6, 1.0, 1e-6, 1e-6, 1.0, 1e-6},
                                                {1.0, 1.0, 1e-6, 1.0, 1.0, 1e-6},
                                                {1.0, 1.0, 1.0, 1e-6, 1.0, 1.0},
                                                {1e-6, 1.0, 1.0, 1.0, 1.0, 1e-6}};
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    runs.push_back({3, Words{"--block", "8"} + test.models(speeds[i]) + communications[i]});
  }
  test.expect_products(runs);
  for (std::size_t run = 0; run < speeds.size(); ++run) {
    const Rectangles parts = test.parts(run);
    CHECK(tile(parts, 10));
    REQUIRE(parts.size() == speeds[run].size());
    for (std::size_t i = 0; i < parts.size(); ++i) CHECK(parts[i].empty() == (speeds[run][i] == 1.0));
  }
}

TEST_CASE("What summa measures itself does not change the product") {
  const TemporaryFolder folder;
  const GemmFiles<double> files(90, 90, 90);
  files.write(folder);
  const Words once{"--block", "16", "--repetitions", "1", "--output", "c.npy"};
  const Outcome outcome = run(2, summa, once + files.arguments(), folder.path());
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK(lines_that_start(outcome.out, "speed models measured in ") == 1);
  // Where a loaded machine's messages look like nothing that a channel does, it says so.
  CHECK(lines_that_start(outcome.out, "channels measured in ") +
            lines_that_start(outcome.out, "note: communication is not predicted: ") ==
        1);
  CHECK(files.deviation(read_grid<double>(folder / "c.npy"), 1.0, 1.0) <= 1.0);
  CHECK(tile(parts_in_table(outcome.out), 6));
}

}  // namespace
}  // namespace steelyard::tests::test_summa_products
