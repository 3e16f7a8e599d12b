#pragma once

#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

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
inline SyncCounts operator*(double times, const SyncCounts& counts) {
  return {times * counts.sums, times * counts.exchanges, times * counts.halo_bytes};
}

/// Seconds of one synchronisation of each kind between units that own consecutive slices.
struct SyncCosts {
  std::string model;  ///< as in models::cost_model_names()
  double sum_s = 0.0;
  double exchange_s = 0.0;  ///< of an exchange without bytes
  double byte_s = 0.0;      ///< of each byte to a neighbour

  double halos_s(const SyncCounts& counts) const { return counts.exchanges * exchange_s + counts.halo_bytes * byte_s; }
};

/// Those between ranks, by every model of communication that the platform has; nothing at all for a single rank. A sum
/// is a recursive doubling, an exchange a 1D halo (models/communication/collective_patterns), whose seconds are a line
/// through those of a short message and of one of `row_bytes`. Source: 000, Algorithms 2 and 3 (LC, GC).
/// @throws InvalidArgument where no model has parameters, or no channel joins two ranks
std::vector<SyncCosts> sync_costs(double row_bytes, int ranks, const models::Platform& platform,
                                  const models::Placement& placement);

/// The parts of a time step, and a value for each: iterations of BiCGSTAB for momentum, iterations of CG for pressure,
/// the V-cycles of its preconditioner, and the rest of the step.
struct StepPart {
  enum Index : std::size_t { momentum, pressure, multigrid, rest };
};
template <class Value>
using PerPart = std::array<Value, 4>;
inline constexpr PerPart<const char*> part_names = {"momentum", "pressure", "multigrid", "rest"};

/// Iterations of a time step: of BiCGSTAB for momentum, and of CG in all pressure solves, with a V-cycle each where
/// multigrid is the preconditioner.
struct Iterations {
  double momentum = 0.0;
  double pressure = 0.0;
};

/// How often a step does each of its parts. Before and behind its iterations a solve computes residuals, which move as
/// much memory as a part of an iteration.
PerPart<double> step_calls(const Problem& problem, const Numerics& numerics, const Iterations& iterations);

/// Memory traffic of each part, once, in words of 8 bytes by each cell: what sweeps read and write where no cache holds
/// anything from one sweep to the next, counted in the solvers' headers.
PerPart<double> part_words(const Problem& problem, const Numerics& numerics);

/// The traffic of a time step with so many iterations, in bytes.
double step_bytes(const Problem& problem, const Numerics& numerics, const Iterations& iterations);

/// Seconds of time steps, by what they are spent on.
struct StepPhases {
  PerPart<double> work_s{};  ///< own sweeps, with what an emulated slowdown adds
  double sums_s = 0.0;       ///< sums over all units, with the waiting for other units
  double halos_s = 0.0;      ///< exchanges of halos, with the waiting for other units

  double own_s() const { return std::accumulate(work_s.begin(), work_s.end(), 0.0); }
  double syncs_s() const { return sums_s + halos_s; }
  double total_s() const { return own_s() + syncs_s(); }
  StepPhases& operator+=(const StepPhases& other) {
    for (std::size_t part = 0; part < work_s.size(); ++part) work_s[part] += other.work_s[part];
    sums_s += other.sums_s;
    halos_s += other.halos_s;
    return *this;
  }
};

/// Phases by name, in the order in which they are printed; V-cycles where there are any.
std::vector<std::pair<std::string, double>> named_phases(const StepPhases& phases, const Numerics& numerics);

/// A step whose parts run so often: each part takes what the slowest unit's own sweeps take, for units synchronise in
/// every iteration: T = n_m max T_m + n_p max (T_p + T_V) + max T_rest + T_sums + T_halos.
/// Source: 000, sections 5.3.2-5.3.4; a term for each phase as in 003, section 5.3.
/// @param unit_s of every unit, seconds of each part once
StepPhases step_phases(const PerPart<double>& calls, std::span<const PerPart<double>> unit_s, const SyncCounts& syncs,
                       const SyncCosts& costs);

/// How much faster than with an even split a run can be: S_exec = (S_comp + r_f) / (1 + r_f), where S_comp is the same
/// of computation alone, as speed models say, and r_f is communication over computation of the balanced run, whose
/// communication counts for both. Source: 000, section 5.3.4.
struct SpeedupBound {
  double computation = 1.0;    ///< S_comp
  double communication = 0.0;  ///< r_f

  double execution() const { return (computation + communication) / (1.0 + communication); }
};

}  // namespace steelyard::cavity
