#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "models/communication/message_pattern.hpp"
#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/aligned_evaluation.hpp"
#include "models/communication/tau_lop/event_evaluation.hpp"
#include "models/communication/tau_lop/tau_lop.hpp"

namespace steelyard::models {

/// A way to cost messages.
template <class Messages>
struct CostModel {
  std::string name;                               ///< as in cost_model_names()
  std::function<double(const Messages&)> cost_s;  ///< seconds
};

/// `tau-Lop` (channel by channel as in the paper), `tau-Lop event` (followed in time), `HLogGP`, `Hockney`.
const std::vector<std::string>& cost_model_names();

/// Which of these have parameters for all of the channels.
struct ModelledBy {
  bool tau_lop = false;
  bool loggp = false;
  bool hockney = false;
};
/// @throws InvalidArgument naming the channels where no model has them
ModelledBy modelled_by(const Platform& platform, const std::set<int>& channels);

/// The models that have parameters for the channels, in the order of cost_model_names(): tau-Lop with transfers beyond
/// the measured concurrency in proportion, HLogGP and Hockney by the rules of 001, sections 4.1 and 4.2.
/// @tparam Messages a MessagePattern, or an app's own
/// @param in_tau_lop expression(messages, placement)
/// @param serial_s serial_cost_s(messages, message_s)
/// @param platform, placement outlive the result
/// @throws InvalidArgument where there is none
template <class Messages>
std::vector<CostModel<Messages>> cost_models(
    const Platform& platform, const Placement& placement, const std::set<int>& channels,
    const std::function<Expression(const Messages&, const Placement&)>& in_tau_lop,
    const std::function<double(const Messages&, const std::function<double(const Message&)>&)>& serial_s) {
  const ModelledBy by = modelled_by(platform, channels);
  const auto channel = [&platform, &placement](const Message& message) -> const Channel& {
    return platform.channel(placement.channel(message.from, message.to).channel);
  };
  std::vector<CostModel<Messages>> models;
  if (by.tau_lop) {
    const TauLop tau_lop(platform, BeyondMeasured::proportional);
    const double infinity = std::numeric_limits<double>::infinity();
    // Longer than what overhead matters for, on the channels in use: A1 neglects overheads.
    const Evaluation evaluation{std::nextafter(tau_lop.overhead_matters_up_to_bytes(channels), infinity)};
    for (const bool aligned : {true, false}) {
      models.push_back({cost_model_names()[aligned ? 0 : 1], [=, &placement](const Messages& messages) {
                          const Expression sent = in_tau_lop(messages, placement);
                          return models::cost_s(
                              aligned ? aligned_form(sent, tau_lop, evaluation) : event_form(sent, tau_lop, evaluation),
                              tau_lop, evaluation);
                        }});
    }
  }
  // HLogGP::from_links() of the channels' parameters takes the same time for a message, but asks for P x P channels.
  if (by.loggp) {
    models.push_back({cost_model_names()[2], [=](const Messages& messages) {
                        return serial_s(messages, [&](const Message& message) {
                          return channel(message).loggp->time_s(message.bytes);
                        });
                      }});
  }
  if (by.hockney) {
    models.push_back({cost_model_names()[3], [=](const Messages& messages) {
                        return serial_s(messages,
                                        [&](const Message& message) { return channel(message).time_s(message.bytes); });
                      }});
  }
  return models;
}

/// Seconds of message patterns by one model.
struct PatternCosts {
  std::string model;           ///< as in cost_model_names()
  std::vector<double> time_s;  ///< of each pattern, as if nothing else went on
};

/// By each model whose parameters all channels have that any of the patterns uses; nothing to send costs nothing by all
/// of them. See cost_models().
/// @throws InvalidArgument where no model has parameters, or no channel joins two processes
std::vector<PatternCosts> pattern_costs(std::span<const MessagePattern> patterns, const Platform& platform,
                                        const Placement& placement);

}  // namespace steelyard::models
