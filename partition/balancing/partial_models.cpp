#include "partition/balancing/partial_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/errors.hpp"
#include "models/kinds/model_kinds.hpp"
#include "partition/balancing/spread.hpp"

namespace steelyard::partition {

using models::MeasuredPoint;

namespace {

constexpr std::int64_t probe_divisor = 16;  ///< a probe is the even share over this
constexpr double nearest = 0.05;            ///< share of a size within which points may crowd out each other

/// Whether the distance of two sizes is less than what the intervals of their times leave open.
bool indistinct(const MeasuredPoint& a, const MeasuredPoint& b) {
  const double open_share = std::min(nearest, a.confidence_s / a.time_s + b.confidence_s / b.time_s);
  return std::abs(a.units - b.units) < open_share * std::max(a.units, b.units);
}

/// Whether more work took no longer.
bool contradict(const MeasuredPoint& a, const MeasuredPoint& b) {
  return a.units < b.units ? a.time_s >= b.time_s : a.time_s <= b.time_s;
}

bool encloses(const MeasuredPoint& wide, const MeasuredPoint& narrow) {
  return wide.confidence_s > narrow.confidence_s &&
         std::abs(wide.time_s - narrow.time_s) <= wide.confidence_s - narrow.confidence_s;
}

}  // namespace

PartialModels::PartialModels(std::size_t unit_count, std::vector<double> max_units, const std::string& kind)
    : entries_(unit_count), max_units_(std::move(max_units)), kind_(models::find_model_kind(kind).name) {
  if (unit_count == 0) throw InvalidArgument("no processing units to balance (expected at least one)");
  if (max_units_.empty()) max_units_.assign(unit_count, std::numeric_limits<double>::infinity());
  if (max_units_.size() != unit_count) {
    throw InvalidArgument(
        fmt::format("{} memory limits for {} processing units (expected as many)", max_units_.size(), unit_count));
  }
}

bool PartialModels::renew(std::size_t unit, const MeasuredPoint& point, std::size_t most_points) {
  std::vector<Entry>& known = entries_[unit];
  const auto same = std::ranges::find(known, point.units, [](const Entry& entry) { return entry.point.units; });
  bool changed = false;
  if (same != known.end()) {
    changed = clearly_longer(same->point, point) || clearly_longer(point, same->point);
    if (!changed && encloses(point, same->point)) {
      same->age = ++clock_;
      return false;
    }
  }
  std::erase_if(known, [&](const Entry& entry) {
    return changed || entry.point.units == point.units || contradict(entry.point, point) ||
           indistinct(entry.point, point);
  });
  known.push_back({point, ++clock_});
  if (known.size() > most_points) {
    known.erase(std::ranges::min_element(known, {}, [](const Entry& entry) { return entry.age; }));
  }
  std::ranges::sort(known, {}, [](const Entry& entry) { return entry.point.units; });
  return changed;
}

std::vector<MeasuredPoint> PartialModels::points(std::size_t unit) const {
  std::vector<MeasuredPoint> points;
  for (const Entry& entry : entries_[unit]) points.push_back(entry.point);
  return points;
}

std::vector<std::size_t> PartialModels::unknown() const {
  std::vector<std::size_t> units;
  for (std::size_t i = 0; i < size(); ++i) {
    if (entries_[i].empty() && holds_any(i)) units.push_back(i);
  }
  return units;
}

models::SpeedModelPtr PartialModels::model(std::size_t unit) const {
  return models::find_model_kind(kind_).build(points(unit), max_units_[unit], {});
}

Distribution PartialModels::predict(std::vector<std::int64_t> units) const {
  Distribution distribution{std::move(units), {}};
  for (std::size_t i = 0; i < size(); ++i) {
    const std::int64_t slice = distribution.units[i];
    const double unknown_s = slice == 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    distribution.predicted_s.push_back(entries_[i].empty() ? unknown_s : model(i)->time_s(static_cast<double>(slice)));
  }
  return distribution;
}

bool PartialModels::doubtful_below(std::size_t unit, std::int64_t slice) const {
  const std::vector<Entry>& known = entries_[unit];
  if (known.empty() || !holds_any(unit) || known[0].point.units < 2.0) return false;
  if (static_cast<double>(slice) >= known[0].point.units) return false;
  if (slice == 0) return true;
  if (known.size() < 2) return false;
  const double size_ratio = known[0].point.units / known[1].point.units;
  const double time_ratio = known[0].point.time_s / known[1].point.time_s;
  return 1.0 - time_ratio < 0.5 * (1.0 - size_ratio);
}

std::optional<std::vector<std::int64_t>> PartialModels::distribute_rest(std::int64_t total, const Algorithm& algorithm,
                                                                        std::span<const std::int64_t> fixed) const {
  std::vector<std::int64_t> units(fixed.begin(), fixed.end());
  std::vector<models::SpeedModelPtr> owned;
  std::vector<const models::SpeedModel*> free;
  std::vector<std::size_t> places;
  std::int64_t rest = total;
  for (std::size_t i = 0; i < size(); ++i) {
    if (fixed[i] >= 0) {
      rest -= fixed[i];
      continue;
    }
    owned.push_back(model(i));
    free.push_back(owned.back().get());
    places.push_back(i);
  }
  std::int64_t room = 0;
  for (const models::SpeedModel* model : free) room += std::min(capacity(*model, rest), rest - room);
  if (free.empty() || rest < 0 || room < rest) return std::nullopt;
  const Distribution shares = algorithm.distribute(rest, free);
  for (std::size_t i = 0; i < places.size(); ++i) units[places[i]] = shares.units[i];
  return units;
}

std::vector<std::int64_t> PartialModels::distribute(std::int64_t total, const Algorithm& algorithm) const {
  std::vector<std::int64_t> fixed(size(), -1);
  for (std::size_t i = 0; i < size(); ++i) {
    if (entries_[i].empty()) fixed[i] = 0;
  }
  const auto units = distribute_rest(total, algorithm, fixed);
  if (!units) {
    throw InvalidArgument(
        fmt::format("{} computation units do not fit on the processing units that were measured", total));
  }
  return *units;
}

std::vector<std::int64_t> PartialModels::distribute_and_probe(std::int64_t total, const Algorithm& algorithm) const {
  std::vector<std::int64_t> fixed(size(), -1);
  const std::int64_t probe = std::max<std::int64_t>(1, total / static_cast<std::int64_t>(size()) / probe_divisor);
  std::int64_t left = total;
  for (std::size_t i = 0; i < size(); ++i) {
    if (!entries_[i].empty()) continue;
    fixed[i] = std::min({left, probe, static_cast<std::int64_t>(std::floor(std::min(max_units_[i], 1e18)))});
    left -= fixed[i];
  }
  const auto units = distribute_rest(total, algorithm, fixed);
  if (!units) return distribute(total, algorithm);
  bool doubtful = false;
  for (std::size_t i = 0; i < size() && left > 0; ++i) {
    if (fixed[i] >= 0 || !doubtful_below(i, (*units)[i])) continue;
    fixed[i] = 1;
    --left;
    doubtful = true;
  }
  return doubtful ? distribute_rest(total, algorithm, fixed).value_or(*units) : *units;
}

}  // namespace steelyard::partition
