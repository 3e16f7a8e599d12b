#include "miniapps/gemm/measured_kernel.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/gemm/random_array.hpp"
#include "miniapps/gemm/slice_gemm.hpp"

namespace steelyard::gemm {
namespace {

template <class Scalar>
class MultiplyRun : public KernelRun {
 public:
  MultiplyRun(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows, double device_memory_bytes)
      : kind_(kind),
        a_(random_array<Scalar>(kind, MatrixName::a, rows, problem.k)),
        b_(random_array<Scalar>(kind, MatrixName::b, problem.k, problem.n)),
        c_(random_array<Scalar>(kind, MatrixName::c, rows, problem.n)),
        operands_{a_.rows(0, rows), b_.rows(0, problem.k), c_.rows(0, rows)},
        slice_(make_slice_gemm<Scalar>(kind, problem, rows, device_memory_bytes)) {}

  void run() override { slice_->run(operands_); }
  std::vector<double> check_run() override {
    fill_random_array(kind_, MatrixName::c, c_);
    run();
    const std::span<const Scalar> values = c_.elements(0, c_.row_count());
    return {values.begin(), values.end()};
  }

 private:
  ProcessingUnit::Kind kind_;
  HostArray<Scalar> a_, b_, c_;
  Operands<Scalar> operands_;
  std::unique_ptr<SliceGemm<Scalar>> slice_;
};

template <class Scalar>
std::unique_ptr<KernelRun> make(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows,
                                double device_memory_bytes) {
  return std::make_unique<MultiplyRun<Scalar>>(kind, problem, rows, device_memory_bytes);
}

}  // namespace

MeasuredKernel::MeasuredKernel(const Problem& problem, ElementType element, double device_memory_bytes)
    : problem_(problem), element_(element), device_memory_bytes_(device_memory_bytes) {}

void MeasuredKernel::add_options(CLI::App& parser) {
  const CLI::Range extent(std::int64_t{0}, largest_extent);
  parser.add_option("--n", problem_.n, "Columns of B and C")->check(extent)->type_name("N")->capture_default_str();
  parser.add_option("--k", problem_.k, "Columns of A, rows of B")->check(extent)->type_name("N")->capture_default_str();
  add_block_options(parser, problem_, device_memory_bytes_);
  add_element_option(parser, element_);
}

KernelFacts MeasuredKernel::facts() const {
  require_block_options(problem_, element_, device_memory_bytes_);
  const double element_bytes = element_ == ElementType::float64 ? sizeof(double) : sizeof(float);
  const double n = static_cast<double>(problem_.n), k = static_cast<double>(problem_.k);
  const double rows = static_cast<double>(problem_.block);
  KernelFacts facts;
  facts.app = app();
  facts.kernel = "gemm";
  facts.element = element_name(element_);
  facts.computation_unit = "one block row of C = alpha A B + beta C";
  facts.parameters = {{"n", n}, {"k", k}, {"block", rows}, {"reads_c", problem_.reads_c() ? 1.0 : 0.0}};
  facts.flops_per_unit = 2.0 * rows * n * k;
  facts.bytes_per_unit = element_bytes * rows * (k + n * (problem_.reads_c() ? 2.0 : 1.0));
  // As in a device's buffers.
  const auto n_padded = static_cast<double>(padded_extent(problem_.n));
  const auto k_padded = static_cast<double>(padded_extent(problem_.k));
  facts.memory_bytes_per_unit = element_bytes * rows * (k_padded + n_padded);
  facts.memory_bytes_fixed = element_bytes * k_padded * n_padded;
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
  return element_ == ElementType::float64 ? make<double>(kind, problem, rows, device_memory_bytes_)
                                          : make<float>(kind, problem, rows, device_memory_bytes_);
}

std::vector<ConformanceCase> MeasuredKernel::conformance_cases(ProcessingUnit::Kind kind) const {
  constexpr double all = std::numeric_limits<double>::infinity();
  std::vector<ConformanceCase> cases;
  for (const ElementType element : {ElementType::float64, ElementType::float32}) {
    for (const double beta : {0.0, 1.0}) {
      // A small memory has a companion multiply out of core.
      std::vector<double> memories{all};
      if (kind == ProcessingUnit::Kind::companion) memories.push_back(64.0 * 1024.0);
      for (const double memory : memories) {
        const auto shape = [&](std::int64_t n, std::int64_t k, std::int64_t block) {
          return std::make_shared<MeasuredKernel>(Problem{0, n, k, 1.0, beta, block}, element, memory);
        };
        ConformanceCase check;
        check.options = fmt::format("--type {} --beta {:g}{}", element_name(element), beta,
                                    memory == all ? "" : " --device-memory 64KiB");
        check.shapes = {shape(1, 1, 1), shape(61, 83, 5), shape(130, 67, 32), shape(5, 0, 3), shape(0, 5, 3)};
        check.sizes = {0, 1, 3, 7};
        // A sum of k products of numbers below 1, and the largest of many is no smaller than 1.
        check.tolerance = 83.0;
        if (memory == all) {
          Problem timed = MeasuredKernel().problem_;
          timed.beta = beta;
          check.timed = std::make_shared<MeasuredKernel>(timed, element, memory);
        }
        cases.push_back(std::move(check));
      }
    }
  }
  return cases;
}

std::vector<double> MeasuredKernel::reference(std::int64_t units) const {
  const Problem problem = repeated_problem();
  const auto element = [&](MatrixName name, std::int64_t i, std::int64_t j) {
    const double value = RandomMatrix(1, name).element(i, j);
    return static_cast<long double>(element_ == ElementType::float64 ? value : static_cast<float>(value));
  };
  std::vector<double> c;
  for (std::int64_t i = 0; i < units * problem.block; ++i) {
    for (std::int64_t j = 0; j < problem.n; ++j) {
      long double sum = 0.0L;
      for (std::int64_t l = 0; l < problem.k; ++l) sum += element(MatrixName::a, i, l) * element(MatrixName::b, l, j);
      const long double old = problem.reads_c() ? problem.beta * element(MatrixName::c, i, j) : 0.0L;
      c.push_back(static_cast<double>(problem.alpha * sum + old));
    }
  }
  return c;
}

}  // namespace steelyard::gemm
