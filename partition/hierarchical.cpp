#include "partition/hierarchical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::partition {

// A group that holds no whole computation unit still needs a limit above 0.
GroupModel::GroupModel(std::vector<const models::SpeedModel*> units, const Algorithm& inner, std::int64_t total)
    : SpeedModel(std::max(0.5, static_cast<double>(capacity(units, total)))), units_(std::move(units)), inner_(inner) {
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
  std::set<double> sizes;
  for (const models::SpeedModel* unit : units_) {
    for (const double breakpoint : unit->breakpoints()) {
      if (!unit->fits(breakpoint)) continue;
      double sum = 0.0;
      for (const models::SpeedModel* each : units_) {
        sum += each == unit ? breakpoint : std::floor(each->units_within(unit->time_s(breakpoint)));
      }
      if (sum > 0.0 && fits(sum)) sizes.insert(sum);
    }
  }
  return {sizes.begin(), sizes.end()};
}

HierarchicalDistribution hierarchical(std::int64_t total, Models models, std::span<const int> group_of_unit,
                                      const Algorithm& outer, const Algorithm& inner) {
  require_feasible(total, models);
  if (group_of_unit.size() != models.size()) {
    throw InvalidArgument(
        fmt::format("{} group numbers for {} models (expected as many)", group_of_unit.size(), models.size()));
  }
  std::map<int, std::vector<std::size_t>> groups;  // the units of each
  for (std::size_t i = 0; i < models.size(); ++i) groups[group_of_unit[i]].push_back(i);

  std::deque<GroupModel> kinds;
  std::vector<const GroupModel*> kind_of_group;
  std::vector<const models::SpeedModel*> group_models;
  const auto same = [](const auto* one, const auto* other) { return same_model(*one, *other); };
  for (const auto& [number, members] : groups) {
    std::vector<const models::SpeedModel*> units;
    for (const std::size_t unit : members) units.push_back(models[unit]);
    auto kind = std::ranges::find_if(
        kinds, [&](const GroupModel& known) { return std::ranges::equal(known.units(), units, same); });
    if (kind == kinds.end()) {
      kinds.emplace_back(units, inner, total);
      kind = kinds.end() - 1;
    }
    kind_of_group.push_back(&*kind);
    // Groups alike have the same model, so that an algorithm looks at it once.
    group_models.push_back(units.size() == 1 ? kind->units().front() : &*kind);
  }

  const std::vector<std::int64_t> shares = outer.distribute(total, group_models).units;
  std::vector<std::int64_t> units(models.size(), 0);
  std::map<std::pair<const GroupModel*, std::int64_t>, std::vector<std::int64_t>> known;
  std::size_t group = 0;
  for (const auto& [number, members] : groups) {
    auto& split = known[{kind_of_group[group], shares[group]}];
    if (split.empty()) split = kind_of_group[group]->distribute(shares[group]).units;
    for (std::size_t i = 0; i < split.size(); ++i) units[members[i]] = split[i];
    ++group;
  }

  return {predict(std::move(units), models), shares};
}

}  // namespace steelyard::partition
