// C = alpha A B + beta C, whoever computes which rows of it. A BLAS may treat the edges of a matrix otherwise than its
// inside: results of other distributions agree within rounding, not in every bit.

#include <nlohmann/json.hpp>

#include "tests/catch.hpp"
#include "tests/miniapps/product_runs.hpp"

namespace steelyard::tests::test_gemm {
namespace {

const std::filesystem::path gemm = built("gemm");

/// Runs of gemm on the same files.
template <class Scalar>
class GemmTest : public ProductRuns<Scalar> {
 public:
  GemmTest(std::int64_t m, std::int64_t n, std::int64_t k) : ProductRuns<Scalar>(gemm, m, n, k) {}

  /// All runs with all factors at the same time. Each verifies its product itself, and so does this.
  void expect_products(const std::vector<Factors>& factors, const std::vector<AppRun>& runs) {
    std::vector<typename ProductRuns<Scalar>::Product> products;
    for (const Factors& factor : factors) {
      const Words words{"--alpha", std::to_string(factor.alpha), "--beta", std::to_string(factor.beta)};
      for (const AppRun& run : runs) {
        const Words result{"--result", "result" + std::to_string(products.size())};
        products.push_back({{run.ranks, words + run.arguments + result}, factor});
      }
    }
    ProductRuns<Scalar>::expect_products(products);
  }

  std::vector<long long> block_rows(std::size_t run) const {
    return slices_in_table(this->outcomes()[run].out, "block rows");
  }
  nlohmann::json result(std::size_t run) const {
    return read_run(this->folder() / ("result" + std::to_string(run)), "gemm");
  }
};

TEMPLATE_TEST_CASE(
    "gemm writes alpha A B + beta C of any extents and factors, by any units, ranks, partitions and memories", "",
    double, float) {
  const unsigned seed = sizeof(TestType);
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto any = [&](const auto& choices) { return choices[random() % choices.size()]; };
  const Words partitions = partition_names();
  const Words memories{std::to_string(5 * 32 * 32 * sizeof(TestType)), "50000", "200KiB", "1GiB"};
  const std::vector<std::array<int, 3>> extents{{0, 3, 5},   {4, 0, 5},   {4, 3, 0},    {1, 1, 1},      {1, 53, 75},
                                                {53, 1, 75}, {53, 75, 1}, {71, 53, 37}, {133, 101, 150}};
  std::size_t number = 0;
  for (const auto& [m, n, k] : extents) {
    GemmTest<TestType> test(m, n, k);
    std::vector<AppRun> runs;
    std::vector<int> units, blocks;
    for (int i = 0; i < 3; ++i, ++number) {
      const int ranks = any(std::array{1, 2, 3, 4, 6});
      const std::string kinds = any(Words{"host", "device", "host+device"});
      units.push_back(ranks * (kinds == "host+device" ? 2 : 1));
      blocks.push_back(any(std::array{1, 4, 7, 30}));
      std::vector<double> seconds(static_cast<std::size_t>(units.back()));
      // Some are so slow that they get nothing.
      for (double& of_unit : seconds) of_unit = any(std::array{1e-6, 3e-6, 5e-7, 1e-3});
      Words words{"--units", kinds, "--block", std::to_string(blocks.back())};
      words = words + Words{"--partition", partitions[number % partitions.size()]} + test.models(seconds);
      if (i % 3 != 0) words = words + Words{"--device-memory", any(memories)};
      // Each repetition starts from C as it was.
      if (i % 3 == 1) words = words + Words{"--repetitions", "3", "--warmups", "1", "--check", "all"};
      if (i % 3 == 1) words = words + Words{"--slowdown", "rank0=2.5"};
      runs.push_back({ranks, words});
    }
    const std::array factors{0.0, 1.0, -0.5};
    test.expect_products({{factors[number / 3 % 3], any(factors)}, {-0.5, any(factors)}}, runs);
    for (std::size_t i = 0; i < test.outcomes().size(); ++i) {
      const std::vector<long long> slices = test.block_rows(i);
      const int block = blocks[i % runs.size()];
      CHECK(slices.size() == static_cast<std::size_t>(units[i % runs.size()]));
      CHECK(sum(slices) == (m + block - 1) / block);
      const nlohmann::json result = test.result(i);
      CHECK(result.at("distribution") == nlohmann::json(slices));
      CHECK(read_samples(test.folder() / ("result" + std::to_string(i))).size() == (i % 3 == 1 ? 3 : 1));
    }
  }
}

TEMPLATE_TEST_CASE("The same slices give the same bits, whoever computes them", "", double, float) {
  // A device is one core, or a GPU: its BLAS does the same wherever it runs.
  GemmTest<TestType> test(120, 75, 300);
  const Words devices{"--units", "device"}, block{"--block", "30"};
  const Words two = devices + test.models({1e-6, 3e-6});
  test.expect_products({{-0.5, 1.0}}, {{2, two + block},
                                       {2, two + Words{"--block", "10"}},
                                       {2, two + block + Words{"--repetitions", "2"}},
                                       {2, two + block + Words{"--partition", "constant"}},
                                       {4, devices + block + test.models({1.0, 1e-6, 1.0, 3e-6})},
                                       {2, two + block + Words{"--device-memory", "64MiB"}}});
  CHECK(test.block_rows(0) == std::vector<long long>{3, 1});
  CHECK(test.block_rows(1) == std::vector<long long>{9, 3});
  CHECK(test.block_rows(4) == std::vector<long long>{0, 3, 0, 1});
  for (const std::string& result : test.results()) CHECK((result == test.results().front()));
}

TEST_CASE("Random matrices are the same for all ranks and types, and other ones for another seed") {
  const TemporaryFolder folder;
  const Words random{"--m", "40", "--n", "30", "--k", "20", "--block", "8", "--beta", "-0.5", "--units", "device"};
  run_app(gemm,
          {{1, random + Words{"--output", "one.npy"}},
           {3, random + Words{"--output", "split.npy"}},
           {2, random + Words{"--output", "float.npy", "--type", "float"}},
           {1, random + Words{"--output", "other.npy", "--seed", "2"}}},
          folder);
  const Grid<double> one = read_grid<double>(folder / "one.npy");
  const Grid<float> rounded = read_grid<float>(folder / "float.npy");
  Grid<double> wide(rounded.rows, rounded.columns);
  std::copy(rounded.values.begin(), rounded.values.end(), wide.values.begin());
  CHECK(largest_difference(one, read_grid<double>(folder / "split.npy")) <= 100.0 * 0x1p-52);
  CHECK(largest_difference(one, wide) <= 100.0 * 0x1p-23);
  CHECK(largest_difference(one, read_grid<double>(folder / "other.npy")) > 0.1);
}

TEST_CASE("Without beta two files are enough, and the result may take the place of an input") {
  const GemmFiles<double> files(45, 45, 45);
  for (const char* target : {"a.npy", "b.npy", "c.npy", "two.npy"}) {
    const TemporaryFolder folder;
    files.write(folder);
    const bool reads_c = target != std::string("two.npy");
    const Words line = Words{"--beta", reads_c ? "1" : "0", "--block", "8", "--repetitions", "2", "--output", target} +
                       files.arguments(reads_c);
    run_app(gemm, {{reads_c ? 3 : 1, line}}, folder);
    CHECK(files.deviation(read_grid<double>(folder / target), 1.0, reads_c ? 1.0 : 0.0) <= 1.0);
  }
}

TEMPLATE_TEST_CASE("NaN and Inf pass through as in a naive multiplication, from matrices that are read", "", double,
                   float) {
  constexpr TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  constexpr TestType infinity = std::numeric_limits<TestType>::infinity();
  // Ranks, units and ways through a device's memory that all have to agree on what is NaN.
  const std::vector<AppRun> ways{{1, {"--units", "host"}},
                                 {2, {"--block", "8"}},
                                 {1, {"--units", "device", "--device-memory", "40KiB"}},
                                 {1, {"--block", "8", "--device-memory", "1MiB"}}};
  GemmTest<TestType> test(70, 67, 45);
  test.files.a(3, 7) = test.files.b(7, 5) = test.files.c(0, 0) = nan;
  test.files.a(64, 1) = test.files.a(20, 0) = test.files.b(2, 33) = test.files.c(64, 66) = infinity;
  test.files.a(20, 44) = test.files.b(0, 66) = test.files.b(40, 66) = -infinity;
  test.files.c(64, 5) = test.files.c(69, 1) = -infinity;
  test.files.b(1, 10) = 0;
  test.expect_products({{-0.5, 1.0}, {1.0, 0.0}, {0.0, -0.5}, {0.0, 0.0}}, ways);
}

TEST_CASE("A run says how much of its devices' copying is hidden, by its timeline: none with --serialize") {
  const int ranks = GENERATE(1, 3);
  const bool in_core = GENERATE(false, true);
  // All three matrices, or a tenth of them.
  const auto memory = static_cast<long long>((in_core ? 16.0 : 0.8) * (200.0 * 150.0 + 150.0 * 170.0 + 200.0 * 170.0));
  GemmTest<double> test(200, 170, 150);
  const Words words{"--units", "device", "--device-memory", std::to_string(memory)};
  test.expect_products({{1.0, 1.0}}, {{ranks, words}, {ranks, words + Words{"--serialize"}}});
  CHECK(contains(test.outcomes()[0].out, ", in core; copying for ") == in_core);
  CHECK(test.result(1).at("figures").at("hidden_transfer_time_s") == 0.0);
  const auto json = test.result(0);
  CHECK(json.at("params").at("device_memory_bytes") == static_cast<double>(memory));
  const auto& figures = json.at("figures");
  const double told_s = figures.at("transfer_time_s"), told_hidden_s = figures.at("hidden_transfer_time_s");
  CHECK(told_s > 0.0);
  CHECK(std::abs(figures.at("hidden_transfer_share").get<double>() - told_hidden_s / told_s) <= 1e-9);
  // The timeline of rank 0's device: what it multiplies it has loaded before, and stores afterwards.
  const auto seconds = [&](const std::string& key) { return figures.at(key).get<std::vector<double>>(); };
  CHECK(seconds("multiplying_start_s").front() >= seconds("loading_end_s").front());
  CHECK(seconds("storing_start_s").back() >= seconds("multiplying_end_s").back());
  if (ranks > 1) return;
  std::vector<double> times;
  for (const std::string engine : {"loading", "multiplying", "storing"}) {
    for (const char* end : {"_start_s", "_end_s"}) {
      for (const double time_s : seconds(engine + end)) times.push_back(time_s);
    }
  }
  // Between one operation's start or end and the next, each engine works or does not.
  std::sort(times.begin(), times.end());
  double copying_s = 0.0, hidden_s = 0.0;
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    const double middle_s = (times[i] + times[i + 1]) / 2.0;
    const auto works = [&](const std::string& engine) {
      const std::vector<double> starts = seconds(engine + "_start_s"), ends = seconds(engine + "_end_s");
      REQUIRE(starts.size() == ends.size());
      bool found = false;
      for (std::size_t k = 0; k < starts.size(); ++k) found = found || (starts[k] < middle_s && middle_s < ends[k]);
      return found;
    };
    const bool copies = works("loading") || works("storing");
    if (copies) copying_s += times[i + 1] - times[i];
    if (copies && works("multiplying")) hidden_s += times[i + 1] - times[i];
  }
  CHECK(std::abs(told_s - copying_s) <= 1e-9 * copying_s);
  CHECK(std::abs(told_hidden_s - hidden_s) <= 1e-9 * copying_s);
}

}  // namespace
}  // namespace steelyard::tests::test_gemm
