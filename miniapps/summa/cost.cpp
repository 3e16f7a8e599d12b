#include "miniapps/summa/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
#include "partition/bands.hpp"
#include "partition/partition_patterns.hpp"

namespace steelyard::summa {
namespace {

using models::Expression;
using models::MessagePattern;
using partition::Rectangle;

/// Patterns one after the other.
using PatternChain = std::vector<MessagePattern>;

/// The messages of one iteration: stages one after the other, the chains of a stage at the same time.
using PivotMessages = std::vector<std::vector<PatternChain>>;

Expression joined(Expression (*join)(std::vector<Expression>), std::vector<Expression> parts) {
  return parts.size() == 1 ? std::move(parts.front()) : join(std::move(parts));
}

/// In tau-Lop's terms. @throws InvalidArgument as models::expression()
Expression expression(const PivotMessages& messages, const models::Placement& placement) {
  std::vector<Expression> stages;
  for (const std::vector<PatternChain>& chains : messages) {
    std::vector<Expression> at_once;
    for (const PatternChain& chain : chains) {
      std::vector<Expression> patterns;
      for (const MessagePattern& pattern : chain) patterns.push_back(models::expression(pattern, placement));
      at_once.push_back(joined(models::in_sequence, std::move(patterns)));
    }
    stages.push_back(joined(models::concurrently, std::move(at_once)));
  }
  return joined(models::in_sequence, std::move(stages));
}

/// By models without contention: sum over the stages of the dearest chain. @param message_s seconds of one message
double serial_cost_s(const PivotMessages& messages, const std::function<double(const models::Message&)>& message_s) {
  double seconds = 0.0;
  for (const std::vector<PatternChain>& chains : messages) {
    double dearest_s = 0.0;
    for (const PatternChain& chain : chains) {
      double sum_s = 0.0;
      for (const MessagePattern& pattern : chain) sum_s += models::serial_cost_s(pattern, message_s);
      dearest_s = std::max(dearest_s, sum_s);
    }
    seconds += dearest_s;
  }
  return seconds;
}

/// A binomial tree over the units of a band, counted from the root on as MPI does.
MessagePattern broadcast(const std::vector<int>& units, std::size_t root, int processes, double bytes) {
  MessagePattern pattern = models::binomial_broadcast(static_cast<int>(units.size()), bytes);
  const auto unit = [&](int from_root) { return units[(root + static_cast<std::size_t>(from_root)) % units.size()]; };
  for (models::Phase& phase : pattern.phases) {
    for (models::Message& message : phase.messages) {
      message.from = unit(message.from);
      message.to = unit(message.to);
    }
  }
  pattern.processes = processes;
  return pattern;
}

/// The messages of every iteration, exact to the byte where the last blocks are smaller.
class PivotSenders {
 public:
  PivotSenders(const Problem& problem, std::span<const Rectangle> rectangles, double element_bytes,
               Communication communication)
      : problem_(problem), element_bytes_(element_bytes), communication_(communication) {
    if (rectangles.empty()) throw InvalidArgument("communication of no rectangles (expected at least one)");
    if (!(element_bytes > 0.0 && std::isfinite(element_bytes))) {
      throw InvalidArgument(fmt::format("elements of {} bytes (expected a finite number > 0)", element_bytes));
    }
    for (const Rectangle& rectangle : rectangles) {
      const Tile tile = problem.tile(rectangle);
      tiles_.push_back({tile.row, tile.column, tile.rows, tile.columns});
    }
    if (communication == Communication::bcast) {
      row_bands_ = partition::row_bands(tiles_);
      column_bands_ = partition::column_bands(tiles_);
    }
  }

  /// The owners of the pivot column, -1, the owners of the pivot row, -1, and the depth: iterations in which these are
  /// the same have the same messages.
  std::vector<std::int64_t> key(std::int64_t k) const {
    std::vector<std::int64_t> key;
    for (const bool along_rows : {true, false}) {
      for (std::size_t i = 0; i < tiles_.size(); ++i) {
        if (owns_pivot(i, k, along_rows)) key.push_back(static_cast<std::int64_t>(i));
      }
      key.push_back(-1);
    }
    key.push_back(problem_.depth(k));
    return key;
  }

  PivotMessages messages(std::int64_t k) const {
    if (communication_ == Communication::bcast) {
      return {broadcasts(row_bands_, k, true), broadcasts(column_bands_, k, false)};
    }
    MessagePattern pattern = partition::summa_pattern(tiles_, problem_.first_row(k), problem_.depth(k), element_bytes_);
    if (communication_ == Communication::pipelined) {
      models::Phase& all = pattern.phases.front();
      std::ranges::copy(pattern.phases.back().messages, std::back_inserter(all.messages));
      all.sends = models::Phase::Sends::at_once;
      pattern.phases.pop_back();
    }
    return {{{std::move(pattern)}}};
  }

 private:
  /// Whether a process owns a part of pivot column k, which travels along rows, or of pivot row k.
  bool owns_pivot(std::size_t process, std::int64_t k, bool along_rows) const {
    const std::int64_t first = problem_.first_row(k);
    return along_rows ? owns_column(tiles_[process], first) : owns_row(tiles_[process], first);
  }

  std::vector<PatternChain> broadcasts(const std::vector<partition::Band>& bands, std::int64_t k,
                                       bool along_rows) const {
    std::map<int, PatternChain> by_owner;
    for (const partition::Band& band : bands) {
      const auto owner = std::find_if(band.units.begin(), band.units.end(), [&](int unit) {
        return owns_pivot(static_cast<std::size_t>(unit), k, along_rows);
      });
      if (owner == band.units.end() || band.units.size() == 1) continue;
      const double bytes = element_bytes_ * static_cast<double>(band.count * problem_.depth(k));
      by_owner[*owner].push_back(broadcast(band.units, static_cast<std::size_t>(owner - band.units.begin()),
                                           static_cast<int>(tiles_.size()), bytes));
    }
    std::vector<PatternChain> chains;
    for (auto& [owner, chain] : by_owner) chains.push_back(std::move(chain));
    return chains;
  }

  Problem problem_;
  std::vector<Rectangle> tiles_;  ///< in elements
  double element_bytes_;
  Communication communication_;
  std::vector<partition::Band> row_bands_, column_bands_;  ///< in elements; of bcast only
};

/// Iterations by their messages.
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

std::vector<CommunicationCost> communication_costs(const Problem& problem, std::span<const Rectangle> rectangles,
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
      platform, placement, channels_in_use(distinct.messages, placement), expression, serial_cost_s);
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
