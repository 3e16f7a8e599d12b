#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/cavity/cost.hpp"
#include "miniapps/cavity/numerics.hpp"
#include "miniapps/cavity/problem.hpp"
#include "miniapps/cavity/step_sample.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::cavity {

/// What is known before a run of what a time step costs.
struct Prediction {
  StepCost cost;
  std::vector<UnitWork> units;  ///< every slot's

  /// Every slot's own work in a step with so many iterations.
  std::vector<double> unit_step_s(double momentum_iterations, double pressure_iterations) const;
};

/// What is known of the messages: halo rows, and what a rank goes through between them.
MessageFacts message_facts(const Session& session, const Problem& problem);

/// From samples of steps on every unit (see sample_steps()), what meetings cost on the platform, and what it takes the
/// two units of a rank to meet, which is measured. Collective.
/// @param platform nothing: messages cost nothing
/// @throws CollectiveError
Prediction predict(const Session& session, CoExecution& co_execution, const RankUnits& units, const Problem& problem,
                   const Numerics& numerics, const std::vector<Slot>& slots, const std::vector<std::int64_t>& rows,
                   const std::optional<models::Platform>& platform);

}  // namespace steelyard::cavity
