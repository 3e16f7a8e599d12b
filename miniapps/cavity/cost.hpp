#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "miniapps/cavity/problem.hpp"
#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::cavity {

/// How often units synchronise: in sums over all of them, and in exchanges of halos.
struct SyncCounts {
  double sums = 0.0;
  double exchanges = 0.0;
  double halo_bytes = 0.0;  ///< of all these exchanges, to one neighbour

  SyncCounts& operator+=(const SyncCounts& other) {
    sums += other.sums;
    exchanges += other.exchanges;
    halo_bytes += other.halo_bytes;
    return *this;
  }
};

/// Seconds of one synchronisation of each kind between ranks that own consecutive slices; 0 for a single rank.
struct SyncCosts {
  std::string model;  ///< as in models::cost_model_names()
  double sum_s = 0.0;
  double exchange_s = 0.0;  ///< of an exchange without bytes
  double byte_s = 0.0;      ///< of each byte to a neighbour

  /// Source: 000, Algorithms 2 and 3 (LC, GC).
  double seconds(const SyncCounts& counts) const {
    return counts.sums * sum_s + counts.exchanges * exchange_s + counts.halo_bytes * byte_s;
  }
};

/// A sum is a recursive doubling, an exchange a 1D halo (models/communication/collective_patterns), whose seconds are a
/// line through those of a short message and of one of `row_bytes`.
/// @throws InvalidArgument where no model has parameters, or no channel joins two ranks
SyncCosts sync_costs(double row_bytes, int ranks, const models::Platform& platform, const models::Placement& placement);

/// The parts of a time step, and a value for each: iterations of BiCGSTAB for momentum, iterations of CG for pressure,
/// and the rest of the step.
struct StepPart {
  enum Index : std::size_t { momentum, pressure, rest };
};
template <class Value>
using PerPart = std::array<Value, 3>;

/// Values of a step whose parts run so often: T = n_m T_m + n_p T_p + T_rest.
/// Source: 000, sections 5.3.2-5.3.4.
inline double step_sum(const PerPart<double>& parts, double momentum_iterations, double pressure_iterations) {
  return momentum_iterations * parts[StepPart::momentum] + pressure_iterations * parts[StepPart::pressure] +
         parts[StepPart::rest];
}

/// Memory traffic of a time step with so many iterations in all of its solves, in bytes: what its sweeps read and write
/// where no cache holds anything from one sweep to the next, counted in the solvers' headers.
double step_bytes(const Problem& problem, const Numerics& numerics, double momentum_iterations,
                  double pressure_iterations);

/// How much faster than with an even split a run can be: S_exec = (S_comp + r_f) / (1 + r_f), where S_comp is the same
/// of computation alone, as speed models say, and r_f is communication over computation of the balanced run, whose
/// communication counts for both. Source: 000, section 5.3.4.
struct SpeedupBound {
  double computation = 1.0;    ///< S_comp
  double communication = 0.0;  ///< r_f

  double execution() const { return (computation + communication) / (1.0 + communication); }
};

}  // namespace steelyard::cavity
