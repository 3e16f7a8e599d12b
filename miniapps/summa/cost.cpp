#include "miniapps/summa/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/base/errors.hpp"
#include "models/communication/collective_patterns.hpp"
#include "models/communication/cost_models.hpp"
#include "models/communication/message_pattern.hpp"
#include "partition/rectangles/bands.hpp"
#include "partition/rectangles/partition_patterns.hpp"

namespace steelyard::summa {
namespace {

using models::Expression;
using models::MessagePattern;
using partition::Rectangle;

/// The messages of one iteration: stages one after the other, the patterns of a stage at the same time.
using PivotMessages = std::vector<std::vector<MessagePattern>>;

/// In tau-Lop's terms. @throws InvalidArgument as models::expression()
Expression expression(const PivotMessages& stages, const models::Placement& placement) {
  std::vector<Expression> sequence;
  for (const std::vector<MessagePattern>& stage : stages) {
    std::vector<Expression> at_once;
    for (const MessagePattern& pattern : stage) at_once.push_back(models::expression(pattern, placement));
    sequence.push_back(models::concurrently(std::move(at_once)));
  }
  return models::in_sequence(std::move(sequence));
}

/// By models without contention: sum over the stages of the dearest pattern. @param message_s seconds of one message
double serial_cost_s(const PivotMessages& stages, const std::function<double(const models::Message&)>& message_s) {
  double seconds = 0.0;
  for (const std::vector<MessagePattern>& stage : stages) {
    double dearest_s = 0.0;
    for (const MessagePattern& pattern : stage) {
      dearest_s = std::max(dearest_s, models::serial_cost_s(pattern, message_s));
    }
    seconds += dearest_s;
  }
  return seconds;
}

/// The messages of every iteration, exact to the byte where the last blocks are smaller.
class PivotSenders {
 public:
  PivotSenders(const Problem& problem, std::span<const Rectangle> rectangles, double element_bytes,
               Communication communication)
      : problem_(problem),
        rectangles_(rectangles.begin(), rectangles.end()),
        element_bytes_(element_bytes),
        communication_(communication) {
    for (const Rectangle& rectangle : rectangles) tiles_.push_back(problem.tile(rectangle));
    if (communication == Communication::bcast) bands_ = {partition::row_bands(tiles_), partition::column_bands(tiles_)};
  }

  /// Whether iteration k has the messages of the one before: pivots of the same owners and depth.
  bool repeats(std::int64_t k) const {
    return k > 0 && problem_.depth(k) == problem_.depth(k - 1) &&
           std::ranges::all_of(rectangles_, [&](const Rectangle& rectangle) {
             return owns(rectangle, Pivot::column, k) == owns(rectangle, Pivot::column, k - 1) &&
                    owns(rectangle, Pivot::row, k) == owns(rectangle, Pivot::row, k - 1);
           });
  }

  PivotMessages messages(std::int64_t k) const {
    if (communication_ == Communication::bcast) return {broadcasts(Pivot::column, k), broadcasts(Pivot::row, k)};
    MessagePattern pattern = partition::summa_pattern(tiles_, problem_.first_row(k), problem_.depth(k), element_bytes_);
    if (communication_ == Communication::pipelined) {
      models::Phase& all = pattern.phases.front();
      std::ranges::copy(pattern.phases.back().messages, std::back_inserter(all.messages));
      all.sends = models::Phase::Sends::at_once;
      pattern.phases.pop_back();
    }
    return {{std::move(pattern)}};
  }

 private:
  /// Of every owner of a part of the pivot, a broadcast in each of its bands, one after the other.
  std::vector<MessagePattern> broadcasts(Pivot pivot, std::int64_t k) const {
    std::map<int, MessagePattern> by_owner;
    for (const partition::Band& band : bands_[static_cast<std::size_t>(pivot)]) {
      const auto root = std::find_if(band.units.begin(), band.units.end(), [&](int unit) {
        return owns(rectangles_[static_cast<std::size_t>(unit)], pivot, k);
      });
      if (root == band.units.end() || band.units.size() == 1) continue;
      // Counted from the root on, as MPI does.
      std::vector<int> units(root, band.units.end());
      units.insert(units.end(), band.units.begin(), root);
      const double bytes = element_bytes_ * static_cast<double>(band.count * problem_.depth(k));
      MessagePattern& pattern = by_owner[*root];
      pattern.processes = static_cast<int>(tiles_.size());
      for (models::Phase& phase : models::binomial_broadcast(static_cast<int>(units.size()), bytes).phases) {
        for (models::Message& message : phase.messages) {
          message.from = units[static_cast<std::size_t>(message.from)];
          message.to = units[static_cast<std::size_t>(message.to)];
        }
        pattern.phases.push_back(std::move(phase));
      }
    }
    std::vector<MessagePattern> patterns;
    for (auto& [owner, pattern] : by_owner) patterns.push_back(std::move(pattern));
    return patterns;
  }

  Problem problem_;
  std::vector<Rectangle> rectangles_, tiles_;  ///< in blocks and in elements
  double element_bytes_;
  Communication communication_;
  std::array<std::vector<partition::Band>, 2> bands_;  ///< of each pivot, in elements; of bcast only
};

/// Ids of the channels that carry messages. @throws InvalidArgument where none joins two processes
std::set<int> channels_in_use(const std::vector<PivotMessages>& iterations, const models::Placement& placement) {
  std::set<int> channels;
  for (const PivotMessages& stages : iterations) {
    for (const std::vector<MessagePattern>& stage : stages) {
      for (const MessagePattern& pattern : stage) {
        for (const models::Phase& phase : pattern.phases) {
          for (const models::Message& message : phase.messages) {
            channels.insert(placement.channel(message.from, message.to).channel);
          }
        }
      }
    }
  }
  return channels;
}

}  // namespace

double CommunicationCost::total_s() const { return std::accumulate(iteration_s.begin(), iteration_s.end(), 0.0); }

std::vector<CommunicationCost> communication_costs(const Problem& problem, std::span<const Rectangle> rectangles,
                                                   double element_bytes, Communication communication,
                                                   const models::Platform& platform,
                                                   const models::Placement& placement) {
  if (static_cast<int>(rectangles.size()) != placement.processes()) {
    throw InvalidArgument(fmt::format("{} rectangles for {} processes that have a place (expected one each)",
                                      rectangles.size(), placement.processes()));
  }
  const PivotSenders senders(problem, rectangles, element_bytes, communication);
  std::vector<PivotMessages> distinct;
  std::vector<std::size_t> of_iteration;  // index into `distinct`
  for (std::int64_t k = 0; k < problem.blocks(); ++k) {
    if (!senders.repeats(k)) distinct.push_back(senders.messages(k));
    of_iteration.push_back(distinct.size() - 1);
  }
  std::vector<CommunicationCost> costs;
  for (const auto& model : models::cost_models<PivotMessages>(platform, placement, channels_in_use(distinct, placement),
                                                              expression, serial_cost_s)) {
    std::vector<double> distinct_s;
    for (const PivotMessages& messages : distinct) distinct_s.push_back(model.cost_s(messages));
    CommunicationCost& cost = costs.emplace_back(CommunicationCost{model.name, {}});
    for (const std::size_t index : of_iteration) cost.iteration_s.push_back(distinct_s[index]);
  }
  return costs;
}

partition::RectangleCost rectangle_cost(const Problem& problem, double element_bytes, Communication communication,
                                        const models::Platform& platform, const models::Placement& placement) {
  return [=, &platform, &placement](const partition::ColumnPartition& columns) {
    const double mean_s =
        communication_costs(problem, columns.rectangles, element_bytes, communication, platform, placement)
            .front()
            .total_s() /
        static_cast<double>(problem.blocks());
    std::vector<double> cost_s;
    for (const Rectangle& rectangle : columns.rectangles) cost_s.push_back(rectangle.empty() ? 0.0 : mean_s);
    return cost_s;
  };
}

Cost total_cost(const Problem& problem, const std::vector<double>& iteration_s, Communication communication,
                double update_s, double start_s) {
  const auto iterations = static_cast<std::size_t>(problem.blocks());
  if (iteration_s.size() != iterations) {
    throw InvalidArgument(
        fmt::format("costs of {} iterations (expected one for each of {})", iteration_s.size(), iterations));
  }
  const bool overlaps = communication == Communication::pipelined;
  Cost cost{0.0, start_s, start_s};
  for (std::size_t k = 0; k < iterations; ++k) {
    const auto depth = static_cast<double>(problem.depth(static_cast<std::int64_t>(k)));
    const double one_s = update_s * (depth / static_cast<double>(problem.block));
    cost.communication_s += iteration_s[k];
    cost.computation_s += one_s;
    if (!overlaps || k == 0) cost.total_s += iteration_s[k];
    cost.total_s += overlaps && k + 1 < iterations ? std::max(one_s, iteration_s[k + 1]) : one_s;
  }
  return cost;
}

}  // namespace steelyard::summa
