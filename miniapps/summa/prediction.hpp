#pragma once

#include <optional>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/app/speed_models.hpp"
#include "miniapps/summa/assignment.hpp"
#include "miniapps/summa/cost.hpp"
#include "miniapps/summa/options.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::summa {

/// What a run is expected to do.
struct Prediction {
  Assignment assignment;
  std::vector<CommunicationCost> communication;  ///< by each model; empty where nothing is known of the channels
  double start_s = 0.0;                          ///< for starting a rank's units, once per iteration
  Cost cost;                                     ///< with the first model's communication
};

/// Collective. @throws CollectiveError as assign() and communication_costs()
Assignment assign_ranks(const Session& session, const Options& options, const Problem& problem,
                        const std::vector<Slot>& slots, const SpeedModels& models);

/// @param platform nothing: communication costs nothing. Collective. @throws CollectiveError
Prediction predict(const Session& session, CoExecution& co_execution, const Options& options, const Problem& problem,
                   Assignment assignment, const std::optional<models::Platform>& platform);

/// Messages that an assignment needs, as long as those of whole sides of rectangles at most.
MessageFacts message_facts(const Problem& problem, const Assignment& assignment, double element_bytes);

}  // namespace steelyard::summa
