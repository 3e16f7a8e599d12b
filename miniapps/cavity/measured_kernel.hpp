#pragma once

#include <cstdint>
#include <vector>

#include "core/measurable_kernel.hpp"
#include "miniapps/cavity/coefficients.hpp"

namespace steelyard::cavity {

/// Iterations of the linear solvers, BiCGSTAB for the momentum equations' matrix and then CG for the pressure
/// equation's, on one unit's rows without preconditioner and without communication: a computation unit is a grid row.
/// Both, for the vectors of one alone may stay in a cache that those of a time step do not fit into. Source: 000,
/// section 5.3.4.
class MeasuredKernel : public MeasurableKernel {
 public:
  MeasuredKernel() = default;
  explicit MeasuredKernel(std::int64_t columns) : columns_(columns) {}

  KernelFacts facts() const override;
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  std::vector<double> reference(std::int64_t units) const override;

  /// Of either solver in one run().
  static constexpr int iterations = 3;

 private:
  std::int64_t columns_ = 1024;
};

// The linear systems that it iterates on: a grid of its unit's rows alone, with walls all around, and cells of height
// and width 1.

/// Coefficients of both matrices, where nothing lies in a wall.
Coefficients measured_coefficients(std::int64_t rows, std::int64_t columns);

/// Of the pressure's and of both momentum equations.
KOKKOS_INLINE_FUNCTION double measured_right_side(std::int64_t j, std::int64_t i) {
  return static_cast<double>((7 * j + 3 * i) % 11) - 5.0;
}
/// What the convecting velocity is of that.
constexpr double convecting_share = 0.1;

/// The velocity after so many iterations of BiCGSTAB and the pressure after as many of CG, both from 0, in the order of
/// MeasuredKernel's check_run(): by the textbook, in more than double precision. Source: 000, Algorithms 2 and 3.
std::vector<double> serial_iterations(std::int64_t rows, std::int64_t columns, int iterations);

}  // namespace steelyard::cavity
