#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "comm/session.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"
#include "models/fpm_file.hpp"
#include "models/measured_point.hpp"

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
struct GroupPoint {
  models::MeasuredPoint host;
  models::MeasuredPoint companion;
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

}  // namespace steelyard
