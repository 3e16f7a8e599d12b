#include "partition/communication_aware.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/errors.hpp"
#include "partition/unit_subsets.hpp"

namespace steelyard::partition {
namespace {

constexpr int most_turns = 20;

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
  void refit() override {}

  const models::SpeedModel& model_;
  double delay_s_;
};

double slowest(const std::vector<double>& computation_s, const std::vector<double>& communication_s) {
  double longest = 0.0;
  for (std::size_t i = 0; i < computation_s.size(); ++i) {
    longest = std::max(longest, computation_s[i] + communication_s[i]);
  }
  return longest;
}

std::vector<double> checked(std::vector<double> cost_s, std::size_t units) {
  if (cost_s.size() != units) {
    throw InvalidArgument(fmt::format("{} communication costs for {} units (expected as many)", cost_s.size(), units));
  }
  for (std::size_t i = 0; i < units; ++i) {
    if (!(cost_s[i] >= 0.0)) {
      throw InvalidArgument(fmt::format("communication cost {} s of unit {} (expected >= 0)", cost_s[i], i));
    }
  }
  return cost_s;
}

/// `algorithm` over the units of a set, each delayed; the others get nothing.
std::vector<std::int64_t> distribute(std::int64_t total, Models models, const Algorithm& algorithm, const UnitSet& set,
                                     const std::vector<double>& delay_s) {
  std::vector<std::unique_ptr<DelayedModel>> delayed;
  std::vector<const models::SpeedModel*> pointers;
  for (const std::size_t unit : set) {
    delayed.push_back(std::make_unique<DelayedModel>(*models[unit], delay_s[unit]));
    pointers.push_back(delayed.back().get());
  }
  const Distribution of_set = algorithm.distribute(total, pointers);
  std::vector<std::int64_t> units(models.size(), 0);
  for (std::size_t i = 0; i < set.size(); ++i) units[set[i]] = of_set.units[i];
  return units;
}

bool holds(std::int64_t total, Models models, const UnitSet& set) {
  std::int64_t room = 0;
  for (const std::size_t unit : set) room += std::min(capacity(*models[unit], total), total - room);
  return room >= total;
}

/// Takes turns between a distribution and what it costs as long as the total gets shorter.
/// @param evaluate makes a result, with `communication_s` and total_s(), of the units' slices
template <class Evaluate>
auto take_turns(std::int64_t total, Models models, const Algorithm& algorithm, const UnitSet& set,
                const Evaluate& evaluate) {
  std::vector<double> delay_s(models.size(), 0.0);
  auto best = evaluate(distribute(total, models, algorithm, set, delay_s));
  for (int turn = 1; turn < most_turns; ++turn) {
    delay_s = best.communication_s;
    auto next = evaluate(distribute(total, models, algorithm, set, delay_s));
    if (!(next.total_s() < best.total_s())) break;
    best = std::move(next);
  }
  return best;
}

std::vector<double> times(Models models, const std::vector<std::int64_t>& units) {
  return predict(units, models).predicted_s;
}

}  // namespace

double CostedDistribution::total_s() const { return slowest(distribution.predicted_s, communication_s); }

double CostedColumns::total_s() const { return slowest(computation_s, communication_s); }

CostedDistribution communication_aware(std::int64_t total, Models models, const Algorithm& algorithm,
                                       const SliceCost& cost, int most_subsets) {
  require_feasible(total, models);
  const auto evaluate = [&](const std::vector<std::int64_t>& units) {
    return CostedDistribution{predict(units, models), checked(cost(units), units.size()), {}};
  };
  return best_subset<CostedDistribution>(
      models.size(), most_subsets, [&](const UnitSet& set) { return holds(total, models, set); },
      [&](const UnitSet& set) { return take_turns(total, models, algorithm, set, evaluate); });
}

CostedColumns communication_aware(const Extents& extents, Models models, const Algorithm& algorithm,
                                  const RectangleCost& cost, int most_subsets) {
  require_extents(extents);
  const std::int64_t total = extents.rows * extents.columns;
  require_feasible(total, models);
  const auto evaluate = [&](const std::vector<std::int64_t>& units) {
    const std::vector<double> areas(units.begin(), units.end());
    const auto working = std::count_if(units.begin(), units.end(), [](std::int64_t area) { return area > 0; });
    std::optional<CostedColumns> best;
    for (std::int64_t columns = 1; columns <= std::min<std::int64_t>(working, extents.columns); ++columns) {
      CostedColumns candidate{column(areas, extents, static_cast<int>(columns)), {}, {}, {}};
      std::vector<std::int64_t> blocks;
      for (const Rectangle& rectangle : candidate.partition.rectangles) blocks.push_back(rectangle.area());
      candidate.computation_s = times(models, blocks);
      candidate.communication_s = checked(cost(candidate.partition), models.size());
      if (!best || candidate.total_s() < best->total_s()) best = std::move(candidate);
    }
    return *best;
  };
  return best_subset<CostedColumns>(
      models.size(), most_subsets, [&](const UnitSet& set) { return holds(total, models, set); },
      [&](const UnitSet& set) { return take_turns(total, models, algorithm, set, evaluate); });
}

}  // namespace steelyard::partition
