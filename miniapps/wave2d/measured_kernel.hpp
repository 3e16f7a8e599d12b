#pragma once

#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// A pass of the scheme on one unit's rows, borders packed as between two neighbours: a computation unit is a grid row
/// advanced by the pass's steps. See LeapFrog for what that moves.
class MeasuredKernel : public MeasurableKernel {
 public:
  MeasuredKernel() = default;
  /// @param time_tile steps of a pass
  MeasuredKernel(const Problem& problem, ElementType element, int time_tile);

  std::string app() const override { return "wave2d"; }
  std::string description() const override { return "2D wave equation: grid rows advanced by one pass"; }
  /// `--columns`, `--type`, `--order`, `--time-tile`
  void add_options(CLI::App& parser) override;
  KernelFacts facts() const override;
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  std::vector<double> reference(std::int64_t units) const override;

 private:
  Problem problem_{0, 2048, 0.5, Boundary::dirichlet};
  ElementType element_ = ElementType::float64;
  int time_tile_ = 1;
};

}  // namespace steelyard::wave2d
