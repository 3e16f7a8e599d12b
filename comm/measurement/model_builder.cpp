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

constexpr std::array unit_kinds{ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion};
constexpr double long_point_s = 10e-3;

/// All rounds of one size on one unit.
struct Rounds {
  std::vector<models::MeasuredPoint> points;
  bool precise = true;
};
/// Sizes of one unit.
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
    for (const auto kind : unit_kinds) {
      if (!units.unit(kind)) continue;
      UnitModels& models = built_[kind].emplace();
      models.group = describe_model(session, units, kind, kernel.facts());
      if (!plan.solo) continue;
      models.solo = models.group;
      models.solo->solo = true;
    }
  }

  /// @throws InvalidArgument
  void require_room(const std::vector<std::int64_t>& sizes) const {
    double largest = 0.0;
    for (const auto kind : unit_kinds) {
      if (built_[kind]) largest = std::max(largest, built_[kind]->group.max_units);
    }
    largest = all_max(group_, largest);
    for (const std::int64_t size : sizes) {
      if (static_cast<double>(size) <= largest) continue;
      throw InvalidArgument(
          fmt::format("{} computation units do not fit into any unit's memory (at most {:.0f})", size, largest));
    }
  }

  void measure(std::int64_t size) {
    UnitSizes sizes;
    for (const auto kind : unit_kinds) {
      if (built_[kind] && static_cast<double>(size) <= built_[kind]->group.max_units) sizes[kind] = size;
    }
    take(measurement_.together(sizes), group_points_);
    if (plan_.solo) take(measurement_.alone(sizes), solo_points_);
  }

  /// Points of every unit of the group, imprecise ones included, for these sizes are not tried again.
  std::vector<std::vector<models::MeasuredPoint>> all_points() const {
    std::vector<std::vector<models::MeasuredPoint>> all;
    for (const auto kind : unit_kinds) {
      std::vector<models::MeasuredPoint> mine;
      for (const auto& [units, rounds] : group_points_[kind]) {
        mine.push_back(models::merge_rounds(rounds.points, plan_.precision.confidence));
      }
      for (auto& points : all_gather_points(group_, mine)) all.push_back(std::move(points));
    }
    return all;
  }

  BuiltModels built(const std::optional<models::UncertainGap>& uncertain, double total_s) const {
    BuiltModels built = built_;
    for (const auto kind : unit_kinds) {
      if (!built[kind]) continue;
      merge(group_points_[kind], plan_.precision.confidence, built[kind]->group);
      if (plan_.solo) merge(solo_points_[kind], plan_.precision.confidence, *built[kind]->solo);
    }
    built.uncertain = uncertain;
    built.time.total_s = total_s;
    return built;
  }

 private:
  void take(const GroupPoint& point, PerUnit<Measured>& measured) {
    add(measured.host, point.host, point.precise);
    add(measured.companion, point.companion, point.precise);
    MeasuringTime& time = built_.time;
    const double overhead_s = point.elapsed_s - point.kernels_s;
    time.kernels_s += point.kernels_s;
    time.overhead_s += overhead_s;
    if (all_max(group_, std::max(point.host.time_s, point.companion.time_s)) <= long_point_s) return;
    time.long_kernels_s += point.kernels_s;
    time.long_overhead_s += overhead_s;
  }

  MPI_Comm group_;
  const BuildPlan& plan_;
  KernelMeasurement measurement_;
  PerUnit<Measured> group_points_, solo_points_;
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
