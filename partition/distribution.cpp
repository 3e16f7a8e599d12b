#include "partition/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

std::vector<std::int64_t> even_slices(std::int64_t total, std::size_t unit_count) {
  if (total < 0) throw InvalidArgument(fmt::format("{} computation units to distribute (expected >= 0)", total));
  if (unit_count == 0) throw InvalidArgument("no processing units to distribute over (expected at least one)");
  const auto count = static_cast<std::int64_t>(unit_count);
  std::vector<std::int64_t> slices;
  for (std::int64_t i = 0; i < count; ++i) slices.push_back(total / count + (i < total % count ? 1 : 0));
  return slices;
}

std::int64_t capacity(const models::SpeedModel& model, std::int64_t total) {
  const double most = std::floor(model.max_units());
  return most >= static_cast<double>(total) ? total : static_cast<std::int64_t>(most);
}

std::int64_t capacity(Models models, std::int64_t total) {
  std::int64_t room = 0;
  for (const models::SpeedModel* model : models) room += std::min(capacity(*model, total), total - room);
  return room;
}

void require_feasible(std::int64_t total, Models models) {
  if (total < 0) throw InvalidArgument(fmt::format("{} computation units to distribute (expected >= 0)", total));
  if (models.empty()) throw InvalidArgument("no processing units to distribute over (expected at least one)");
  const std::int64_t room = capacity(models, total);
  if (room < total) {
    throw InvalidArgument(
        fmt::format("{} computation units do not fit: the processing units hold {} together", total, room));
  }
}

std::vector<std::int64_t> proportional_parts(std::int64_t total, std::span<const double> shares,
                                             std::span<const double> seconds_per_part) {
  // By a power of two, which changes no quotient, so that the sum of large shares is finite.
  const int exponent = std::ilogb(*std::max_element(shares.begin(), shares.end()));
  const auto share = [&](std::size_t i) { return std::scalbn(shares[i], -exponent); };
  double sum = 0.0;
  for (std::size_t i = 0; i < shares.size(); ++i) sum += share(i);
  std::vector<std::int64_t> parts;
  std::vector<std::size_t> by_time;
  std::int64_t left = total;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double quota = static_cast<double>(total) * (share(i) / sum);
    // A quota that is whole but for rounding errors counts as whole, else its unit would lose a part to another.
    parts.push_back(static_cast<std::int64_t>(std::floor(quota * (1.0 + 1e-12))));
    left -= parts.back();
    if (shares[i] > 0.0) by_time.push_back(i);
  }
  const auto time_s = [&](std::size_t i) { return static_cast<double>(parts[i] + 1) * seconds_per_part[i]; };
  std::stable_sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) { return time_s(a) < time_s(b); });
  for (std::int64_t i = 0; i < left; ++i) ++parts[by_time[static_cast<std::size_t>(i)]];
  return parts;
}

bool same_model(const models::SpeedModel& one, const models::SpeedModel& other) {
  if (&one == &other) return true;
  const auto same_point = [](const models::MeasuredPoint& a, const models::MeasuredPoint& b) {
    return a.units == b.units && a.time_s == b.time_s && a.confidence_s == b.confidence_s;
  };
  // The cheap differences first: many models are compared with many.
  return !one.points().empty() && one.max_units() == other.max_units() &&
         std::ranges::equal(one.points(), other.points(), same_point) && one.kind() == other.kind() &&
         one.parameters() == other.parameters() && std::ranges::equal(one.dropped(), other.dropped(), same_point) &&
         one.breakpoints() == other.breakpoints();
}

}  // namespace steelyard::partition
