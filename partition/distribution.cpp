#include "partition/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "core/base/errors.hpp"

namespace steelyard::partition {

double Distribution::makespan_s() const {
  return predicted_s.empty() ? 0.0 : *std::max_element(predicted_s.begin(), predicted_s.end());
}

double Distribution::imbalance() const {
  const double longest = makespan_s();
  double shortest = longest;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (units[i] > 0) shortest = std::min(shortest, predicted_s[i]);
  }
  return longest > 0.0 ? (longest - shortest) / longest : 0.0;
}

Distribution predict(std::vector<std::int64_t> units, Models models) {
  if (units.size() != models.size()) {
    throw InvalidArgument(fmt::format("{} slices for {} models (expected as many)", units.size(), models.size()));
  }
  Distribution distribution{std::move(units), {}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    distribution.predicted_s.push_back(models[i]->time_s(static_cast<double>(distribution.units[i])));
  }
  return distribution;
}

std::int64_t capacity(const models::SpeedModel& model, std::int64_t total) {
  const double most = std::floor(model.max_units());
  return most >= static_cast<double>(total) ? total : static_cast<std::int64_t>(most);
}

void require_feasible(std::int64_t total, Models models) {
  if (total < 0) throw InvalidArgument(fmt::format("{} computation units to distribute (expected >= 0)", total));
  if (models.empty()) throw InvalidArgument("no processing units to distribute over (expected at least one)");
  std::int64_t room = 0;
  for (const models::SpeedModel* model : models) {
    room += std::min(capacity(*model, total), total - room);
  }
  if (room < total) {
    throw InvalidArgument(
        fmt::format("{} computation units do not fit: the processing units hold {} together", total, room));
  }
}

void distribute_remainder(std::int64_t remainder, std::vector<std::int64_t>& units, Models models) {
  struct Offer {
    double time_s;
    std::size_t index;
    bool operator>(const Offer& other) const {
      return time_s != other.time_s ? time_s > other.time_s : index > other.index;
    }
  };
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers;
  const auto offer = [&](std::size_t index) {
    const double next = static_cast<double>(units[index] + 1);
    if (next <= models[index]->max_units()) offers.push({models[index]->time_s(next), index});
  };
  for (std::size_t i = 0; i < units.size(); ++i) offer(i);
  for (; remainder > 0; --remainder) {
    if (offers.empty()) {
      throw InvalidArgument(fmt::format("{} computation units do not fit on any processing unit", remainder));
    }
    const std::size_t index = offers.top().index;
    offers.pop();
    ++units[index];
    offer(index);
  }
}

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
