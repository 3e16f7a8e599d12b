#include "miniapps/summa/measured_kernel.hpp"

#include <fmt/format.h>

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
      : kind_(kind),
        a_(gemm::random_array<Scalar>(kind, MatrixName::a, rows, depth)),
        b_(gemm::random_array<Scalar>(kind, MatrixName::b, depth, columns)),
        c_(gemm::random_array<Scalar>(kind, MatrixName::c, rows, columns)),
        operands_{a_.rows(0, rows), b_.rows(0, depth), c_.rows(0, rows)},
        gemm_(gemm::make_panel_gemm<Scalar>(kind, {rows, columns, iterations * depth, depth}, device_memory_bytes)) {}

  void run() override {
    gemm_->add(iteration_, operands_, {});
    iteration_ = (iteration_ + 1) % iterations;
  }
  std::vector<double> check_run() override {
    // C is whole after the last iteration only.
    while (iteration_ != 0) run();
    gemm::fill_random_array(kind_, MatrixName::c, c_);
    do {
      run();
    } while (iteration_ != 0);
    const std::span<const Scalar> values = c_.elements(0, c_.row_count());
    return {values.begin(), values.end()};
  }

 private:
  ProcessingUnit::Kind kind_;
  HostArray<Scalar> a_, b_, c_;
  gemm::Operands<Scalar> operands_;
  std::unique_ptr<gemm::PanelGemm<Scalar>> gemm_;
  std::int64_t iteration_ = 0;
};

/// Elements of C.
struct Rectangle {
  std::int64_t rows = 0, columns = 0;
};

/// As nearly square as can be, and as large as so many blocks.
Rectangle updated(std::int64_t blocks, std::int64_t block) {
  if (blocks == 0) return {};
  const auto side = static_cast<double>(block), area = static_cast<double>(blocks) * side * side;
  const std::int64_t rows = std::llround(std::sqrt(area));
  return {rows, std::max<std::int64_t>(1, std::llround(area / static_cast<double>(rows)))};
}

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
  const Rectangle c = updated(units, problem_.block);
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
  const Rectangle extents = updated(units, problem_.block);
  const auto element = [&](MatrixName name, std::int64_t i, std::int64_t j) {
    const double value = gemm::RandomMatrix(1, name).element(i, j);
    return static_cast<long double>(element_ == ElementType::float64 ? value : static_cast<float>(value));
  };
  std::vector<double> c;
  for (std::int64_t i = 0; i < extents.rows; ++i) {
    for (std::int64_t j = 0; j < extents.columns; ++j) {
      long double product = 0.0L;
      for (std::int64_t l = 0; l < problem_.block; ++l) {
        product += element(MatrixName::a, i, l) * element(MatrixName::b, l, j);
      }
      c.push_back(static_cast<double>(element(MatrixName::c, i, j) + iterations * product));
    }
  }
  return c;
}

}  // namespace steelyard::summa
