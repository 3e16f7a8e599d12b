#pragma once

#include <limits>

#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// The multiplication on one unit's block rows, with all copies to and from a companion's memory (000, section 4.1.1):
/// a computation unit is a block row of A and C, 2 x block x n x k flops.
class MeasuredKernel : public MeasurableKernel {
 public:
  MeasuredKernel() = default;
  /// @param device_memory_bytes cap of a companion's memory, infinity for none
  MeasuredKernel(const Problem& problem, ElementType element, double device_memory_bytes)
      : problem_(problem), element_(element), device_memory_bytes_(device_memory_bytes) {}

  KernelFacts facts() const override;
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  std::vector<double> reference(std::int64_t units) const override;

 private:
  /// The problem that an instance computes in every run.
  Problem repeated_problem() const;

  Problem problem_{0, 2048, 2048};
  ElementType element_ = ElementType::float64;
  double device_memory_bytes_ = std::numeric_limits<double>::infinity();
};

}  // namespace steelyard::gemm
