#include "miniapps/fft2d/prediction.hpp"

#include <algorithm>

#include "comm/collective.hpp"
#include "miniapps/app/start_seconds.hpp"

namespace steelyard::fft2d {

std::vector<double> Prediction::unit_s() const {
  std::vector<double> seconds = assignment.rows.predicted_s;
  for (std::size_t i = 0; i < seconds.size(); ++i) seconds[i] += assignment.columns.predicted_s[i];
  return seconds;
}

MessageFacts message_facts(const Session& session, const Problem& problem, const ExchangeChoice& exchange,
                           double point_bytes) {
  const auto ranks = static_cast<double>(session.size());
  const double matrix =
      point_bytes * static_cast<double>(problem.rows) * static_cast<double>(problem.spectrum_columns());
  const double block = matrix / (ranks * ranks);
  return {block / (2.0 * exchange.parts()), block, matrix / ranks};
}

Prediction predict(const Session& session, CoExecution& co_execution, const Problem& problem,
                   const ExchangeChoice& exchange, double point_bytes, const std::vector<Slot>& slots,
                   const Assignment& assignment, const std::optional<models::Platform>& platform, double bytes_per_s) {
  Prediction prediction;
  prediction.assignment = assignment;
  TransformCost& cost = prediction.cost;
  std::vector<int> ranks;
  for (const Slot& slot : slots) ranks.push_back(slot.rank);
  cost.start_s = start_seconds(session, co_execution);
  const PassPlans plans = plan_passes(problem, assignment, ranks, exchange);
  cost.rows = kernel_cost(ranks, assignment.rows.predicted_s, exchange);
  cost.columns = kernel_cost(ranks, assignment.columns.predicted_s, exchange);
  if (platform) {
    const models::Placement placement = place_ranks(session, *platform);
    collectively(session.comm(), [&] {
      prediction.exchange = exchange_costs(plans, point_bytes, *platform, placement);
      add_exchange(cost, prediction.exchange.front(), plans, *platform, placement);
    });
  }
  if (bytes_per_s > 0.0) cost.unpack_s = unpack_bytes(plans.columns, point_bytes) / bytes_per_s;
  return prediction;
}

}  // namespace steelyard::fft2d
