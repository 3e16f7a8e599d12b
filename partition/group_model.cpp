#include "partition/group_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.hpp"

namespace steelyard::partition {
namespace {

/// Whole computation units that all hold together; a group that holds none still needs a limit above 0.
double limit_of(Models models, std::int64_t total) {
  std::int64_t room = 0;
  for (const models::SpeedModel* model : models) room += std::min(capacity(*model, total), total - room);
  return room > 0 ? static_cast<double>(room) : 0.5;
}

}  // namespace

GroupModel::GroupModel(std::vector<const models::SpeedModel*> units, const Algorithm& inner, std::int64_t total)
    : SpeedModel(limit_of(units, total)), units_(std::move(units)), inner_(inner) {
  if (units_.empty()) throw InvalidArgument("a group without processing units (expected at least one)");
}

double GroupModel::makespan_s(std::int64_t size) const {
  const auto [place, is_new] = makespans_s_.try_emplace(size, std::numeric_limits<double>::infinity());
  if (is_new) {
    try {
      place->second = distribute(size).makespan_s();
    } catch (const InvalidArgument&) {
      // The outer algorithm asks for sizes that it will not choose, so one that cannot be done is no mistake.
    }
  }
  return place->second;
}

double GroupModel::fitted_speed(double units) const {
  const double whole = std::max(1.0, std::floor(units));
  const auto size = static_cast<std::int64_t>(whole);
  if (!fits(whole)) {
    // No size is asked for then but parts of one unit of work, by algorithms that want some speed.
    double sum = 0.0;
    for (const models::SpeedModel* unit : units_) sum += unit->speed(0.0);
    return sum;
  }
  double time_s = makespan_s(size);
  if (units < 1.0) return 1.0 / time_s;
  if (units > whole) time_s = std::lerp(time_s, fits(whole + 1.0) ? makespan_s(size + 1) : time_s, units - whole);
  return units / time_s;
}

double GroupModel::units_within(double time_s) const {
  if (!profile_) profile_.emplace(*this, capacity(*this, std::numeric_limits<std::int64_t>::max()));
  return static_cast<double>(profile_->largest_within(time_s, 0, profile_->capacity()));
}

std::vector<double> GroupModel::breakpoints() const {
  std::vector<double> sizes;
  for (const models::SpeedModel* unit : units_) {
    for (const double breakpoint : unit->breakpoints()) {
      if (!unit->fits(breakpoint)) continue;
      double sum = 0.0;
      for (const models::SpeedModel* each : units_) {
        sum += each == unit ? breakpoint : std::floor(each->units_within(unit->time_s(breakpoint)));
      }
      if (sum > 0.0 && fits(sum)) sizes.push_back(sum);
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace steelyard::partition
