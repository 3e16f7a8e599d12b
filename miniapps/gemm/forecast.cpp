#include "miniapps/app/forecast.hpp"

#include <fmt/format.h>

#include "miniapps/gemm/measured_kernel.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/gemm/product_run.hpp"

namespace steelyard::gemm {
namespace {

/// A repetition is one multiplication of every unit's block rows, all at the same time, and no message.
class GemmForecaster : public Forecaster {
 public:
  GemmForecaster(const Problem& problem, const Options& options) : problem_(problem), options_(options) {}

  std::string problem() const override {
    return fmt::format("gemm, m = {}, n = {}, k = {}, {}: {} block rows of {}\n", problem_.m, problem_.n, problem_.k,
                       element_name(options_.run.element), problem_.block_rows(), problem_.block);
  }
  Forecast forecast(const Processes& processes, const std::string& partition) const override {
    Problem problem = problem_;
    problem.m *= times_;
    const MeasuredKernel kernel(problem, options_.run.element, options_.device_memory_bytes);
    return forecast_steps(processes, partition, kernel.facts(), problem.block_rows(), /*exchange=*/std::nullopt, 1);
  }
  /// As many times the rows of A and C.
  bool has_weak_scaling() const override { return true; }

 private:
  Problem problem_;
  Options options_;
};

}  // namespace

std::unique_ptr<Forecaster> make_forecaster(const Problem& problem, const Options& options) {
  return std::make_unique<GemmForecaster>(problem, options);
}

}  // namespace steelyard::gemm
