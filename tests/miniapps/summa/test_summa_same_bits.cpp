// What a run leaves depends on who owns what, and on nothing else; however pivots travel:
// summa/test_multiplication.cpp.

#include <catch2/catch_test_macros.hpp>

#include "tests/miniapps/summa/summa_runs.hpp"

namespace steelyard::tests::test_summa_same_bits {
namespace {

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

TEST_CASE("A seed gives the same bits again, and another seed other ones") {
  const TemporaryFolder folder;
  std::vector<AppRun> runs;
  for (const Words& words : {Words{"--seed", "5"}, {"--seed", "6"}, {"--seed", "5", "--repetitions", "3"}}) {
    const Words output{"--output", std::to_string(runs.size()) + ".npy"};
    runs.push_back({3, words + output + Words{"--size", "41", "--block", "4"}});
  }
  run_summa(runs, folder);
  const auto product = [&](const char* file) { return read_grid<double>(folder / file); };
  CHECK((product("2.npy") == product("0.npy")));
  CHECK(largest_difference(product("1.npy"), product("0.npy")) > 0.1);
}

}  // namespace
}  // namespace steelyard::tests::test_summa_same_bits
