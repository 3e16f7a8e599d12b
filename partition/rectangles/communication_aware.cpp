#include "partition/rectangles/communication_aware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::partition {
namespace {

constexpr int most_turns = 20;

/// Units that take part, by number, increasing.
using UnitSet = std::vector<std::size_t>;

/// A unit that communicates for some time besides computing.
class DelayedModel : public models::SpeedModel {
 public:
  DelayedModel(const models::SpeedModel& model, double delay_s)
      : SpeedModel(model.max_units()), model_(model), delay_s_(delay_s) {}

  std::string kind() const override { return model_.kind(); }
  double units_within(double time_s) const override { return model_.units_within(time_s - delay_s_); }
  std::vector<double> breakpoints() const override { return model_.breakpoints(); }

 private:
  double fitted_speed(double units) const override {
    return delay_s_ > 0.0 && units > 0.0 ? units / (model_.time_s(units) + delay_s_) : model_.speed(units);
  }

  const models::SpeedModel& model_;
  double delay_s_;
};

void require_costs(const std::vector<double>& cost_s, std::size_t units) {
  if (cost_s.size() != units) {
    throw InvalidArgument(fmt::format("{} communication costs for {} units (expected as many)", cost_s.size(), units));
  }
  for (std::size_t i = 0; i < units; ++i) {
    if (!(cost_s[i] >= 0.0)) {
      throw InvalidArgument(fmt::format("communication cost {} s of unit {} (expected >= 0)", cost_s[i], i));
    }
  }
}

/// Problem of arranging any set of units.
struct Problem {
  Extents extents;
  std::int64_t total = 0;
  Models models;
  const Algorithm& algorithm;
  const RectangleCost& cost;

  bool holds_all(const UnitSet& set) const {
    std::vector<const models::SpeedModel*> of_set;
    for (const std::size_t unit : set) of_set.push_back(models[unit]);
    return capacity(of_set, total) == total;
  }

  /// The best on a set of units that holds all blocks.
  CostedColumns best_on(const UnitSet& set) const {
    CostedColumns best = arrange(areas(set, std::vector<double>(models.size(), 0.0)));
    for (int turn = 1; turn < most_turns; ++turn) {
      CostedColumns next = arrange(areas(set, best.communication_s));
      if (!(next.total_s() < best.total_s())) break;
      best = std::move(next);
    }
    return best;
  }

  /// Units that the algorithm gives each of a set with these delays; the others get nothing.
  std::vector<double> areas(const UnitSet& set, const std::vector<double>& delay_s) const {
    std::deque<DelayedModel> delayed;
    std::vector<const models::SpeedModel*> of_set(models.size(), nullptr);
    for (const std::size_t unit : set) of_set[unit] = &delayed.emplace_back(*models[unit], delay_s[unit]);
    const std::vector<std::int64_t> units = distribute_among(total, of_set, algorithm.distribute).units;
    return {units.begin(), units.end()};
  }

  /// In the number of columns that takes least.
  CostedColumns arrange(const std::vector<double>& areas) const {
    const auto working = std::count_if(areas.begin(), areas.end(), [](double area) { return area > 0.0; });
    std::optional<CostedColumns> best;
    for (std::int64_t columns = 1; columns <= std::min<std::int64_t>(working, extents.columns); ++columns) {
      CostedColumns candidate{column(areas, extents, static_cast<int>(columns)), {}, {}};
      std::vector<std::int64_t> blocks;
      for (const Rectangle& rectangle : candidate.partition.rectangles) blocks.push_back(rectangle.area());
      candidate.computation_s = predict(std::move(blocks), models).predicted_s;
      candidate.communication_s = cost(candidate.partition);
      require_costs(candidate.communication_s, models.size());
      if (!best || candidate.total_s() < best->total_s()) best = std::move(candidate);
    }
    return *best;
  }
};

/// Every set of `count` units but the empty one and that of all, or nothing where all are more than `most` sets.
std::vector<UnitSet> proper_subsets(std::size_t count, int most) {
  constexpr std::size_t most_bits = 20;
  std::vector<UnitSet> sets;
  if (count > most_bits || (std::int64_t{1} << count) - 1 > most) return sets;
  for (std::uint64_t bits = (std::uint64_t{1} << count) - 2; bits > 0; --bits) {
    UnitSet& set = sets.emplace_back();
    for (std::size_t unit = 0; unit < count; ++unit) {
      if ((bits >> unit & 1) != 0) set.push_back(unit);
    }
  }
  return sets;
}

/// The set without each of its units in turn.
std::vector<UnitSet> without_one(const UnitSet& set) {
  std::vector<UnitSet> sets(set.size(), set);
  for (std::size_t i = 0; i < set.size(); ++i) sets[i].erase(sets[i].begin() + static_cast<std::ptrdiff_t>(i));
  return sets;
}

}  // namespace

double CostedColumns::total_s() const {
  double longest_s = 0.0;
  for (std::size_t i = 0; i < computation_s.size(); ++i) {
    longest_s = std::max(longest_s, computation_s[i] + communication_s[i]);
  }
  return longest_s;
}

CostedColumns communication_aware(const Extents& extents, Models models, const Algorithm& algorithm,
                                  const RectangleCost& cost, int most_subsets) {
  require_extents(extents);
  const std::int64_t total = extents.rows * extents.columns;
  require_feasible(total, models);
  const Problem problem{extents, total, models, algorithm, cost};
  UnitSet best_set(models.size());
  std::iota(best_set.begin(), best_set.end(), std::size_t{0});
  CostedColumns best = problem.best_on(best_set);
  /// Takes the best of some sets where it is better.
  const auto improve = [&](const std::vector<UnitSet>& sets) {
    bool is_better = false;
    for (const UnitSet& set : sets) {
      if (set.empty() || !problem.holds_all(set)) continue;
      CostedColumns candidate = problem.best_on(set);
      if (!(candidate.total_s() < best.total_s())) continue;
      best = std::move(candidate);
      best_set = set;
      is_better = true;
    }
    return is_better;
  };
  const std::vector<UnitSet> all = proper_subsets(models.size(), most_subsets);
  if (!all.empty()) {
    improve(all);
  } else {
    while (improve(without_one(best_set))) {
    }
  }
  return best;
}

}  // namespace steelyard::partition
