#pragma once

#include <cstdint>
#include <vector>

#include "core/measurable_kernel.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// A time step from rest of a cavity of one unit's rows, without communication, whose solves make a fixed number of
/// iterations each: a computation unit is a grid row. Its runs tell the seconds of each part, see StepPhase. Source:
/// 000, section 5.3.4.
class MeasuredKernel : public MeasurableKernel {
 public:
  /// @param problem gives columns, the cells' shape and the correctors @param to_the_end whether solves end by their
  /// residuals instead
  MeasuredKernel(Problem problem, const Numerics& numerics, bool to_the_end = false);

  KernelFacts facts() const override;
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  /// Their steps are solved to the end, from a field that is not at rest.
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  /// See reference_step().
  std::vector<double> reference(std::int64_t units) const override;

  /// Iterations of each solve in a run.
  static constexpr int iterations = 3;
  static Iterations run_iterations(const Problem& problem) {
    return {iterations, static_cast<double>(iterations) * problem.correctors};
  }

 private:
  Problem problem_;
  Numerics numerics_;
};

}  // namespace steelyard::cavity
