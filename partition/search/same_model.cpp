#include "partition/search/same_model.hpp"

#include <algorithm>

namespace steelyard::partition {
namespace {

bool same_points(std::span<const models::MeasuredPoint> one, std::span<const models::MeasuredPoint> other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const auto& a, const auto& b) {
    return a.units == b.units && a.time_s == b.time_s && a.confidence_s == b.confidence_s;
  });
}

}  // namespace

bool same_model(const models::SpeedModel& one, const models::SpeedModel& other) {
  if (&one == &other) return true;
  // The cheap differences first: many models are compared with many.
  return !one.points().empty() && one.max_units() == other.max_units() && same_points(one.points(), other.points()) &&
         one.kind() == other.kind() && one.parameters() == other.parameters() &&
         same_points(one.dropped(), other.dropped()) && one.breakpoints() == other.breakpoints();
}

}  // namespace steelyard::partition
