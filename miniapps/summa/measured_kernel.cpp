#include "miniapps/summa/measured_kernel.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "miniapps/gemm/measured_kernel.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/summa/options.hpp"

namespace steelyard::summa {
namespace {

/// A companion with a memory of its own copies C there once and back once in so many iterations.
constexpr std::int64_t iterations = 64;

template <class Scalar>
class UpdateRun : public KernelRun {
 public:
  UpdateRun(ProcessingUnit::Kind kind, std::int64_t rows, std::int64_t columns, std::int64_t depth,
            double device_memory_bytes)
      : operands_(kind, rows, columns, depth),
        gemm_(kind, gemm::PanelProblem{rows, columns, iterations * depth, depth}, device_memory_bytes) {}

  void run() override {
    gemm_.add(iteration_, operands_.views(), {});
    iteration_ = (iteration_ + 1) % iterations;
  }
  std::vector<double> check_run() override {
    // C is whole after the last iteration only.
    while (iteration_ != 0) run();
    operands_.reset_c();
    do {
      run();
    } while (iteration_ != 0);
    return operands_.c();
  }

 private:
  gemm::RandomOperands<Scalar> operands_;
  gemm::UnitGemm<Scalar> gemm_;
  std::int64_t iteration_ = 0;
};

/// Rows and columns of C, as nearly square as can be, and as large as so many blocks.
partition::Extents updated(std::int64_t blocks, std::int64_t block) {
  if (blocks == 0) return {};
  const auto side = static_cast<double>(block), area = static_cast<double>(blocks) * side * side;
  const std::int64_t rows = std::llround(std::sqrt(area));
  return {rows, std::max<std::int64_t>(1, std::llround(area / static_cast<double>(rows)))};
}

}  // namespace

KernelFacts MeasuredKernel::facts() const {
  require_block_options(problem_, element_, device_memory_bytes_);
  const double bytes = gemm::element_bytes(element_);
  const auto block = static_cast<double>(problem_.block);
  KernelFacts facts;
  facts.app = "summa";
  facts.kernel = "gemm";
  facts.element = element_name(element_);
  facts.computation_unit = "one block of C += A B, by a block of A and one of B";
  facts.parameters = {{"block", block}};
  facts.flops_per_unit = 2.0 * block * block * block;
  facts.bytes_per_unit = 2.0 * bytes * block * block;
  // C in a memory of its own; in the host's also A and B.
  facts.memory_bytes_per_unit = bytes * block * block;
  facts.runs_out_of_core = gemm::has_device_memory(device_memory_bytes_);
  facts.device_memory_bytes = device_memory_bytes_;
  facts.smallest = 1;
  // Up to twice as many rows and columns as the whole matrix has.
  const std::int64_t side = std::max<std::int64_t>(4, 2 * problem_.blocks());
  facts.largest = side * side;
  return facts;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  const partition::Extents c = updated(units, problem_.block);
  if (element_ == ElementType::float64) {
    return std::make_unique<UpdateRun<double>>(kind, c.rows, c.columns, problem_.block, device_memory_bytes_);
  }
  return std::make_unique<UpdateRun<float>>(kind, c.rows, c.columns, problem_.block, device_memory_bytes_);
}

std::vector<ConformanceCase> MeasuredKernel::conformance_cases(ProcessingUnit::Kind kind) const {
  constexpr double all = std::numeric_limits<double>::infinity();
  std::vector<ConformanceCase> cases;
  for (const ElementType element : {ElementType::float64, ElementType::float32}) {
    // A small memory has a companion multiply out of core.
    std::vector<double> memories{all};
    if (kind == ProcessingUnit::Kind::companion) memories.push_back(256.0 * 1024.0);
    for (const double memory : memories) {
      ConformanceCase check;
      check.options = fmt::format("--type {}{}", element_name(element), memory == all ? "" : " --device-memory 256KiB");
      for (const std::int64_t block : {1, 7, 32}) {
        Problem problem;
        problem.block = block;
        check.shapes.push_back(std::make_shared<MeasuredKernel>(problem, element, memory));
      }
      check.sizes = {0, 1, 3, 10};
      // So many sums one after the other, each of a block's products.
      check.tolerance = static_cast<double>(iterations) + 32.0;
      if (memory == all) check.timed = std::make_shared<MeasuredKernel>(Problem(), element, memory);
      cases.push_back(std::move(check));
    }
  }
  return cases;
}

std::vector<double> MeasuredKernel::reference(std::int64_t units) const {
  const partition::Extents c = updated(units, problem_.block);
  return gemm::random_product(element_, c.rows, c.columns, problem_.block, static_cast<double>(iterations), 1.0);
}

}  // namespace steelyard::summa
