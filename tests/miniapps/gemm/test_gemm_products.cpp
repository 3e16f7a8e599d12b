// C = alpha A B + beta C, whoever computes which rows of it.
//
// What is left of alpha A B + beta C after rounding depends on a unit's slice as a whole, for a BLAS may treat the
// edges of a matrix otherwise than its inside: results of other distributions agree within rounding, not in every bit.

#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/miniapps/gemm/gemm_runs.hpp"

namespace steelyard::tests::test_gemm_products {
namespace {

TEMPLATE_TEST_CASE("gemm writes alpha A B + beta C for all factors", "", double, float) {
  GemmTest<TestType> test(71, 53, 37);
  std::vector<Factors> factors;
  for (const double alpha : {0.0, 1.0, -0.5}) {
    for (const double beta : {0.0, 1.0, -0.5}) factors.push_back({alpha, beta});
  }
  test.expect_products(factors, {{1, {"--block", "8"}}, {1, {"--device-memory", "40KiB"}}});
  test.expect_products({{-0.5, 1.0}}, {{3, {"--block", "8"}}});
}

TEST_CASE("Any units of any number of ranks write the product") {
  GemmTest<double> test(101, 53, 75);
  std::vector<AppRun> runs;
  for (const char* units : {"host", "device", "host+device"}) {
    for (const int ranks : {1, 2, 3, 4, 6}) runs.push_back({ranks, {"--units", units, "--block", "8"}});
  }
  test.expect_products({{-0.5, 1.0}}, runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::vector<long long> slices = test.block_rows(i);
    CHECK(slices.size() == static_cast<std::size_t>(runs[i].ranks * (i < 10 ? 1 : 2)));
    CHECK(sum(slices) == 13);
  }
}

TEST_CASE("Every partition writes the product") {
  GemmTest<double> test(149, 29, 41);
  std::vector<AppRun> runs;
  for (const std::string& name : partition_names()) {
    const Words partition{"--partition", name, "--block", "4"};
    runs.push_back({2, partition + test.models({1e-6, 3e-6, 5e-7, 4e-6})});
    runs.push_back({1, partition + test.models({5e-6, 1e-6})});
  }
  test.expect_products({{1.0, -0.5}}, runs);
}

TEST_CASE("Units without block rows leave C as the others compute it") {
  GemmTest<double> test(79, 31, 23);
  const std::vector<std::vector<double>> speeds{{1e-6, 1.0, 1e-6, 1e-6, 1.0, 1e-6},
                                                {1.0, 1.0, 1e-6, 1.0, 1.0, 1e-6},
                                                {1.0, 1.0, 1.0, 1e-6, 1.0, 1.0},
                                                {1e-6, 1.0, 1.0, 1.0, 1.0, 1e-6}};
  std::vector<AppRun> runs;
  for (const std::vector<double>& seconds : speeds) runs.push_back({3, Words{"--block", "4"} + test.models(seconds)});
  runs.push_back({3, Words{"--block", "4", "--device-memory", "64KiB"} + test.models(speeds.back())});
  test.expect_products({{1.0, 1.0}}, runs);
  for (std::size_t run = 0; run < speeds.size(); ++run) {
    const std::vector<long long> slices = test.block_rows(run);
    REQUIRE(slices.size() == speeds[run].size());
    for (std::size_t i = 0; i < slices.size(); ++i) CHECK((slices[i] == 0) == (speeds[run][i] == 1.0));
  }
}

TEMPLATE_TEST_CASE("The same slices give the same bits, whoever computes them", "", double, float) {
  // A device is one core, or a GPU: its BLAS does the same wherever it runs.
  GemmTest<TestType> test(120, 75, 300);
  const Words devices{"--units", "device"};
  test.expect_products({{-0.5, 1.0}},
                       {{2, devices + Words{"--block", "30"} + test.models({1e-6, 3e-6})},
                        {2, devices + Words{"--block", "10"} + test.models({1e-6, 3e-6})},
                        {2, devices + Words{"--block", "30", "--repetitions", "2"} + test.models({1e-6, 3e-6})},
                        {2, devices + Words{"--block", "30", "--partition", "constant"} + test.models({1e-6, 3e-6})},
                        {4, devices + Words{"--block", "30"} + test.models({1.0, 1e-6, 1.0, 3e-6})},
                        {2, devices + Words{"--block", "30", "--device-memory", "64MiB"} + test.models({1e-6, 3e-6})}});
  CHECK(test.block_rows(0) == std::vector<long long>{3, 1});
  CHECK(test.block_rows(1) == std::vector<long long>{9, 3});
  CHECK(test.block_rows(4) == std::vector<long long>{0, 3, 0, 1});
  for (const std::string& result : test.results()) CHECK((result == test.results().front()));
}

TEST_CASE("Slow units write the product, and each repetition starts from C as it was") {
  GemmTest<float> test(83, 47, 61);
  const Words often{"--repetitions", "3", "--warmups", "2", "--check", "all", "--block", "8"};
  test.expect_products({{-0.5, 1.0}}, {{2, often + Words{"--slowdown", "device=4", "rank1=2"}},
                                       {1, often + Words{"--slowdown", "host=2.5"}},
                                       {1, often + Words{"--slowdown", "device=4", "--device-memory", "64KiB"}},
                                       {3, often}});
  CHECK(test.outcomes()[0].out.find(" 8 (emulated)") != std::string::npos);
}

TEST_CASE("Without beta two files are enough, and none is needed") {
  GemmTest<double> test(40, 30, 20);
  test.files.write(test.folder());
  const Words random{"--m", "40", "--n", "30", "--k", "20", "--block", "8", "--beta", "-0.5", "--units", "device"};
  run_gemm({{3, {"--input", "a.npy", "b.npy", "--output", "two.npy"}},
            {1, random + Words{"--output", "one.npy"}},
            {3, random + Words{"--output", "split.npy"}},
            {2, random + Words{"--output", "float.npy", "--type", "float"}},
            {1, random + Words{"--output", "other.npy", "--seed", "2"}}},
           test.folder());
  CHECK(test.files.deviation(read_grid<double>(test.folder() / "two.npy"), 1.0, 0.0) <= 1.0);
  const Grid<double> one = read_grid<double>(test.folder() / "one.npy");
  const double rounding = 100.0 * std::numeric_limits<double>::epsilon();
  CHECK(largest_difference(one, read_grid<double>(test.folder() / "split.npy")) <= rounding);
  CHECK(largest_difference(one, read_grid<double>(test.folder() / "other.npy")) > 0.1);
  const Grid<float> rounded = read_grid<float>(test.folder() / "float.npy");
  for (std::int64_t i = 0; i < one.rows; ++i) {
    for (std::int64_t j = 0; j < one.columns; ++j) {
      REQUIRE(std::abs(one(i, j) - static_cast<double>(rounded(i, j))) <=
              100.0 * static_cast<double>(std::numeric_limits<float>::epsilon()));
    }
  }
}

TEST_CASE("The result may take the place of an input") {
  const GemmFiles<double> files(45, 45, 45);
  for (const char* target : {"a.npy", "b.npy", "c.npy"}) {
    const TemporaryFolder folder;
    files.write(folder);
    run_gemm(target == std::string("c.npy") ? 3 : 1,
             Words{"--beta", "1", "--block", "8", "--repetitions", "2", "--output", target} + files.arguments(),
             folder);
    CHECK(files.deviation(read_grid<double>(folder / target), 1.0, 1.0) <= 1.0);
  }
}

TEST_CASE("Matrices without rows or columns, vectors, single elements and prime extents are multiplied like others") {
  using Extents = std::array<std::int64_t, 3>;
  const auto [m, n, k] =
      GENERATE(Extents{0, 3, 5}, Extents{4, 0, 5}, Extents{4, 3, 0}, Extents{0, 0, 0}, Extents{1, 1, 1},
               Extents{1, 53, 75}, Extents{53, 1, 75}, Extents{53, 75, 1}, Extents{97, 89, 101});
  CAPTURE(m, n, k);
  std::vector<AppRun> runs{{1, {"--block", "1"}}, {1, {"--block", "5", "--device-memory", "40KiB"}}};
  if (m % 2 == 1 || k == 0) runs.push_back({3, {"--block", "7"}});
  GemmTest<double>(m, n, k).expect_products({{1.0, 0.0}, {-0.5, 1.0}}, runs);
  GemmTest<float>(m, n, k).expect_products({{-0.5, 1.0}}, runs);
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_products
