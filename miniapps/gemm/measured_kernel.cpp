#include "miniapps/gemm/measured_kernel.hpp"

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
      : a_(random_array<Scalar>(kind, MatrixName::a, rows, problem.k)),
        b_(random_array<Scalar>(kind, MatrixName::b, problem.k, problem.n)),
        c_(random_array<Scalar>(kind, MatrixName::c, rows, problem.n)),
        operands_{a_.rows(0, rows), b_.rows(0, problem.k), c_.rows(0, rows)},
        slice_(make_slice_gemm<Scalar>(kind, problem, rows, device_memory_bytes)) {}

  void run() override { slice_->run(operands_); }

 private:
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

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  Problem problem = problem_;
  // C is not set back between runs: other factors would let it grow out of the numbers, or shrink below them.
  if (problem.alpha != 0.0) problem.alpha = 1.0;
  if (problem.reads_c()) problem.beta = 1.0;
  const std::int64_t rows = units * problem.block;
  return element_ == ElementType::float64 ? make<double>(kind, problem, rows, device_memory_bytes_)
                                          : make<float>(kind, problem, rows, device_memory_bytes_);
}

}  // namespace steelyard::gemm
