// Matrices of few rows or columns, or none.

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/miniapps/gemm_runs.hpp"

namespace steelyard::tests::test_gemm_shapes {
namespace {

using Extents = std::array<std::int64_t, 3>;

TEST_CASE("Matrices without rows or columns are multiplied like others") {
  for (const auto& [m, n, k] : {Extents{0, 3, 5}, Extents{4, 0, 5}, Extents{4, 3, 0}, Extents{0, 0, 5},
                                Extents{0, 3, 0}, Extents{4, 0, 0}, Extents{0, 0, 0}}) {
    CAPTURE(m, n, k);
    std::vector<AppRun> runs{{1, {}}, {1, {"--block", "1", "--device-memory", "40KiB"}}};
    if (k != 5) runs.push_back({3, {"--block", "1"}});
    GemmTest<double>(m, n, k).expect_products({{1.0, 0.0}, {1.0, -0.5}}, runs);
  }
}

TEST_CASE("Runs without anything to multiply have results that can be read") {
  const auto [m, n, k] = GENERATE(Extents{0, 3, 5}, Extents{4, 0, 5}, Extents{4, 3, 0});
  CAPTURE(m, n, k);
  const TemporaryFolder folder;
  const Outcome outcome = run_gemm(1,
                                   {"--m", std::to_string(m), "--n", std::to_string(n), "--k", std::to_string(k),
                                    "--repetitions", "3", "--device-memory", "1MiB", "--result", "result"},
                                   folder);
  CHECK(lines_that_start(outcome.out, "speed ") == 0);
  CHECK(outcome.out.find("nan") == std::string::npos);
  CHECK(outcome.out.find("inf") == std::string::npos);
  const auto json = read_run(folder / "result", "gemm");
  CHECK(json.at("distribution").get<std::vector<long long>>().size() == 2);
  CHECK(sum(json.at("distribution").get<std::vector<long long>>()) == (m > 0 ? 1 : 0));
  CHECK(json.at("check").at("passed") == true);
  CHECK(read_samples(folder / "result").size() == 3);
}

TEST_CASE("Vectors, single elements and prime extents are multiplied like others") {
  for (const auto& [m, n, k] : {Extents{1, 1, 1}, Extents{1, 53, 75}, Extents{53, 1, 75}, Extents{53, 75, 1},
                                Extents{97, 89, 101}, Extents{2, 3, 5}}) {
    CAPTURE(m, n, k);
    std::vector<AppRun> runs{{1, {"--block", "1"}}, {1, {"--block", "5", "--device-memory", "40KiB"}}};
    GemmTest<float>(m, n, k).expect_products({{-0.5, 1.0}}, runs);
    if (m % 2 == 1) runs.push_back({3, {"--block", "7"}});
    GemmTest<double>(m, n, k).expect_products({{-0.5, 1.0}}, runs);
  }
}

}  // namespace
}  // namespace steelyard::tests::test_gemm_shapes
