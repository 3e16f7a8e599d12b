#include "comm/measurement/kernel_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/build_info.hpp"
#include "core/base/errors.hpp"
#include "core/base/run_record.hpp"
#include "core/base/statistics.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/timing.hpp"

namespace steelyard {

namespace {

constexpr std::array unit_kinds{ProcessingUnit::Kind::host, ProcessingUnit::Kind::companion};

/// A unit without work, which always takes 0 s, is as precise as can be.
bool is_precise(const std::vector<double>& seconds, const Precision& precision) {
  const double centre = mean(seconds);
  return centre <= 0.0 || confidence_half_width(seconds, precision.confidence) <= precision.relative * centre;
}

models::MeasuredPoint summarise(const std::vector<double>& seconds, double confidence) {
  const double half_width = seconds.size() > 1 ? confidence_half_width(seconds, confidence) : 0.0;
  return {0.0, mean(seconds), static_cast<int>(seconds.size()), half_width, count_outliers(seconds), {}};
}

/// Error that `work` throws, to be kept until throw_together(), since other ranks wait for this one.
std::exception_ptr error_of(const auto& work) {
  try {
    work();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void throw_together(MPI_Comm group, const std::exception_ptr& error) {
  collectively(group, [&] {
    if (error) std::rethrow_exception(error);
  });
}

}  // namespace

void require_precision(const Precision& precision) {
  const auto require = [](bool is_good, const std::string& found) {
    if (!is_good) throw InvalidArgument(found);
  };
  const auto& [confidence, relative, least, most, warmups, time_limit_s] = precision;
  require(confidence > 0.0 && confidence < 1.0,
          fmt::format("confidence {} (expected a level between 0 and 1)", confidence));
  require(relative > 0.0 && relative < 1.0, fmt::format("precision {} (expected a share between 0 and 1)", relative));
  require(2 <= least && least <= most, fmt::format("{} to {} repetitions (expected 2 <= min <= max)", least, most));
  require(warmups >= 0, fmt::format("{} warm-ups (expected 0, 1, …)", warmups));
  require(time_limit_s > 0.0, fmt::format("time limit {} s (expected > 0)", time_limit_s));
}

GroupPoint measure_group(MPI_Comm group, const std::function<UnitSeconds()>& run, const Precision& precision,
                         const PerUnit<int>& counts) {
  GroupPoint point;
  std::vector<double> host, companion;
  double start_s = now_s();
  for (int repetition = -precision.warmups; repetition < precision.repetitions_max; ++repetition) {
    if (repetition == 0) start_s = now_s();
    STEELYARD_MPI(MPI_Barrier(group));
    UnitSeconds seconds;
    const std::exception_ptr error = error_of([&] { seconds = run(); });
    if (repetition < 0 && !any_rank(group, error != nullptr)) continue;
    host.push_back(seconds.host_s / counts.host);
    companion.push_back(seconds.companion_s / counts.companion);
    const bool enough = repetition + 1 >= precision.repetitions_min;
    const bool imprecise = !enough || !(is_precise(host, precision) && is_precise(companion, precision));
    const bool late = now_s() - start_s > precision.time_limit_s;
    // Everyone has to stop at the same repetition: precise everywhere, or out of time on some rank.
    const std::vector<double> any = all_max(group, {imprecise ? 1.0 : 0.0, late ? 1.0 : 0.0,
                                                    std::max(seconds.host_s, seconds.companion_s), error ? 1.0 : 0.0});
    if (any[3] > 0.0) throw_together(group, error);
    point.precise = any[0] == 0.0;
    point.kernels_s += any[2];
    if (enough && (point.precise || any[1] > 0.0)) break;
  }
  point.elapsed_s = now_s() - start_s;
  point.host = summarise(host, precision.confidence);
  point.companion = summarise(companion, precision.confidence);
  return point;
}

namespace {

constexpr double shortest_repetition_s = 4e-3;  ///< against the clock's and the barrier's noise
constexpr double most_runs = 1e5;

int runs_to_fill(double target_s, double run_s) {
  return run_s > 0.0 ? static_cast<int>(std::clamp(std::round(target_s / run_s), 1.0, most_runs)) : 1;
}

/// A kernel's instance on a unit, and how its seconds so far are shared out among the kernel's parts.
class TimedKernel {
 public:
  explicit TimedKernel(std::unique_ptr<KernelRun> run) : run_(std::move(run)) {}

  void run() {
    const double start_s = now_s();
    run_->run();
    // The first run touches caches and wakes threads.
    if (!std::exchange(is_warm_, true)) return;
    total_s_ += now_s() - start_s;
    const std::span<const double> parts = run_->parts_s();
    for (std::size_t part = 0; part < parts.size(); ++part) parts_s_[part] += parts[part];
  }
  /// Splits the seconds of a run, which include an emulated slowdown, into its parts.
  std::array<double, models::MeasuredPoint::most_parts> parts_of(double seconds) const {
    auto parts_s = parts_s_;
    for (double& part_s : parts_s) part_s *= seconds / total_s_;
    return parts_s;
  }

 private:
  std::unique_ptr<KernelRun> run_;
  bool is_warm_ = false;
  double total_s_ = 0.0;
  std::array<double, models::MeasuredPoint::most_parts> parts_s_{};
};

}  // namespace

KernelMeasurement::KernelMeasurement(MPI_Comm group, CoExecution& co_execution, const MeasurableKernel& kernel,
                                     const Precision& precision)
    : group_(group), co_execution_(co_execution), kernel_(kernel), precision_(precision) {
  require_precision(precision);
}

GroupPoint KernelMeasurement::measure(MPI_Comm group, const UnitSizes& sizes) {
  using Kind = ProcessingUnit::Kind;
  PerUnit<std::optional<TimedKernel>> kernels;
  const auto on_both = [&](const std::function<void(Kind)>& work) {
    return co_execution_.run([&] { work(Kind::host); }, [&] { work(Kind::companion); });
  };
  const auto run = [&](const PerUnit<int>& counts) {
    const UnitSeconds seconds = on_both([&](Kind kind) {
      for (int i = 0; kernels[kind] && i < counts[kind]; ++i) kernels[kind]->run();
    });
    return UnitSeconds{kernels.host ? seconds.host_s : 0.0, kernels.companion ? seconds.companion_s : 0.0};
  };
  UnitSeconds once;
  const auto run_once = [&] {
    collectively(group, [&] { once = run({1, 1}); });
    return all_max(group, std::max(once.host_s, once.companion_s));
  };
  collectively(group, [&] {
    on_both([&](Kind kind) {
      if (sizes[kind] > 0) kernels[kind].emplace(kernel_.allocate(kind, sizes[kind]));
    });
  });
  // The first run touches memory and wakes threads, which does not matter for one that is long.
  double slowest_s = run_once();
  if (slowest_s < precision_.time_limit_s) slowest_s = run_once();
  const double target_s = std::max(shortest_repetition_s, slowest_s);
  const PerUnit<int> counts{runs_to_fill(target_s, once.host_s), runs_to_fill(target_s, once.companion_s)};
  GroupPoint point = measure_group(
      group, [&] { return run(counts); }, precision_, counts);
  for (const Kind kind : unit_kinds) {
    point[kind].units = static_cast<double>(sizes[kind]);
    if (kernels[kind]) point[kind].parts_s = kernels[kind]->parts_of(point[kind].time_s);
  }
  return point;
}

GroupPoint KernelMeasurement::together(const UnitSizes& sizes) { return measure(group_, sizes); }

GroupPoint KernelMeasurement::alone(const UnitSizes& sizes) {
  GroupPoint point;
  const auto measure_own = [&] {
    for (const auto kind : unit_kinds) {
      if (sizes[kind] == 0) continue;
      UnitSizes one;
      one[kind] = sizes[kind];
      const GroupPoint measured = measure(MPI_COMM_SELF, one);
      point[kind] = measured[kind];
      point.precise = point.precise && measured.precise;
      point.kernels_s += measured.kernels_s;
      point.elapsed_s += measured.elapsed_s;
    }
  };
  const int rank = rank_in(group_), size = size_of(group_);
  for (int turn = 0; turn < size; ++turn) {
    sleeping_barrier(group_);
    const std::exception_ptr error = turn == rank ? error_of(measure_own) : nullptr;
    sleeping_barrier(group_);
    throw_together(group_, error);
  }
  point.precise = !any_rank(group_, !point.precise);
  return point;
}

models::FpmFile describe_model(const Session& session, const RankUnits& units, ProcessingUnit::Kind kind,
                               const KernelFacts& kernel) {
  const ProcessingUnit& unit = kind == ProcessingUnit::Kind::host ? *units.host : *units.companion;
  const UnitLimits limits = unit_limits(session.machine(), units, kind, session.nodes().ranks_on_node, kernel);
  models::FpmFile file;
  file.app = kernel.app;
  file.kernel = kernel.kernel;
  file.element = kernel.element;
  file.unit_kind = unit.name();
  file.unit_cores = format_cores(unit.cores);
  file.unit_bound = units.bound;
  file.unit_device = unit.space;
  if (kind == ProcessingUnit::Kind::host) file.unit_blas = kernel.host_blas;
  file.slowdown = unit.slowdown;
  file.computation_unit = kernel.computation_unit;
  file.parameters = kernel.parameters;
  if (unit.devices > 1) file.parameters["devices"] = unit.devices;
  file.parts = kernel.parts;
  file.flops_per_unit = kernel.flops_per_unit;
  file.bytes_per_unit = kernel.bytes_per_unit;
  // A unit that holds nothing in core has one regime, like one that holds everything.
  const bool two_regimes = limits.in_core_units > 0.0 && limits.in_core_units < limits.max_units;
  if (two_regimes) file.in_core_units = limits.in_core_units;
  file.max_units = limits.max_units;
  file.machine = session.machine().host_name() + ", " + session.machine().processor();
  file.date = date_now();
  file.commit = build_info().commit;
  return file;
}

namespace {

constexpr double long_point_s = 10e-3;

/// All rounds of one size on one unit.
struct Rounds {
  std::vector<models::MeasuredPoint> points;
  bool precise = true;
};
/// Sizes of one unit.
using Measured = std::map<double, Rounds>;

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

  /// @throws InvalidArgument for a size that fits no unit of the group
  void require_room() const {
    double most = 0.0;
    for (const auto kind : unit_kinds) {
      if (built_[kind]) most = std::max(most, built_[kind]->group.max_units);
    }
    most = all_max(group_, most);
    for (const std::int64_t size : plan_.sizes) {
      if (static_cast<double>(size) <= most) continue;
      throw InvalidArgument(
          fmt::format("{} computation units do not fit into any unit's memory (at most {:.0f})", size, most));
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
    for (const auto kind : unit_kinds) {
      if (!(point[kind].units > 0.0)) continue;
      Rounds& rounds = measured[kind][point[kind].units];
      rounds.points.push_back(point[kind]);
      rounds.precise = rounds.precise && point.precise;
    }
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
  builder.require_room();
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
