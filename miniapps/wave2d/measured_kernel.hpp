#pragma once

#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/wave2d/problem.hpp"

namespace steelyard::wave2d {

/// The step of the scheme on one unit's rows, borders packed as between two neighbours: a computation unit is a grid
/// row advanced by one step. 24 bytes of traffic and 7 flops per double point, two time levels in memory.
class MeasuredKernel : public MeasurableKernel {
 public:
  MeasuredKernel() = default;
  MeasuredKernel(const Problem& problem, ElementType element);

  std::string app() const override { return "wave2d"; }
  std::string description() const override { return "2D wave equation: grid rows advanced by one step"; }
  /// `--columns`, `--type`
  void add_options(CLI::App& parser) override;
  KernelFacts facts() const override;
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;

 private:
  Problem problem_{0, 2048, 0.5, Boundary::dirichlet};
  ElementType element_ = ElementType::float64;
};

}  // namespace steelyard::wave2d
