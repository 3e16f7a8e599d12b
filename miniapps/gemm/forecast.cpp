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
  void add_options(CLI::App& parser) override {
    add_extent_options(parser, options_);
    add_block_options(parser, options_.problem, options_.device_memory_bytes);
    add_element_option(parser, options_.run.element);
  }
  std::string problem() const override {
    const Problem problem = make_problem(options_);
    return fmt::format("gemm, m = {}, n = {}, k = {}, {}: {} block rows of {}\n", problem.m, problem.n, problem.k,
                       element_name(options_.run.element), problem.block_rows(), problem.block);
  }
  Forecast forecast(const Processes& processes, const std::string& partition) const override {
    Problem problem = make_problem(options_);
    problem.m *= times_;
    const MeasuredKernel kernel(problem, options_.run.element, options_.device_memory_bytes);
    return forecast_steps(processes, partition, kernel.facts(), problem.block_rows(), /*exchange=*/std::nullopt, 1);
  }
  /// As many times the rows of A and C.
  bool has_weak_scaling() const override { return true; }

 private:
  Options options_;
};

}  // namespace

std::unique_ptr<Forecaster> make_forecaster() { return std::make_unique<GemmForecaster>(); }

}  // namespace steelyard::gemm
