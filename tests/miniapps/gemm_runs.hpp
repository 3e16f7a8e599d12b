#pragma once

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/miniapps/app_runs.hpp"
#include "tests/miniapps/gemm_files.hpp"

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

/// C = alpha A B + beta C.
struct Factors {
  double alpha = 1.0;
  double beta = 0.0;
};

/// Runs of gemm on the same files.
template <class Scalar>
class GemmTest {
 public:
  /// Random matrices. @param m, n, k extents: A is m x k, B k x n, C m x n
  GemmTest(std::int64_t m, std::int64_t n, std::int64_t k) : files(m, n, k) {}

  GemmFiles<Scalar> files;  ///< written when runs start

  /// All runs with all factors at the same time. Each verifies its result itself, and so does this.
  void expect_products(const std::vector<Factors>& factors, const std::vector<AppRun>& runs) {
    files.write(folder_);
    std::vector<AppRun> all;
    for (const Factors& factor : factors) {
      for (const AppRun& run : runs) all.push_back({run.ranks, arguments(factor, all.size()) + run.arguments});
    }
    outcomes_ = run_gemm(all, folder_);
    results_.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Factors& factor = factors[i / runs.size()];
      INFO("alpha " << factor.alpha << ", beta " << factor.beta << ", run " << i % runs.size() << "\n"
                    << outcomes_[i].out);
      CHECK(lines_that_start(outcomes_[i].out, "check      passed") == 1);
      results_.push_back(folder_.read(output(i)));
      CHECK(files.deviation(read_grid<Scalar>(folder_ / output(i)), factor.alpha, factor.beta) <= 1.0);
      std::filesystem::remove(folder_ / output(i));
    }
  }

  Words models(const std::vector<double>& seconds_per_unit) { return with_models(folder_, seconds_per_unit); }
  const TemporaryFolder& folder() const { return folder_; }
  /// What the last runs printed.
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  /// Bytes of the files that the last runs wrote.
  const std::vector<std::string>& results() const { return results_; }
  std::vector<long long> block_rows(std::size_t run) const { return block_rows_in_table(outcomes_[run].out); }

 private:
  static std::string output(std::size_t run) { return "result" + std::to_string(run) + ".npy"; }

  Words arguments(const Factors& factor, std::size_t run) const {
    return files.arguments() + Words{"--alpha",  std::to_string(factor.alpha),
                                     "--beta",   std::to_string(factor.beta),
                                     "--output", output(run)};
  }

  TemporaryFolder folder_;
  std::vector<Outcome> outcomes_;
  std::vector<std::string> results_;
};

}  // namespace steelyard::tests
