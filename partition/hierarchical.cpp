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
  // Algorithms ask all groups in turn, and groups alike are one.
  if (known_ && known_->first == time_s) return known_->second;
  const std::int64_t all = capacity(*this, std::numeric_limits<std::int64_t>::max());
  double units = 0.0;
  if (is_known_to_grow()) {
    for (const models::SpeedModel* unit : units_) units += std::floor(unit->units_within(time_s));
    units = std::min(units, static_cast<double>(all));
  } else {
    if (!profile_) profile_.emplace(*this, all);
    units = static_cast<double>(profile_->largest_within(time_s, 0, profile_->capacity()));
  }
  known_.emplace(time_s, units);
  return units;
}

bool GroupModel::is_known_to_grow() const {
  if (!grows_) {
    grows_ = inner_.is_least_makespan && std::ranges::all_of(units_, [&](const models::SpeedModel* unit) {
               return TimeProfile(*unit, capacity(*this, std::numeric_limits<std::int64_t>::max())).grows();
             });
  }
  return *grows_;
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

namespace {

/// Groups of processing units, alike where their units have the same models.
class Groups {
 public:
  Groups(Models models, std::span<const int> group_of_unit) : models_(models) {
    std::map<int, std::vector<std::size_t>> by_number;
    for (std::size_t i = 0; i < models.size(); ++i) by_number[group_of_unit[i]].push_back(i);
    const auto same = [](const auto* one, const auto* other) { return same_model(*one, *other); };
    for (auto& [number, members] : by_number) {
      std::vector<const models::SpeedModel*> units;
      for (const std::size_t unit : members) units.push_back(models[unit]);
      const auto kind =
          std::ranges::find_if(kinds_, [&](const Kind& known) { return std::ranges::equal(known.units, units, same); });
      kind_of_group_.push_back(static_cast<std::size_t>(kind - kinds_.begin()));
      if (kind == kinds_.end()) kinds_.push_back({std::move(units), 0});
      ++kinds_[kind_of_group_.back()].groups;
      members_.push_back(std::move(members));
    }
  }

  /// Distribution among those that give no group more than its units do within `time_s` apart from each other.
  /// @throws InvalidArgument as the algorithms do
  HierarchicalDistribution distribute(std::int64_t total, const Algorithm& outer, const Algorithm& inner,
                                      double time_s) const {
    std::deque<GroupModel> models_of_kinds;
    for (const Kind& kind : kinds_) {
      models_of_kinds.emplace_back(kind.units, inner,
                                   std::isfinite(time_s) ? units_within(kind, time_s, total) : total);
    }
    // Groups alike have the same model, so that an algorithm looks at it once.
    std::vector<const models::SpeedModel*> group_models;
    for (const std::size_t kind : kind_of_group_) {
      const GroupModel& group = models_of_kinds[kind];
      group_models.push_back(group.units().size() == 1 ? group.units().front() : &group);
    }
    HierarchicalDistribution found;
    found.groups = outer.distribute(total, group_models).units;
    std::vector<std::int64_t> units(models_.size(), 0);
    std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::int64_t>> known;
    for (std::size_t group = 0; group < members_.size(); ++group) {
      const std::size_t kind = kind_of_group_[group];
      auto& split = known[{kind, found.groups[group]}];
      if (split.empty()) split = models_of_kinds[kind].distribute(found.groups[group]).units;
      for (std::size_t i = 0; i < split.size(); ++i) units[members_[group][i]] = split[i];
    }
    found.units = predict(std::move(units), models_);
    return found;
  }

  /// A power of two in which all units together do `total`, each on its own.
  double least_time_s(std::int64_t total) const {
    double time_s = 1.0;
    while (std::isfinite(time_s) && !are_enough(time_s, total)) time_s *= 2.0;
    while (time_s > std::numeric_limits<double>::min() && are_enough(0.5 * time_s, total)) time_s *= 0.5;
    return time_s;
  }

 private:
  struct Kind {
    std::vector<const models::SpeedModel*> units;
    std::int64_t groups = 0;  ///< of this kind
  };

  static std::int64_t units_within(const Kind& kind, double time_s, std::int64_t total) {
    std::int64_t sum = 0;
    for (const models::SpeedModel* unit : kind.units) {
      const double whole = std::min(std::floor(unit->units_within(time_s)), static_cast<double>(total - sum));
      sum += static_cast<std::int64_t>(whole);
    }
    return sum;
  }
  bool are_enough(double time_s, std::int64_t total) const {
    std::int64_t left = total;
    for (const Kind& kind : kinds_) left -= std::min(left, kind.groups * units_within(kind, time_s, total));
    return left == 0;
  }

  Models models_;
  std::vector<Kind> kinds_;
  std::vector<std::size_t> kind_of_group_;
  std::vector<std::vector<std::size_t>> members_;  ///< units of each group, in the order of their numbers
};

}  // namespace

HierarchicalDistribution hierarchical(std::int64_t total, Models models, std::span<const int> group_of_unit,
                                      const Algorithm& outer, const Algorithm& inner) {
  require_feasible(total, models);
  if (group_of_unit.size() != models.size()) {
    throw InvalidArgument(
        fmt::format("{} group numbers for {} models (expected as many)", group_of_unit.size(), models.size()));
  }
  const Groups groups(models, group_of_unit);
  constexpr double all = std::numeric_limits<double>::infinity();
  if (outer.is_least_makespan && inner.is_least_makespan && total > 0) {
    // No group takes longer than the makespan, so that a makespan within a time is the least of all.
    constexpr int attempts = 4;
    double time_s = groups.least_time_s(total);
    for (int i = 0; i < attempts && std::isfinite(time_s *= 2.0); ++i) {
      try {
        HierarchicalDistribution found = groups.distribute(total, outer, inner, time_s);
        if (found.units.makespan_s() <= time_s) return found;
      } catch (const InvalidArgument&) {
        // Larger sizes may have a sum that these have not.
      }
    }
  }
  return groups.distribute(total, outer, inner, all);
}

Algorithm on_two_levels(const Algorithm& algorithm, std::vector<int> group_of_unit) {
  Algorithm both = algorithm;
  both.distribute = [algorithm, groups = std::move(group_of_unit)](std::int64_t total, Models models) {
    return hierarchical(total, models, groups, algorithm, algorithm).units;
  };
  return both;
}

}  // namespace steelyard::partition
