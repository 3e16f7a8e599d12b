#include "miniapps/wave2d/prediction.hpp"

#include <algorithm>

#include "comm/collective.hpp"
#include "miniapps/app/start_seconds.hpp"

namespace steelyard::wave2d {

MessageFacts message_facts(const Session& session, const Problem& problem, double element_bytes, int least_steps,
                           int most_steps) {
  const auto points = [&](int steps) {
    const HaloDepth depth = halo_depth(problem, steps);
    return static_cast<double>(depth.current + depth.previous) * static_cast<double>(problem.columns);
  };
  const double levels = most_steps > 1 ? 4.0 : 2.0;
  return {element_bytes * points(least_steps), element_bytes * points(most_steps),
          levels * element_bytes * problem.points() / static_cast<double>(session.size())};
}

ExchangeCost predict_exchange(const Session& session, const Problem& problem, const std::vector<Slot>& slots,
                              const std::vector<partition::Rectangle>& rectangles, int steps, double element_bytes,
                              const std::optional<models::Platform>& platform) {
  ExchangeCost cost;
  if (!platform) return cost;
  const models::Placement placement = place_ranks(session, *platform);
  std::vector<int> ranks;
  for (const Slot& slot : slots) ranks.push_back(slot.rank);
  collectively(session.comm(), [&] {
    const std::vector<HaloMessage> messages = halo_messages(problem, rectangles, steps);
    cost =
        exchange_costs(exchange_pattern(messages, ranks, session.size(), element_bytes), *platform, placement).front();
  });
  return cost;
}

Prediction predict(const Session& session, CoExecution& co_execution, const Options& options, const Problem& problem,
                   int time_tile, const std::vector<Slot>& slots, const Assignment& assignment,
                   const std::optional<models::Platform>& platform) {
  Prediction prediction;
  prediction.time_tile = time_tile;
  prediction.assignment = assignment;
  const double element_bytes = options.run.element == ElementType::float64 ? sizeof(double) : sizeof(float);
  const ExchangeCost exchange =
      predict_exchange(session, problem, slots, prediction.assignment.rectangles, time_tile, element_bytes, platform);
  prediction.exchange_model = exchange.model;
  prediction.pass.exchange_s = exchange.time_s;
  // Both units are started twice a pass: for borders and for the interior.
  prediction.pass.start_s = 2.0 * start_seconds(session, co_execution);
  std::vector<int> ranks;
  for (const Slot& slot : slots) ranks.push_back(slot.rank);
  prediction.pass.driving_s = driving_seconds(ranks, assignment.pass_s);
  prediction.pass.kernels_s = prediction.assignment.makespan_s();
  return prediction;
}

}  // namespace steelyard::wave2d
