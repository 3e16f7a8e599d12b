#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/miniapps/product_runs.hpp"

namespace steelyard::tests {

inline const std::filesystem::path gemm = STEELYARD_GEMM;

/// run_app() with gemm.
inline std::vector<Outcome> run_gemm(const std::vector<AppRun>& runs, const TemporaryFolder& folder) {
  return run_app(gemm, runs, folder);
}
inline Outcome run_gemm(int ranks, const Words& arguments, const TemporaryFolder& folder) {
  return run_gemm({{ranks, arguments}}, folder).front();
}

/// Block rows of every unit in the table that gemm prints.
inline std::vector<long long> block_rows_in_table(const std::string& out) { return slices_in_table(out, "block rows"); }

/// Runs of gemm on the same files.
template <class Scalar>
class GemmTest : public ProductRuns<Scalar> {
 public:
  GemmTest(std::int64_t m, std::int64_t n, std::int64_t k) : ProductRuns<Scalar>(gemm, m, n, k) {}

  /// All runs with all factors at the same time. Each verifies its result itself, and so does this.
  void expect_products(const std::vector<Factors>& factors, const std::vector<AppRun>& runs) {
    std::vector<typename ProductRuns<Scalar>::Product> products;
    for (const Factors& factor : factors) {
      const Words words{"--alpha", std::to_string(factor.alpha), "--beta", std::to_string(factor.beta)};
      for (const AppRun& run : runs) products.push_back({{run.ranks, words + run.arguments}, factor});
    }
    ProductRuns<Scalar>::expect_products(products);
  }

  std::vector<long long> block_rows(std::size_t run) const { return block_rows_in_table(this->outcomes()[run].out); }
};

}  // namespace steelyard::tests
