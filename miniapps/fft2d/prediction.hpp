#pragma once

#include <optional>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/fft2d/assignment.hpp"
#include "miniapps/fft2d/cost.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::fft2d {

/// What is known before a run: who does what, and how long it should take.
struct Prediction {
  Assignment assignment;
  std::vector<ExchangeCost> exchange;  ///< by each model, the first one counts; empty where nothing is known
  TransformCost cost;

  /// Of every unit: both passes.
  std::vector<double> unit_s() const;
};

/// What is known of the messages of a transform that is split evenly.
MessageFacts message_facts(const Session& session, const Problem& problem, const ExchangeChoice& exchange,
                           double point_bytes);

/// Collective. @param platform nothing: exchanges cost nothing @param bytes_per_s memory traffic of all units together
/// @throws CollectiveError as exchange_costs()
Prediction predict(const Session& session, CoExecution& co_execution, const Problem& problem,
                   const ExchangeChoice& exchange, double point_bytes, const std::vector<Slot>& slots,
                   const Assignment& assignment, const std::optional<models::Platform>& platform, double bytes_per_s);

}  // namespace steelyard::fft2d
