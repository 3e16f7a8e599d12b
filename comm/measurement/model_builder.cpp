#include "comm/measurement/model_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

constexpr double long_point_s = 10e-3;

/// All rounds of one size on one unit.
struct Rounds {
  std::vector<models::MeasuredPoint> points;
  bool precise = true;
};

/// By size.
using Measured = std::map<double, Rounds>;

void add(Measured& measured, const models::MeasuredPoint& point, bool precise) {
  if (!(point.units > 0.0)) return;
  Rounds& rounds = measured[point.units];
  rounds.points.push_back(point);
  rounds.precise = rounds.precise && precise;
}

void merge(const Measured& measured, double confidence, models::FpmFile& file) {
  for (const auto& [units, rounds] : measured) {
    file.drift.add(rounds.points);
    (rounds.precise ? file.points : file.imprecise).push_back(models::merge_rounds(rounds.points, confidence));
  }
}

class Builder {
 public:
  Builder(const Session& session, MPI_Comm group, CoExecution& co_execution, const RankUnits& units,
          const MeasurableKernel& kernel, const BuildPlan& plan)
      : group_(group), plan_(plan), measurement_(group, co_execution, kernel, plan.precision) {
    const auto describe = [&](ProcessingUnit::Kind kind) {
      UnitModels models;
      models.group = describe_model(session, units, kind, kernel.facts());
      if (plan.solo) {
        models.solo = models.group;
        models.solo->solo = true;
      }
      return models;
    };
    if (units.host) built_.host = describe(ProcessingUnit::Kind::host);
    if (units.companion) built_.companion = describe(ProcessingUnit::Kind::companion);
  }

  /// @throws InvalidArgument
  void require_room(const std::vector<std::int64_t>& sizes) const {
    const double largest = all_max(group_, std::max(limit(built_.host), limit(built_.companion)));
    for (const std::int64_t size : sizes) {
      if (static_cast<double>(size) <= largest) continue;
      throw InvalidArgument(
          fmt::format("{} computation units do not fit into any unit's memory (at most {:.0f})", size, largest));
    }
  }

  void measure(std::int64_t size) {
    const auto for_unit = [&](const std::optional<UnitModels>& unit) {
      return unit && static_cast<double>(size) <= unit->group.max_units ? size : 0;
    };
    const UnitSizes sizes{for_unit(built_.host), for_unit(built_.companion)};
    take(measurement_.together(sizes), group_points_);
    if (plan_.solo) take(measurement_.alone(sizes), solo_points_);
  }

  /// Points of every unit of the group, imprecise ones included, for these sizes are not tried again.
  std::vector<std::vector<models::MeasuredPoint>> all_points() const {
    std::vector<std::vector<models::MeasuredPoint>> all;
    for (const Measured& measured : group_points_) {
      std::vector<models::MeasuredPoint> mine;
      for (const auto& [units, rounds] : measured) {
        mine.push_back(models::merge_rounds(rounds.points, plan_.precision.confidence));
      }
      for (auto& points : all_gather_points(group_, mine)) all.push_back(std::move(points));
    }
    return all;
  }

  BuiltModels built(const std::optional<models::UncertainGap>& uncertain, double total_s) const {
    BuiltModels built = built_;
    const std::array<std::optional<UnitModels>*, 2> units{&built.host, &built.companion};
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (!*units[i]) continue;
      merge(group_points_[i], plan_.precision.confidence, (*units[i])->group);
      if (plan_.solo) merge(solo_points_[i], plan_.precision.confidence, *(*units[i])->solo);
    }
    built.uncertain = uncertain;
    built.time.total_s = total_s;
    return built;
  }

 private:
  static double limit(const std::optional<UnitModels>& unit) { return unit ? unit->group.max_units : 0.0; }

  void take(const GroupPoint& point, std::array<Measured, 2>& measured) {
    add(measured[0], point.host, point.precise);
    add(measured[1], point.companion, point.precise);
    MeasuringTime& time = built_.time;
    time.kernels_s += point.kernels_s;
    time.overhead_s += point.elapsed_s - point.kernels_s;
    if (all_max(group_, std::max(point.host.time_s, point.companion.time_s)) > long_point_s) {
      time.long_kernels_s += point.kernels_s;
      time.long_overhead_s += point.elapsed_s - point.kernels_s;
    }
  }

  MPI_Comm group_;
  const BuildPlan& plan_;
  KernelMeasurement measurement_;
  std::array<Measured, 2> group_points_;  ///< host, companion
  std::array<Measured, 2> solo_points_;
  BuiltModels built_;
};

}  // namespace

BuiltModels build_models(const Session& session, MPI_Comm group, CoExecution& co_execution, const RankUnits& units,
                         const MeasurableKernel& kernel, const BuildPlan& plan,
                         const std::function<void(std::int64_t size, const BuiltModels& so_far)>& after_size) {
  const double start_s = now_s();
  Builder builder(session, group, co_execution, units, kernel, plan);
  // Before minutes have gone into smaller sizes; an adaptive selection stays between these.
  builder.require_room(plan.sizes);
  std::vector<std::int64_t> sizes = plan.sizes;
  const auto measure = [&](std::int64_t size) {
    builder.measure(size);
    if (after_size) after_size(size, builder.built(std::nullopt, now_s() - start_s));
  };
  for (const std::int64_t size : plan.sizes) measure(size);
  std::optional<models::UncertainGap> uncertain;
  while (plan.adaptive) {
    uncertain = models::least_certain_gap(*plan.adaptive, builder.all_points());
    if (!uncertain || static_cast<int>(sizes.size()) >= plan.most_sizes) break;
    measure(sizes.emplace_back(uncertain->next));
  }
  for (int round = 1; round < plan.rounds; ++round) {
    for (const std::int64_t size : sizes) measure(size);
  }
  return builder.built(uncertain, now_s() - start_s);
}

}  // namespace steelyard
