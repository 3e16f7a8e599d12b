#include "comm/model_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

constexpr double long_point_s = 10e-3;

void insert(std::vector<models::MeasuredPoint>& points, const models::MeasuredPoint& point) {
  points.insert(std::upper_bound(points.begin(), points.end(), point,
                                 [](const auto& a, const auto& b) { return a.units < b.units; }),
                point);
}

void add(models::FpmFile& file, const models::MeasuredPoint& point, bool precise) {
  if (point.units > 0.0) insert(precise ? file.points : file.imprecise, point);
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

  void measure(std::int64_t size) {
    const auto for_unit = [&](const std::optional<UnitModels>& unit) {
      return unit && static_cast<double>(size) <= unit->group.max_units ? size : 0;
    };
    const UnitSizes sizes{for_unit(built_.host), for_unit(built_.companion)};
    const double largest = all_max(group_, std::max(limit(built_.host), limit(built_.companion)));
    if (static_cast<double>(size) > largest) {
      throw InvalidArgument(
          fmt::format("{} computation units do not fit into any unit's memory (at most {:.0f})", size, largest));
    }
    take(measurement_.together(sizes), false);
    if (plan_.solo) take(measurement_.alone(sizes), true);
  }

  /// Points of every unit of the group.
  std::vector<std::vector<models::MeasuredPoint>> all_points() const {
    std::vector<std::vector<models::MeasuredPoint>> all;
    for (const std::optional<UnitModels>* unit : {&built_.host, &built_.companion}) {
      const auto mine = *unit ? known_points((*unit)->group) : std::vector<models::MeasuredPoint>{};
      for (auto& points : all_gather(group_, mine)) all.push_back(std::move(points));
    }
    return all;
  }

  BuiltModels& built() { return built_; }

 private:
  static double limit(const std::optional<UnitModels>& unit) { return unit ? unit->group.max_units : 0.0; }

  /// Where to measure next also depends on what is known badly: an imprecise size is not tried again.
  static std::vector<models::MeasuredPoint> known_points(const models::FpmFile& file) {
    std::vector<models::MeasuredPoint> points = file.points;
    for (const models::MeasuredPoint& point : file.imprecise) insert(points, point);
    return points;
  }

  void take(const GroupPoint& point, bool solo) {
    const auto to = [&](std::optional<UnitModels>& unit, const models::MeasuredPoint& measured) {
      if (unit) add(solo ? *unit->solo : unit->group, measured, point.precise);
    };
    to(built_.host, point.host);
    to(built_.companion, point.companion);
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
  BuiltModels built_;
};

}  // namespace

BuiltModels build_models(const Session& session, MPI_Comm group, CoExecution& co_execution, const RankUnits& units,
                         const MeasurableKernel& kernel, const BuildPlan& plan,
                         const std::function<void(std::int64_t size)>& before_size) {
  const double start_s = now_s();
  Builder builder(session, group, co_execution, units, kernel, plan);
  int measured = 0;
  const auto measure = [&](std::int64_t size) {
    if (before_size) before_size(size);
    builder.measure(size);
    ++measured;
  };
  for (const std::int64_t size : plan.sizes) measure(size);
  while (plan.adaptive) {
    const std::optional<models::UncertainGap> gap = models::least_certain_gap(*plan.adaptive, builder.all_points());
    if (!gap) break;
    if (measured >= plan.most_sizes) {
      builder.built().uncertain = gap;
      break;
    }
    measure(gap->next);
  }
  builder.built().time.total_s = now_s() - start_s;
  return std::move(builder.built());
}

}  // namespace steelyard
