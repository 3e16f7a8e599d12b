#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <vector>

#include "tests/models/fork_join.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::tests {

/// When the last transmission of an expression ends, by moving time in steps: in each, every one of k transmissions on
/// a channel advances by bandwidth / k^alpha of it. What ends within a step ends with it, so that this is late by up to
/// a step for each transmission that waited for another.
inline double fluid_end_s(const models::Expression& expression, const SharedChannels& channels, double step_s) {
  struct Flow {
    ForkJoin::Started what;
    double left;
  };
  ForkJoin order(expression);
  std::vector<Flow> flows;
  for (const ForkJoin::Started& started : order.start()) flows.push_back({started, started.size});
  std::int64_t steps = 0;
  while (!order.done()) {
    ++steps;
    std::map<models::ChannelInstance, int> sharing;
    for (const Flow& flow : flows) ++sharing[flow.what.channel];
    std::map<models::ChannelInstance, double> advance;
    for (const auto& [channel, count] : sharing) {
      const SharedChannel& shared = channels.at(channel.channel);
      advance[channel] = step_s * shared.bandwidth_bytes_per_s / std::pow(count, shared.alpha);
    }
    std::vector<Flow> next;
    for (Flow& flow : flows) {
      flow.left -= advance[flow.what.channel];
      if (flow.left > 0.0) {
        next.push_back(flow);
        continue;
      }
      for (const ForkJoin::Started& started : order.finish(flow.what.node, step_s * static_cast<double>(steps), 0)) {
        next.push_back({started, started.size});
      }
    }
    flows = std::move(next);
  }
  return step_s * static_cast<double>(steps);
}

}  // namespace steelyard::tests
