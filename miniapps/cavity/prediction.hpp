#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "miniapps/app/frame.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// Predicted cost of a part of a time step, for an iteration or, of the rest, for a step.
struct PartCost {
  double work_s = 0.0;           ///< of the slowest unit's own sweeps, with what an emulated slowdown adds
  double communication_s = 0.0;  ///< of all units' synchronisations
  double calls = 0.0;            ///< a step, in the sample that was measured; a run may need more or fewer

  double total_s() const { return work_s + communication_s; }
};

/// Predicted cost of a time step.
struct Prediction {
  PerPart<PartCost> parts;
  std::vector<PerPart<double>> unit_work_s;  ///< of every slot's own sweeps
  std::string failure;  ///< why nothing is predicted: a linear solver that failed in a unit's own cavity

  /// Seconds of a step with so many iterations.
  double step_s(double momentum_iterations, double pressure_iterations) const;
  /// Every slot's own seconds in such a step.
  std::vector<double> unit_step_s(double momentum_iterations, double pressure_iterations) const;
};

/// Times a few steps from rest on every unit of each rank at once, each in a cavity of its own that is as large as its
/// share, or as what no cache holds and then in proportion, without communication; adds what synchronisations cost on
/// the platform, and between the two units of a rank, which is measured. Collective.
/// A cavity as low as a unit's share can be one that a solver fails in where the whole one is solved; nothing is
/// predicted then. @param rows of every slot @throws CollectiveError where memory is short
Prediction predict(Frame& frame, const Problem& problem, const Numerics& numerics,
                   const std::vector<std::int64_t>& rows);

}  // namespace steelyard::cavity
