#include "miniapps/cavity/cost.hpp"

#include <algorithm>

#include "models/communication/collective_patterns.hpp"
#include "models/communication/pattern_costs.hpp"

namespace steelyard::cavity {

MeetingCosts meeting_costs(double row_bytes, int ranks, const models::Platform& platform,
                           const models::Placement& placement) {
  if (ranks < 2) return {};
  // The shortest halo is that of the coarsest grids; what is longer is interpolated.
  constexpr double short_bytes = 512.0;
  constexpr double sum_bytes = 32.0;
  const double long_bytes = std::max(row_bytes, 2.0 * short_bytes);
  const models::MessagePattern patterns[] = {models::recursive_doubling_allreduce(ranks, sum_bytes),
                                             models::halo_1d(ranks, short_bytes), models::halo_1d(ranks, long_bytes)};
  const models::PatternCosts cost = models::pattern_costs(patterns, platform, placement).front();
  MeetingCosts costs;
  costs.model = cost.model;
  costs.sum_s = cost.time_s[0];
  costs.byte_s = std::max(0.0, (cost.time_s[2] - cost.time_s[1]) / (long_bytes - short_bytes));
  costs.exchange_s = std::max(0.0, cost.time_s[1] - short_bytes * costs.byte_s);
  return costs;
}

double communication_s(const Meetings& meetings, const MeetingCosts& costs) {
  return meetings.sums * costs.sum_s + meetings.exchanges * costs.exchange_s + meetings.halo_bytes * costs.byte_s;
}

}  // namespace steelyard::cavity
