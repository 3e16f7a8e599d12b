#pragma once

#include <mpi.h>

#include <cstdint>

#include "comm/measurement/group_measurement.hpp"
#include "comm/session.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"
#include "models/fpm_file.hpp"

namespace steelyard {

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
  class Instances;
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
