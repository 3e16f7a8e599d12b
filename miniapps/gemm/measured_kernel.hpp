#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "core/measurable_kernel.hpp"
#include "core/memory/matrix.hpp"
#include "miniapps/gemm/options.hpp"
#include "miniapps/gemm/random_matrix.hpp"
#include "miniapps/gemm/unit_gemm.hpp"

namespace steelyard::gemm {

/// The multiplication on one unit's block rows, with all copies to and from a companion's memory (000, section 4.1.1):
/// a computation unit is a block row of A and C, 2 x block x n x k flops.
class MeasuredKernel : public MeasurableKernel {
 public:
  MeasuredKernel() = default;
  /// @param device_memory_bytes cap of a companion's memory, infinity for none
  MeasuredKernel(const Problem& problem, ElementType element, double device_memory_bytes)
      : problem_(problem), element_(element), device_memory_bytes_(device_memory_bytes) {
    // C is not set back between runs: other factors would let it grow out of the numbers, or shrink below them.
    problem_.alpha = problem.alpha == 0.0 ? 0.0 : 1.0;
    problem_.beta = problem.reads_c() ? 1.0 : 0.0;
  }

  KernelFacts facts() const override;
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  std::vector<double> reference(std::int64_t units) const override;

 private:
  Problem problem_{0, 2048, 2048};
  ElementType element_ = ElementType::float64;
  double device_memory_bytes_ = std::numeric_limits<double>::infinity();
};

/// The first rows and columns of the random matrices of seed 1, for a kernel that is measured and checked: filled by
/// the unit's own threads, which construct this.
template <class Scalar>
class RandomOperands {
 public:
  /// A of rows x depth, B of depth x columns, C of rows x columns.
  RandomOperands(ProcessingUnit::Kind kind, std::int64_t rows, std::int64_t columns, std::int64_t depth)
      : kind_(kind), a_(rows, depth), b_(depth, columns), c_(rows, columns) {
    fill(MatrixName::a, a_, depth);
    fill(MatrixName::b, b_, columns);
    fill(MatrixName::c, c_, columns);
  }

  Operands<Scalar> views() const {
    return {a_.rows(0, a_.row_count()), b_.rows(0, b_.row_count()), c_.rows(0, c_.row_count())};
  }
  void reset_c() { fill(MatrixName::c, c_, static_cast<std::int64_t>(views().c.extent(1))); }
  std::vector<double> c() const {
    const std::span<const Scalar> values = c_.elements(0, c_.row_count());
    return {values.begin(), values.end()};
  }

 private:
  void fill(MatrixName name, const HostArray<Scalar>& array, std::int64_t columns) const {
    const RandomMatrix matrix(1, name);
    const std::span<Scalar> elements = array.elements(0, array.row_count());
    if (kind_ == ProcessingUnit::Kind::host) {
      fill_random<HostExecution>(matrix, 0, 0, columns, elements);
    } else {
      fill_random<CompanionExecution>(matrix, 0, 0, columns, elements);
    }
  }

  ProcessingUnit::Kind kind_;
  HostArray<Scalar> a_, b_, c_;
};

/// alpha A B + beta C of these operands, computed in long double.
std::vector<double> random_product(ElementType type, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                                   double alpha, double beta);

}  // namespace steelyard::gemm
