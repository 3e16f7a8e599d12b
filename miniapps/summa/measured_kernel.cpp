#include "miniapps/summa/measured_kernel.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "miniapps/gemm/panel_gemm.hpp"
#include "miniapps/gemm/random_array.hpp"
#include "miniapps/summa/options.hpp"

namespace steelyard::summa {
namespace {

using gemm::MatrixName;

/// A companion with a memory of its own copies C there once and back once in so many iterations.
constexpr std::int64_t iterations = 64;

template <class Scalar>
class UpdateRun : public KernelRun {
 public:
  UpdateRun(ProcessingUnit::Kind kind, std::int64_t rows, std::int64_t columns, std::int64_t depth,
            double device_memory_bytes)
      : a_(gemm::random_array<Scalar>(kind, MatrixName::a, rows, depth)),
        b_(gemm::random_array<Scalar>(kind, MatrixName::b, depth, columns)),
        c_(gemm::random_array<Scalar>(kind, MatrixName::c, rows, columns)),
        operands_{a_.rows(0, rows), b_.rows(0, depth), c_.rows(0, rows)},
        gemm_(gemm::make_panel_gemm<Scalar>(kind, {rows, columns, iterations * depth, depth}, device_memory_bytes)) {}

  void run() override {
    gemm_->add(iteration_, operands_, {});
    iteration_ = (iteration_ + 1) % iterations;
  }

 private:
  HostArray<Scalar> a_, b_, c_;
  gemm::Operands<Scalar> operands_;
  std::unique_ptr<gemm::PanelGemm<Scalar>> gemm_;
  std::int64_t iteration_ = 0;
};

}  // namespace

void MeasuredKernel::add_options(CLI::App& parser) {
  add_block_options(parser, problem_, device_memory_bytes_);
  add_element_option(parser, element_);
}

KernelFacts MeasuredKernel::facts() const {
  require_block_options(problem_, element_, device_memory_bytes_);
  const double element_bytes = element_ == ElementType::float64 ? sizeof(double) : sizeof(float);
  const auto block = static_cast<double>(problem_.block);
  KernelFacts facts;
  facts.app = app();
  facts.kernel = "gemm";
  facts.element = element_name(element_);
  facts.computation_unit = "one block of C += A B, by a block of A and one of B";
  facts.parameters = {{"block", block}};
  facts.flops_per_unit = 2.0 * block * block * block;
  facts.bytes_per_unit = 2.0 * element_bytes * block * block;
  // C in a memory of its own; in the host's also A and B.
  facts.memory_bytes_per_unit = element_bytes * block * block;
  facts.runs_out_of_core = gemm::has_device_memory(device_memory_bytes_);
  facts.device_memory_bytes = device_memory_bytes_;
  facts.smallest = 1;
  const std::int64_t side = std::max<std::int64_t>(4, 4096 / problem_.block);
  facts.largest = side * side;
  return facts;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  const auto block = static_cast<double>(problem_.block), area = static_cast<double>(units) * block * block;
  const std::int64_t rows = std::llround(std::sqrt(area));
  const std::int64_t columns = std::max<std::int64_t>(1, std::llround(area / static_cast<double>(rows)));
  if (element_ == ElementType::float64) {
    return std::make_unique<UpdateRun<double>>(kind, rows, columns, problem_.block, device_memory_bytes_);
  }
  return std::make_unique<UpdateRun<float>>(kind, rows, columns, problem_.block, device_memory_bytes_);
}

}  // namespace steelyard::summa
