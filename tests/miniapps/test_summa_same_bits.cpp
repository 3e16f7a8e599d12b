// What a run leaves depends on who owns what, and on nothing else.

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <limits>

#include "tests/miniapps/summa_runs.hpp"

namespace steelyard::tests::test_summa_same_bits {
namespace {

/// `more` with every communication; once more without a word of it, and with more than one repetition.
std::vector<AppRun> all_communications(int ranks, const Words& more) {
  std::vector<AppRun> runs;
  for (const Words& communication : communications) runs.push_back({ranks, more + communication});
  runs.push_back({ranks, more});
  runs.push_back({ranks, more + Words{"--repetitions", "2", "--check", "all"}});
  return runs;
}

TEMPLATE_TEST_CASE("However pivots travel, the same rectangles give the same bits", "", double, float) {
  SummaTest<TestType> test(97);
  const Words models = test.models({1e-6, 3e-6, 2e-6, 7e-6, 5e-7, 4e-6});
  CHECK(tile(test.expect_same_bits(all_communications(3, Words{"--block", "8"} + models)), 13));
}

TEST_CASE("With a rank in several bands of rows and of columns the bits are the same") {
  SummaTest<double> test(97);
  const Words file{"--partition", write_rectangles(test.folder(), "pinwheel.json", pinwheel(13, 4, 9))};
  CHECK(tile(test.expect_same_bits(all_communications(5, Words{"--block", "8"} + file)), 13));
}

TEST_CASE("Out of core the bits are the same however pivots travel") {
  SummaTest<double> test(130);
  CHECK(tile(test.expect_same_bits(all_communications(2, {"--block", "16", "--device-memory", "40960"})), 9));
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

/// What runs with `arguments` leave of random matrices.
template <class Scalar>
std::vector<Grid<Scalar>> random_products(std::vector<AppRun> runs, const Words& arguments) {
  const TemporaryFolder folder;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Words output{"--output", std::to_string(i) + ".npy"};
    runs[i].arguments =
        runs[i].arguments + arguments + output + Words{"--type", sizeof(Scalar) == 8 ? "double" : "float"};
  }
  run_summa(runs, folder);
  std::vector<Grid<Scalar>> products;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    products.push_back(read_grid<Scalar>(folder / (std::to_string(i) + ".npy")));
  }
  return products;
}

TEMPLATE_TEST_CASE("A seed's product is the same for every partition, up to rounding", "", double, float) {
  const TemporaryFolder folder;
  const Words models = with_models(folder, {1e-6, 3e-6, 2e-6, 7e-6, 5e-7, 4e-6});
  const Words file{"--partition", write_rectangles(folder, "pinwheel.json", pinwheel(9, 2, 6))};
  const Words block{"--block", "7"};
  const auto products = random_products<TestType>({{1, block + Words{"--units", "host"}},
                                                   {1, block + Words{"--device-memory", "40960"}},
                                                   {3, block + models},
                                                   {6, block + Words{"--partition", "even"}},
                                                   {5, block + file},
                                                   {2, {"--block", "60", "--communication", "paper"}},
                                                   {2, {"--block", "1", "--communication", "bcast"}}},
                                                  {"--size", "60", "--seed", "12"});
  // Elements are in [-1, 1], so that the terms of one of C come to 61 at most.
  const double most = 2.0 * 63.0 * 61.0 * static_cast<double>(std::numeric_limits<TestType>::epsilon()) / 2.0;
  for (const Grid<TestType>& product : products) CHECK(largest_difference(product, products.front()) <= most);
}

TEST_CASE("A seed gives the same bits again, and another seed other ones") {
  const auto products = random_products<double>(
      {{3, {"--seed", "5"}}, {3, {"--seed", "5"}}, {3, {"--seed", "6"}}, {3, {"--seed", "5", "--repetitions", "3"}}},
      {"--size", "41", "--block", "4"});
  CHECK((products[1] == products[0]));
  CHECK((products[3] == products[0]));
  CHECK(largest_difference(products[2], products[0]) > 0.1);
}

}  // namespace
}  // namespace steelyard::tests::test_summa_same_bits
