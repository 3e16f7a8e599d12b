#pragma once

#include "core/measurable_kernel.hpp"

namespace steelyard::cavity {

/// Iterations of the linear solvers, BiCGSTAB for the momentum equations' matrix and then CG for the pressure
/// equation's, on one unit's rows without preconditioner and without communication: a computation unit is a grid row.
/// Both, for the vectors of one alone may stay in a cache that those of a time step do not fit into. Source: 000,
/// section 5.3.4.
class MeasuredKernel : public MeasurableKernel {
 public:
  MeasuredKernel() = default;
  explicit MeasuredKernel(std::int64_t columns) : columns_(columns) {}

  std::string app() const override { return "cavity"; }
  std::string description() const override {
    return "lid-driven cavity: rows of cells in iterations of BiCGSTAB and CG";
  }
  /// `--columns`
  void add_options(CLI::App& parser) override;
  KernelFacts facts() const override;
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  std::vector<double> reference(std::int64_t units) const override;

  /// Of either solver in one run().
  static constexpr int iterations = 3;

 private:
  std::int64_t columns_ = 1024;
};

}  // namespace steelyard::cavity
