#pragma once

#include <filesystem>

#include "tests/catch.hpp"
#include "tests/miniapps/app_runs.hpp"
#include "tests/miniapps/gemm/gemm_files.hpp"

namespace steelyard::tests {

/// C = alpha A B + beta C.
struct Factors {
  double alpha = 1.0;
  double beta = 0.0;
};

/// Runs of a program that multiplies the same files, and the products that they have left.
template <class Scalar>
class ProductRuns {
 public:
  /// Random matrices. @param m, n, k extents: A is m x k, B k x n, C m x n
  ProductRuns(std::filesystem::path program, std::int64_t m, std::int64_t n, std::int64_t k)
      : files(m, n, k), program_(std::move(program)) {}

  GemmFiles<Scalar> files;  ///< written when runs start

  Words models(const std::vector<double>& seconds_per_unit) const { return with_models(folder_, seconds_per_unit); }
  const TemporaryFolder& folder() const { return folder_; }
  /// What the last runs printed.
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  /// Bytes of the files that the last runs wrote.
  const std::vector<std::string>& results() const { return results_; }
  /// What was wrong with them: see GemmFiles::deviation(). At most 1.
  const std::vector<double>& deviations() const { return deviations_; }

 protected:
  /// A run, and what it computes.
  struct Product {
    AppRun run;  ///< without its files
    Factors factors;
    bool reads_c = true;
  };

  /// All at the same time. Each verifies its result itself, and so does this.
  void expect_products(std::vector<Product> products) {
    files.write(folder_);
    std::vector<AppRun> runs;
    for (Product& product : products) {
      const Words input = files.arguments(product.reads_c) + Words{"--output", output(runs.size())};
      runs.push_back({product.run.ranks, input + product.run.arguments});
    }
    outcomes_ = run_app(program_, runs, folder_);
    results_.clear();
    deviations_.clear();
    for (std::size_t i = 0; i < products.size(); ++i) {
      const Factors& factors = products[i].factors;
      INFO("alpha " << factors.alpha << ", beta " << factors.beta << ", run " << i << " on " << runs[i].ranks
                    << " ranks\n"
                    << outcomes_[i].out);
      CHECK(lines_that_start(outcomes_[i].out, "check      passed") == 1);
      results_.push_back(folder_.read(output(i)));
      deviations_.push_back(files.deviation(read_grid<Scalar>(folder_ / output(i)), factors.alpha, factors.beta));
      CHECK(deviations_.back() <= 1.0);
      std::filesystem::remove(folder_ / output(i));
    }
  }

 private:
  static std::string output(std::size_t run) { return "result" + std::to_string(run) + ".npy"; }

  std::filesystem::path program_;
  TemporaryFolder folder_;
  std::vector<Outcome> outcomes_;
  std::vector<std::string> results_;
  std::vector<double> deviations_;
};

}  // namespace steelyard::tests
