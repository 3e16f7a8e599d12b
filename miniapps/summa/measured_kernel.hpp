#pragma once

#include <limits>

#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/summa/problem.hpp"

namespace steelyard::summa {

/// The update of an iteration: a nearly square rectangle of blocks of C, by a pivot column and a pivot row.
/// Source: 000, section 3.3, figure 3.4 (b).
class MeasuredKernel : public MeasurableKernel {
 public:
  MeasuredKernel() = default;
  MeasuredKernel(const Problem& problem, ElementType element, double device_memory_bytes)
      : problem_(problem), element_(element), device_memory_bytes_(device_memory_bytes) {}

  KernelFacts facts() const override;
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  std::vector<double> reference(std::int64_t units) const override;

 private:
  Problem problem_;
  ElementType element_ = ElementType::float64;
  double device_memory_bytes_ = std::numeric_limits<double>::infinity();
};

}  // namespace steelyard::summa
