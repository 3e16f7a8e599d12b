#pragma once

#include "comm/kernel_measurement.hpp"
#include "comm/session.hpp"
#include "core/co_execution.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/numerics.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// A unit's own work in the parts of a time step, in seconds, with what an emulated slowdown adds.
struct UnitWork {
  double momentum_s = 0.0;  ///< of an iteration of BiCGSTAB
  double pressure_s = 0.0;  ///< of an iteration of CG
  double rest_s = 0.0;      ///< of a step

  double step_s(double momentum_iterations, double pressure_iterations) const {
    return momentum_iterations * momentum_s + pressure_iterations * pressure_s + rest_s;
  }
};

/// What the steps of a sample needed.
struct StepSample {
  UnitWork host;
  UnitWork companion;
  double momentum_iterations = 0.0;  ///< a step, of the unit that needed most
  double pressure_iterations = 0.0;
  Meetings momentum;  ///< of an iteration
  Meetings pressure;  ///< of an iteration
  Meetings rest;      ///< of a step
};

/// Times a few steps from rest on every unit of the rank at once, each in a cavity of its own that is as large as its
/// share, or as what no cache holds and then in proportion, without communication. Collective.
/// @param share rows of the rank's units @throws CollectiveError where memory is short or a linear solver fails
StepSample sample_steps(const Session& session, CoExecution& co_execution, const Problem& problem,
                        const Numerics& numerics, const UnitSizes& share);

}  // namespace steelyard::cavity
