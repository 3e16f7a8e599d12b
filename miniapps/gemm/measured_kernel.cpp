#include "miniapps/gemm/measured_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/typed_options.hpp"
#include "miniapps/gemm/blocking.hpp"

namespace steelyard::gemm {
namespace {

template <class Scalar>
class MultiplyRun : public KernelRun {
 public:
  MultiplyRun(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows, double device_memory_bytes)
      : operands_(kind, rows, problem.n, problem.k),
        gemm_(kind, {rows, problem.n, problem.k, 0, problem.alpha, problem.beta}, device_memory_bytes) {}

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

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  const std::int64_t rows = units * problem_.block;
  if (element_ == ElementType::float32) {
    return std::make_unique<MultiplyRun<float>>(kind, problem_, rows, device_memory_bytes_);
  }
  return std::make_unique<MultiplyRun<double>>(kind, problem_, rows, device_memory_bytes_);
}

std::vector<ConformanceCase> MeasuredKernel::conformance_cases(ProcessingUnit::Kind kind) const {
  constexpr double all = std::numeric_limits<double>::infinity();
  const Problem usual = MeasuredKernel().problem_;
  std::vector<ConformanceCase> cases;
  for (const ElementType element : {ElementType::float64, ElementType::float32}) {
    for (const double beta : {0.0, 1.0}) {
      // A small memory has a companion multiply out of core.
      for (const double memory : {all, 64.0 * 1024.0}) {
        if (memory != all && kind == ProcessingUnit::Kind::host) continue;
        const auto kernel = [&](std::int64_t n, std::int64_t k, std::int64_t block) {
          return std::make_shared<MeasuredKernel>(Problem{0, n, k, 1.0, beta, block}, element, memory);
        };
        ConformanceCase& check = cases.emplace_back();
        check.options = fmt::format("--type {} --beta {:g}{}", element_name(element), beta,
                                    memory == all ? "" : " --device-memory 64KiB");
        check.shapes = {kernel(1, 1, 1), kernel(61, 83, 5), kernel(130, 67, 32), kernel(5, 0, 3), kernel(0, 5, 3)};
        check.sizes = {0, 1, 3, 7};
        // A sum of k products of numbers below 1, and the largest of many is no smaller than 1.
        check.tolerance = 83.0;
        if (memory == all) check.timed = kernel(usual.n, usual.k, usual.block);
      }
    }
  }
  return cases;
}

std::vector<double> MeasuredKernel::reference(std::int64_t units) const {
  return random_product(element_, units * problem_.block, problem_.n, problem_.k, problem_.alpha, problem_.beta);
}

std::vector<double> random_product(ElementType type, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                                   double alpha, double beta) {
  const auto element = [&](MatrixName name, std::int64_t i, std::int64_t j) {
    const double value = RandomMatrix(1, name).element(i, j);
    return static_cast<long double>(type == ElementType::float64 ? value : static_cast<float>(value));
  };
  std::vector<double> c;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      long double sum = 0.0L;
      for (std::int64_t l = 0; l < depth; ++l) sum += element(MatrixName::a, i, l) * element(MatrixName::b, l, j);
      const long double before = beta == 0.0 ? 0.0L : beta * element(MatrixName::c, i, j);
      c.push_back(static_cast<double>(alpha * sum + before));
    }
  }
  return c;
}

}  // namespace steelyard::gemm
