#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/base/run_record.hpp"
#include "miniapps/wave2d/simulation.hpp"
#include "partition/balancing/load_balancer.hpp"

namespace steelyard::wave2d {

/// A run that balances itself by the times of its own passes: rows move between units and ranks when the models that
/// these times make promise more than moving costs. Every rank decides the same. Source: 000, section 6.1.5.
template <class Scalar>
class DynamicRun {
 public:
  /// @param algorithm that distributes over the partial models, see partition/algorithms.hpp
  /// @param bytes_per_s at which a level of the field moves, for what moving costs
  DynamicRun(const Session& session, const std::vector<Slot>& slots, const Problem& problem,
             const std::string& algorithm, double bytes_per_s);

  /// From slices as equal as can be. Collective.
  StepTimes advance(Simulation<Scalar>& simulation, std::int64_t steps, int time_tile);

  /// The distribution that it came to, and `repartitions`, `redistribution_time_s`.
  void record(RunRecord& record) const;

 private:
  const Session& session_;
  const std::vector<Slot>& slots_;
  Problem problem_;
  partition::LoadBalancer balancer_;
  double redistribution_s_ = 0.0;
};

}  // namespace steelyard::wave2d
