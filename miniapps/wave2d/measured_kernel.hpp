#pragma once

#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/wave2d/plan.hpp"

namespace steelyard::wave2d {

/// A pass of the scheme on one unit's rows, borders packed as between two neighbours: a computation unit is a grid row
/// advanced by the pass's steps. See LeapFrog for its memory traffic.
class MeasuredKernel : public MeasurableKernel {
 public:
  /// @param time_tile steps of a pass
  MeasuredKernel(const Problem& problem, ElementType element, int time_tile)
      : problem_(problem), element_(element), time_tile_(time_tile) {}

  KernelFacts facts() const override;
  /// Its check_run() returns the unit's rows of the current level, those of the previous one, and the messages that
  /// leave.
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  /// Points of the parts of a run with `rows` rows, whose seconds it tells: unpacking, border and packing.
  EdgePoints edge_points(std::int64_t rows) const;
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  std::vector<double> reference(std::int64_t units) const override;

 private:
  Problem problem_;
  ElementType element_;
  int time_tile_;
};

}  // namespace steelyard::wave2d
