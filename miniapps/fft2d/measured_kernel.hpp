#pragma once

#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/fft2d/rows/row_pass.hpp"

namespace steelyard::fft2d {

/// A pass over rows that runs alone: a computation unit is one row transformed and stored as a column. Both lie in host
/// memory, as in a transform; a device copies them.
class MeasuredKernel : public MeasurableKernel {
 public:
  /// @param columns points of a row @param real rows are real
  MeasuredKernel(std::int64_t columns, bool real, ElementType element, RowFftChoice choice)
      : columns_(columns), real_(real), element_(element), choice_(std::move(choice)) {}

  KernelFacts facts() const override;
  /// @throws InvalidArgument where the unit does not have the library
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  std::vector<double> reference(std::int64_t units) const override;

 private:
  std::int64_t columns_;
  bool real_;
  ElementType element_;
  RowFftChoice choice_;
};

}  // namespace steelyard::fft2d
