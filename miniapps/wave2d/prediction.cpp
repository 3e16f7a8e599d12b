#include "miniapps/wave2d/prediction.hpp"

#include <algorithm>

#include "comm/collective.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/app/start_seconds.hpp"
#include "miniapps/wave2d/pass_sample.hpp"

namespace steelyard::wave2d {
namespace {

/// Phases of a pass of every slot's unit. Collective.
std::vector<UnitTimes> predict_units(const Session& session, CoExecution& co_execution, const RankUnits& units,
                                     const Options& options, const Problem& problem, int steps,
                                     const std::vector<Slot>& slots, const Assignment& assignment) {
  std::vector<std::int64_t> rows;
  for (const partition::Rectangle& part : assignment.rectangles) {
    rows.push_back((part.area() + problem.columns - 1) / problem.columns);
  }
  const PassSamples samples =
      sample_passes(session, co_execution, units, problem, options.run.element, steps, own_share(session, slots, rows),
                    options.serialize ? Overlap::none : Overlap::full);
  const std::vector<EdgePoints> points = edge_points(problem, assignment.rectangles, steps);
  std::vector<UnitTimes> own(2);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].rank != session.rank()) continue;
    const bool is_host = slots[i].kind == ProcessingUnit::Kind::host;
    const UnitSample& sample = is_host ? samples.host : samples.companion;
    own[is_host ? 0 : 1] =
        split_pass(assignment.pass_s[i], assignment.rectangles[i].area(), points[i], sample.times, sample.points);
  }
  std::vector<UnitTimes> all(slots.size());
  for (const auto phase :
       {&UnitTimes::unpacking_s, &UnitTimes::border_s, &UnitTimes::packing_s, &UnitTimes::interior_s}) {
    const std::vector<double> seconds = gather_seconds(session, slots, {own[0].*phase, own[1].*phase});
    for (std::size_t i = 0; i < slots.size(); ++i) all[i].*phase = seconds[i];
  }
  return all;
}

}  // namespace

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

Prediction predict(const Session& session, CoExecution& co_execution, const RankUnits& units, const Options& options,
                   const Problem& problem, int time_tile, const std::vector<Slot>& slots, const Assignment& assignment,
                   const std::optional<models::Platform>& platform) {
  Prediction prediction;
  prediction.time_tile = time_tile;
  prediction.assignment = assignment;
  const double element_bytes = options.run.element == ElementType::float64 ? sizeof(double) : sizeof(float);
  const ExchangeCost exchange =
      predict_exchange(session, problem, slots, prediction.assignment.rectangles, time_tile, element_bytes, platform);
  prediction.exchange_model = exchange.model;
  if (assignment.makespan_s() == 0.0) return prediction;
  std::vector<int> ranks;
  for (const Slot& slot : slots) ranks.push_back(slot.rank);
  prediction.pass =
      pass_cost(ranks, predict_units(session, co_execution, units, options, problem, time_tile, slots, assignment));
  prediction.pass.exchange_s = exchange.time_s;
  // Both units are started twice a pass: for borders and for the interior.
  prediction.pass.start_s = 2.0 * start_seconds(session, co_execution);
  return prediction;
}

}  // namespace steelyard::wave2d
