#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <vector>

#include "comm/measurement/kernel_measurement.hpp"
#include "models/size_selection.hpp"

namespace steelyard {

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
