#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "comm/session.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"
#include "models/fpm_file.hpp"
#include "models/measured_point.hpp"
#include "models/size_selection.hpp"

namespace steelyard {

/// When a measurement may stop. Source: 000, section 6.1.2 (fupermod_precision); 002, section 1.
struct Precision {
  double confidence = 0.95;  ///< level of Student's t interval
  double relative = 0.025;   ///< its half width over the mean
  int repetitions_min = 5;
  int repetitions_max = 100;
  int warmups = 1;
  double time_limit_s = 3.0;  ///< per point, warm-up excluded
};

/// @throws InvalidArgument naming the value that makes no sense
void require_precision(const Precision& precision);

/// Times of one rank's units for one run; `units` of the points is left for the caller to fill in.
struct GroupPoint : PerUnit<models::MeasuredPoint> {
  bool precise = true;     ///< every unit of the group is
  double kernels_s = 0.0;  ///< all timed repetitions of the group's slowest unit
  double elapsed_s = 0.0;  ///< the same with barriers and statistics
};

/// Measures all units of all ranks at the same time, each repetition started at a barrier, until every one is precise,
/// the time is up or the repetitions are used up: contention for shared resources is part of the result. Source: 000,
/// sections 3.2 and 6.1.2. Collective.
/// @param run one repetition, and its seconds on each unit of this rank
/// @param counts kernel runs in a repetition of this rank's units
/// @throws CollectiveError when `run` throws on any rank
GroupPoint measure_group(MPI_Comm group, const std::function<UnitSeconds()>& run, const Precision& precision,
                         const PerUnit<int>& counts = {1, 1});

/// Computation units for each unit of a rank; 0 for a unit that stays idle.
using UnitSizes = PerUnit<std::int64_t>;

/// Measures a kernel at given sizes on the units of a group of ranks that share resources. Runs shorter than 4 ms are
/// repeated inside one timed repetition, and every unit repeats its own until all are busy for as long as the slowest
/// one, so that none is measured while its neighbours have already ended.
class KernelMeasurement {
 public:
  /// @param group ranks that are measured together; has to outlive this
  /// @throws InvalidArgument for a precision that makes no sense
  KernelMeasurement(MPI_Comm group, CoExecution& co_execution, const MeasurableKernel& kernel,
                    const Precision& precision);

  /// All units of the group at the same time: s_c(x), g(x) shared. Collective.
  /// Source: 000, sections 3.2 and 4.1. @throws CollectiveError where an instance cannot be allocated or run
  GroupPoint together(const UnitSizes& sizes);

  /// One unit after the other, all others of the group asleep: s_1(x), g(x) alone. Collective.
  /// @throws CollectiveError where an instance cannot be allocated or run
  GroupPoint alone(const UnitSizes& sizes);

 private:
  GroupPoint measure(MPI_Comm group, const UnitSizes& sizes);

  MPI_Comm group_;
  CoExecution& co_execution_;
  const MeasurableKernel& kernel_;
  Precision precision_;
};

/// A model file of one of this rank's units, without points.
models::FpmFile describe_model(const Session& session, const RankUnits& units, ProcessingUnit::Kind kind,
                               const KernelFacts& kernel);

/// Sizes to measure, and how precisely.
struct BuildPlan {
  std::vector<std::int64_t> sizes;               ///< in this order; with `adaptive` the first ones
  std::optional<models::AdaptiveGoal> adaptive;  ///< go on between them until the models are certain
  int most_sizes = 64;                           ///< of an adaptive selection
  int rounds = 1;                                ///< times that each size is measured, with all others in between
  bool solo = false;                             ///< also every unit by itself
  Precision precision;
};

/// Models of one unit: measured while all others were busy with the same, and by itself.
struct UnitModels {
  models::FpmFile group;
  std::optional<models::FpmFile> solo;
};

/// Where the time of a measurement went, on one rank.
struct MeasuringTime {
  double kernels_s = 0.0;       ///< inside the slowest unit's kernels, all timed repetitions
  double overhead_s = 0.0;      ///< barriers, reductions and statistics around them
  double long_kernels_s = 0.0;  ///< the same two for points that take over 10 ms
  double long_overhead_s = 0.0;
  double total_s = 0.0;  ///< with allocation and warm-up
};

/// Models of one rank's units.
struct BuiltModels : PerUnit<std::optional<UnitModels>> {
  std::optional<models::UncertainGap> uncertain;  ///< where an adaptive selection gave up
  MeasuringTime time;
};

/// Measures speed models of a kernel on every unit of the group. A point counts only where every unit of the group was
/// precise in every round; the others go to `imprecise`. A unit that a size does not fit stays idle at that size.
/// Collective over the group. Source: 000, sections 3.2, 4.1 and 6.3 (builder).
/// @param after_size called on each rank with each size that has been measured, and with all that is measured so far;
/// must not communicate
/// @throws InvalidArgument for sizes that fit no unit of the group, CollectiveError where memory runs out all the same
BuiltModels build_models(const Session& session, MPI_Comm group, CoExecution& co_execution, const RankUnits& units,
                         const MeasurableKernel& kernel, const BuildPlan& plan,
                         const std::function<void(std::int64_t size, const BuiltModels& so_far)>& after_size = {});

}  // namespace steelyard
