#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "miniapps/wave2d/options.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::wave2d {

/// What is known before a run: who does what, and how long a pass should take.
struct Prediction {
  int time_tile = 1;
  Assignment assignment;
  std::string exchange_model;  ///< empty where nothing is exchanged or known
  PassCost pass;

  /// Nothing is known of a run that balances itself.
  bool known() const { return pass.kernels_s() > 0.0; }
  double step_s() const { return pass.total_s() / time_tile; }
};

/// What is known of the messages of passes up to so many steps.
MessageFacts message_facts(const Session& session, const Problem& problem, double element_bytes, int least_steps,
                           int most_steps);

/// Seconds of the exchange of a pass. Collective. @param platform nothing: 0 and no model
/// @throws CollectiveError as exchange_costs()
ExchangeCost predict_exchange(const Session& session, const Problem& problem, const std::vector<Slot>& slots,
                              const std::vector<partition::Rectangle>& rectangles, int steps, double element_bytes,
                              const std::optional<models::Platform>& platform);

/// What a pass of such an assignment takes: units' passes as its models say, split into phases as sampled (see
/// sample_passes()). Collective. @throws CollectiveError as exchange_costs() and sample_passes()
Prediction predict(const Session& session, CoExecution& co_execution, const RankUnits& units, const Options& options,
                   const Problem& problem, int time_tile, const std::vector<Slot>& slots, const Assignment& assignment,
                   const std::optional<models::Platform>& platform);

}  // namespace steelyard::wave2d
