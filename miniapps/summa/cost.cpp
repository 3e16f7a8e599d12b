#include "miniapps/summa/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/base/errors.hpp"
#include "miniapps/summa/pivot_messages.hpp"
#include "models/communication/cost_models.hpp"

namespace steelyard::summa {
namespace {

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

}  // namespace

double CommunicationCost::total_s() const { return std::accumulate(iteration_s.begin(), iteration_s.end(), 0.0); }

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
  const auto models = models::cost_models<PivotMessages>(
      platform, placement, channels_in_use(distinct.messages, placement),
      [](const PivotMessages& messages, const models::Placement& at) { return expression(messages, at); },
      [](const PivotMessages& messages, const std::function<double(const models::Message&)>& message_s) {
        return serial_cost_s(messages, message_s);
      });
  std::vector<CommunicationCost> costs;
  for (const auto& model : models) {
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
