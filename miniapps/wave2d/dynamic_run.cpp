#include "miniapps/wave2d/dynamic_run.hpp"

#include <algorithm>

#include "comm/collective.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "partition/algorithms.hpp"

namespace steelyard::wave2d {
namespace {

/// Both levels are copied out of one unit's memory and into another's, and all memory is allocated anew.
constexpr double copies_of_a_move = 6.0;

partition::LoadBalancerOptions balancer_options(const Problem& problem, double element_bytes, double bytes_per_s) {
  partition::LoadBalancerOptions options;
  options.window = 3;
  options.redistribution_s = copies_of_a_move * element_bytes * problem.points() / std::max(bytes_per_s, 1.0);
  return options;
}

}  // namespace

template <class Scalar>
DynamicRun<Scalar>::DynamicRun(const Session& session, const std::vector<Slot>& slots, const Problem& problem,
                               const std::string& algorithm, double bytes_per_s)
    : session_(session),
      slots_(slots),
      problem_(problem),
      balancer_(problem.rows, slots.size(), partition::find_algorithm(algorithm),
                balancer_options(problem, sizeof(Scalar), bytes_per_s)) {}

template <class Scalar>
StepTimes DynamicRun<Scalar>::advance(Simulation<Scalar>& simulation, std::int64_t steps, int time_tile) {
  StepTimes all;
  for (std::int64_t done = 0; done < steps; done += time_tile) {
    const std::int64_t pass = std::min<std::int64_t>(time_tile, steps - done);
    const StepTimes times = simulation.advance(pass);
    all += times;
    // A last, shorter pass says nothing about the others.
    if (done + time_tile >= steps) break;
    std::vector<double> slot_s = gather_seconds(session_, slots_, {times.host_s, times.companion_s});
    partition::BalancingDecision decision = partition::BalancingDecision::measuring;
    collectively(session_.comm(), [&] {
      for (double& seconds : slot_s) seconds = std::max(seconds, 1e-9);
      const double remaining = static_cast<double>(steps - done) / time_tile - 1.0;
      decision = balancer_.record(slot_s, remaining);
    });
    if (decision == partition::BalancingDecision::repartitioned) {
      redistribution_s_ += simulation.redistribute(row_slices(problem_, balancer_.current().units));
    }
  }
  return all;
}

template <class Scalar>
void DynamicRun<Scalar>::record(RunRecord& record) const {
  record.distribution = balancer_.current().units;
  record.figures["repartitions"] = balancer_.repartitions();
  record.figures["redistribution_time_s"] = redistribution_s_;
}

template class DynamicRun<double>;
template class DynamicRun<float>;

}  // namespace steelyard::wave2d
