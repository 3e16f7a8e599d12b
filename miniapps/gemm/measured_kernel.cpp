#include "miniapps/gemm/measured_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/typed_options.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/gemm/out_of_core/blocking.hpp"
#include "miniapps/gemm/random_operands.hpp"

namespace steelyard::gemm {
namespace {

template <class Scalar>
class MultiplyRun : public KernelRun {
 public:
  MultiplyRun(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows, double device_memory_bytes)
      : operands_(kind, rows, problem.n, problem.k), gemm_(kind, problem, rows, device_memory_bytes) {}

  void run() override { gemm_.run(operands_.views()); }
  std::vector<double> check_run() override {
    operands_.reset_c();
    run();
    return operands_.c();
  }

 private:
  RandomOperands<Scalar> operands_;
  UnitGemm<Scalar> gemm_;
};

}  // namespace

KernelFacts MeasuredKernel::facts() const {
  require_block_options(problem_, element_, device_memory_bytes_);
  const double bytes = element_bytes(element_);
  const double n = static_cast<double>(problem_.n), k = static_cast<double>(problem_.k);
  const double rows = static_cast<double>(problem_.block);
  KernelFacts facts;
  facts.app = "gemm";
  facts.kernel = "gemm";
  facts.element = element_name(element_);
  facts.computation_unit = "one block row of C = alpha A B + beta C";
  facts.parameters = {{"n", n}, {"k", k}, {"block", rows}, {"reads_c", problem_.reads_c() ? 1.0 : 0.0}};
  facts.flops_per_unit = 2.0 * rows * n * k;
  facts.bytes_per_unit = bytes * rows * (k + n * (problem_.reads_c() ? 2.0 : 1.0));
  // As in a device's buffers.
  const auto n_padded = static_cast<double>(padded_extent(problem_.n));
  const auto k_padded = static_cast<double>(padded_extent(problem_.k));
  facts.memory_bytes_per_unit = bytes * rows * (k_padded + n_padded);
  facts.memory_bytes_fixed = bytes * k_padded * n_padded;
  facts.runs_out_of_core = has_device_memory(device_memory_bytes_);
  facts.device_memory_bytes = device_memory_bytes_;
  // Up to twice as many rows as a square problem has.
  facts.smallest = 1;
  facts.largest = std::max<std::int64_t>(64, 2 * std::max(problem_.n, problem_.k) / problem_.block);
  return facts;
}

Problem MeasuredKernel::repeated_problem() const {
  Problem problem = problem_;
  // C is not set back between runs: other factors would let it grow out of the numbers, or shrink below them.
  if (problem.alpha != 0.0) problem.alpha = 1.0;
  if (problem.reads_c()) problem.beta = 1.0;
  return problem;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  const Problem problem = repeated_problem();
  const std::int64_t rows = units * problem.block;
  if (element_ == ElementType::float32) {
    return std::make_unique<MultiplyRun<float>>(kind, problem, rows, device_memory_bytes_);
  }
  return std::make_unique<MultiplyRun<double>>(kind, problem, rows, device_memory_bytes_);
}

std::vector<ConformanceCase> MeasuredKernel::conformance_cases(ProcessingUnit::Kind kind) const {
  constexpr double all = std::numeric_limits<double>::infinity();
  // A small memory has a companion multiply out of core.
  std::vector<double> memories{all};
  if (kind == ProcessingUnit::Kind::companion) memories.push_back(64.0 * 1024.0);
  std::vector<ConformanceCase> cases;
  const auto add = [&](ElementType element, double beta, double memory) {
    const auto kernel = [&](std::int64_t n, std::int64_t k, std::int64_t block) {
      return std::make_shared<MeasuredKernel>(Problem{0, n, k, 1.0, beta, block}, element, memory);
    };
    ConformanceCase check;
    check.options = fmt::format("--type {} --beta {:g}{}", element_name(element), beta,
                                memory == all ? "" : " --device-memory 64KiB");
    check.shapes = {kernel(1, 1, 1), kernel(61, 83, 5), kernel(130, 67, 32), kernel(5, 0, 3), kernel(0, 5, 3)};
    check.sizes = {0, 1, 3, 7};
    // A sum of k products of numbers below 1, and the largest of many is no smaller than 1.
    check.tolerance = 83.0;
    const Problem usual = MeasuredKernel().problem_;
    if (memory == all) check.timed = kernel(usual.n, usual.k, usual.block);
    cases.push_back(std::move(check));
  };
  for (const ElementType element : {ElementType::float64, ElementType::float32}) {
    for (const double beta : {0.0, 1.0}) {
      for (const double memory : memories) add(element, beta, memory);
    }
  }
  return cases;
}

std::vector<double> MeasuredKernel::reference(std::int64_t units) const {
  const Problem problem = repeated_problem();
  return random_product(element_, units * problem.block, problem.n, problem.k, problem.alpha, problem.beta);
}

}  // namespace steelyard::gemm
