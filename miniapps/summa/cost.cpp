#include "miniapps/summa/cost.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/base/errors.hpp"
#include "miniapps/summa/pivot_messages.hpp"
#include "models/communication/aligned_evaluation.hpp"
#include "models/communication/event_evaluation.hpp"

namespace steelyard::summa {
namespace {

using models::Channel;

struct CostModel {
  std::string name;
  std::function<double(const PivotMessages&)> cost_s;
};

/// Iterations by what they send.
struct DistinctIterations {
  std::vector<PivotMessages> messages;
  std::vector<std::size_t> of_iteration;  ///< index into `messages`
};

DistinctIterations distinct_iterations(const Problem& problem, const PivotSenders& senders) {
  DistinctIterations distinct;
  std::map<std::vector<std::int64_t>, std::size_t> known;
  for (std::int64_t k = 0; k < problem.blocks(); ++k) {
    const auto [found, is_new] = known.emplace(senders.key(k), distinct.messages.size());
    if (is_new) distinct.messages.push_back(senders.messages(k));
    distinct.of_iteration.push_back(found->second);
  }
  return distinct;
}

/// Ids of the channels that carry messages. @throws InvalidArgument where none joins two processes
std::set<int> channels_in_use(const std::vector<PivotMessages>& iterations, const models::Placement& placement) {
  std::set<int> channels;
  for (const PivotMessages& stages : iterations) {
    for (const std::vector<PatternChain>& chains : stages) {
      for (const PatternChain& chain : chains) {
        for (const models::MessagePattern& pattern : chain) {
          for (const models::Phase& phase : pattern.phases) {
            for (const models::Message& message : phase.messages) {
              channels.insert(placement.channel(message.from, message.to).channel);
            }
          }
        }
      }
    }
  }
  return channels;
}

bool has_tau_lop(const models::Platform& platform, const Channel& channel) {
  return channel.tau_lop.has_value() && std::all_of(channel.path.begin(), channel.path.end(),
                                                    [&](int id) { return platform.channel(id).tau_lop.has_value(); });
}

/// Those of cost_models() that have parameters for the channels.
std::vector<CostModel> usable_models(const models::Platform& platform, const models::Placement& placement,
                                     const std::set<int>& channels) {
  const auto all_have = [&](const std::function<bool(const Channel&)>& has) {
    return std::all_of(channels.begin(), channels.end(), [&](int id) { return has(platform.channel(id)); });
  };
  const auto channel = [&](const models::Message& message) -> const Channel& {
    return platform.channel(placement.channel(message.from, message.to).channel);
  };
  std::vector<CostModel> usable;
  if (all_have([&](const Channel& one) { return has_tau_lop(platform, one); })) {
    const models::TauLop tau_lop(platform, models::BeyondMeasured::proportional);
    const double infinity = std::numeric_limits<double>::infinity();
    // Longer than what overhead matters for: A1 neglects overheads.
    const models::Evaluation evaluation{
        channels.empty() ? 0.0 : std::nextafter(tau_lop.overhead_matters_up_to_bytes(), infinity)};
    for (const bool aligned : {true, false}) {
      usable.push_back({cost_models()[aligned ? 0 : 1], [=, &placement](const PivotMessages& messages) {
                          const models::Expression sent = expression(messages, placement);
                          return models::cost_s(aligned ? models::aligned_form(sent, tau_lop, evaluation)
                                                        : models::event_form(sent, tau_lop, evaluation),
                                                tau_lop, evaluation);
                        }});
    }
  }
  // HLogGP::from_links() of the channels' parameters takes the same time for a message, but asks for P x P channels.
  if (all_have([](const Channel& one) { return one.loggp.has_value(); })) {
    usable.push_back({cost_models()[2], [=](const PivotMessages& messages) {
                        return serial_cost_s(messages, [&](const models::Message& message) {
                          return channel(message).loggp->time_s(message.bytes);
                        });
                      }});
  }
  if (all_have([](const Channel& one) { return !one.hockney.empty(); })) {
    usable.push_back({cost_models()[3], [=](const PivotMessages& messages) {
                        return serial_cost_s(messages, [&](const models::Message& message) {
                          return channel(message).time_s(message.bytes);
                        });
                      }});
  }
  return usable;
}

}  // namespace

double CommunicationCost::total_s() const { return std::accumulate(iteration_s.begin(), iteration_s.end(), 0.0); }

const std::vector<std::string>& cost_models() {
  static const std::vector<std::string> names{"tau-Lop", "tau-Lop event", "HLogGP", "Hockney"};
  return names;
}

std::vector<CommunicationCost> communication_costs(const Problem& problem,
                                                   std::span<const partition::Rectangle> rectangles,
                                                   double element_bytes, Communication communication,
                                                   const models::Platform& platform,
                                                   const models::Placement& placement) {
  if (static_cast<int>(rectangles.size()) != placement.processes()) {
    throw InvalidArgument(fmt::format("{} rectangles for {} processes that have a place (expected one each)",
                                      rectangles.size(), placement.processes()));
  }
  const PivotSenders senders(problem, rectangles, element_bytes, communication);
  const DistinctIterations distinct = distinct_iterations(problem, senders);
  const std::set<int> channels = channels_in_use(distinct.messages, placement);
  const std::vector<CostModel> models = usable_models(platform, placement, channels);
  if (models.empty()) {
    throw InvalidArgument(
        fmt::format("{}: channels {} have no model's parameters all of them (expected those of tau-Lop, LogGP or "
                    "Hockney)",
                    platform.path.empty() ? "platform" : platform.path, fmt::join(channels, ", ")));
  }
  std::vector<CommunicationCost> costs;
  for (const CostModel& model : models) {
    std::vector<double> distinct_s;
    distinct_s.reserve(distinct.messages.size());
    for (const PivotMessages& messages : distinct.messages) distinct_s.push_back(model.cost_s(messages));
    CommunicationCost cost{model.name, {}};
    for (const std::size_t index : distinct.of_iteration) cost.iteration_s.push_back(distinct_s[index]);
    costs.push_back(std::move(cost));
  }
  return costs;
}

Cost total_cost(const Problem& problem, const std::vector<double>& iteration_s, Communication communication,
                double update_s, double start_s) {
  const auto iterations = static_cast<std::size_t>(problem.blocks());
  if (iteration_s.size() != iterations) {
    throw InvalidArgument(
        fmt::format("costs of {} iterations (expected one for each of {})", iteration_s.size(), iterations));
  }
  Cost cost;
  for (std::size_t k = 0; k < iterations; ++k) {
    const double share =
        static_cast<double>(problem.depth(static_cast<std::int64_t>(k))) / static_cast<double>(problem.block);
    const double one_s = update_s * share + start_s;
    const bool overlaps = communication == Communication::pipelined && k + 1 < iterations;
    cost.communication_s += iteration_s[k];
    cost.computation_s += one_s;
    if (communication != Communication::pipelined || k == 0) cost.total_s += iteration_s[k];
    cost.total_s += overlaps ? std::max(one_s, iteration_s[k + 1]) : one_s;
  }
  return cost;
}

}  // namespace steelyard::summa
