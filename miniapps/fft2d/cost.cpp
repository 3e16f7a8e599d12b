#include "miniapps/fft2d/cost.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>

#include "partition/algorithms.hpp"
#include "partition/granularity.hpp"

namespace steelyard::fft2d {
std::int64_t slice_granularity(std::int64_t total, std::int64_t point_bytes) {
  constexpr std::int64_t line_bytes = 64;
  return total > 0 ? std::gcd(total, line_bytes / point_bytes) : 1;
}

Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& row_models,
                  const std::vector<const models::SpeedModel*>& column_models, const std::string& partition,
                  std::int64_t point_bytes) {
  const partition::Algorithm& algorithm = partition::find_algorithm(partition);
  const auto distribute = [&](std::int64_t total, const std::vector<const models::SpeedModel*>& models) {
    return partition::distribute_in_multiples(total, models, algorithm, slice_granularity(total, point_bytes));
  };
  return {distribute(problem.rows, row_models), distribute(problem.spectrum_columns(), column_models)};
}

models::MessagePattern exchange_pattern(const PassPlan& plan, int ranks, double point_bytes) {
  models::MessagePattern pattern{"transposition", ranks, {}};
  for (const BlockMessage& message : plan.messages) {
    const auto batch = static_cast<std::size_t>(message.batch);
    while (pattern.phases.size() <= batch) pattern.phases.push_back({{}, models::Phase::Sends::at_once});
    pattern.phases[batch].messages.push_back(
        {plan.from_rank(message), message.to_rank, point_bytes * static_cast<double>(message.points())});
  }
  return pattern;
}

std::vector<models::PatternCosts> exchange_costs(const PassPlans& plans, double point_bytes,
                                                 const models::Platform& platform, const models::Placement& placement) {
  const models::MessagePattern patterns[] = {exchange_pattern(plans.rows, placement.processes(), point_bytes),
                                             exchange_pattern(plans.columns, placement.processes(), point_bytes)};
  return models::pattern_costs(patterns, platform, placement);
}

bool all_by_network(const PassPlan& plan, const models::Platform& platform, const models::Placement& placement) {
  return std::all_of(plan.messages.begin(), plan.messages.end(), [&](const BlockMessage& message) {
    return platform.channel(placement.channel(plan.from_rank(message), message.to_rank).channel).scope ==
           models::Channel::Scope::network;
  });
}

double PassCost::total_s() const {
  if (batches <= 1) return kernels_s + exchange_s;
  const double last_s = exchange_s / batches;
  if (!by_network) return std::max(driving_s + exchange_s, kernels_s + last_s);
  const double share = static_cast<double>(batches - 1) / batches;
  return kernels_s / batches + share * std::max(kernels_s, exchange_s) + last_s;
}

PassCost kernel_cost(const std::vector<int>& rank_of_unit, const std::vector<double>& predicted_s,
                     const ExchangeChoice& exchange) {
  PassCost cost;
  cost.batches = exchange.parts();
  for (std::size_t i = 0; i < predicted_s.size(); ++i) {
    const bool drives = i == 0 || rank_of_unit[i] != rank_of_unit[i - 1];
    cost.kernels_s = std::max(cost.kernels_s, predicted_s[i]);
    if (drives) cost.driving_s = std::max(cost.driving_s, predicted_s[i]);
  }
  return cost;
}

void add_exchange(TransformCost& cost, const models::PatternCosts& exchange, const PassPlans& plans,
                  const models::Platform& platform, const models::Placement& placement) {
  cost.rows.exchange_s = exchange.time_s[0];
  cost.columns.exchange_s = exchange.time_s[1];
  cost.rows.by_network = all_by_network(plans.rows, platform, placement);
  cost.columns.by_network = all_by_network(plans.columns, platform, placement);
}

double unpack_seconds(const PassPlan& second, double point_bytes, const std::vector<double>& slowdowns,
                      double bytes_per_s) {
  std::map<int, std::int64_t> received;  // rows of the pass, by rank
  for (const BlockMessage& message : second.messages) received[message.to_rank] += message.rows.count;
  double longest_s = 0.0;
  for (std::size_t i = 0; i < slowdowns.size(); ++i) {
    const auto points = static_cast<double>(second.columns[i].count * received[second.rank_of_unit[i]]);
    longest_s = std::max(longest_s, slowdowns[i] * 3.0 * point_bytes * points / bytes_per_s);
  }
  return longest_s;
}

}  // namespace steelyard::fft2d
