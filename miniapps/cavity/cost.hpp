#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "miniapps/app/plan.hpp"
#include "miniapps/cavity/problem.hpp"
#include "models/communication/message_pattern.hpp"
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

/// Costs of synchronisations between ranks, by every model of communication that the platform has; nothing at all for a
/// single rank. A sum is a recursive doubling, an exchange a 1D halo (models/communication/message_pattern), whose
/// seconds are a line through those of a short message and of one of `row_bytes`. Source: 000, Algorithms 2 and 3 (LC,
/// GC).
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

/// How often a step does each of its parts. Before and behind its iterations a solve computes residuals, which move as
/// much memory as a part of an iteration.
PerPart<double> step_calls(const Problem& problem, const Numerics& numerics, const Iterations& iterations);

/// Memory traffic of each part, once, in words of 8 bytes by each cell: what sweeps read and write where no cache holds
/// anything from one sweep to the next, counted in the solvers' headers.
PerPart<double> part_words(const Problem& problem, const Numerics& numerics);

/// Memory traffic of a time step with these iterations, in bytes.
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

/// Bytes of a row of a field, which a halo is made of.
double row_bytes(std::int64_t columns);

/// Synchronisations of a V-cycle where several units share out the finer levels, see MultigridLevels.
struct SharedCycle {
  SyncCounts syncs;          ///< halos of right sides and corrections, and a gather, which counts as an exchange
  double whole_share = 0.0;  ///< of all levels' cells: those that every unit sweeps, for it has these levels whole
};
/// Nothing without multigrid. As if every unit had rows of all levels that are not small.
SharedCycle shared_cycle(const Problem& problem, const Numerics& numerics);

/// How often units synchronise in a step with these iterations, none of which ends early.
SyncCounts step_syncs(const Problem& problem, const Numerics& numerics, const Iterations& iterations);

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

/// Distribution of rows, and what time steps cost with it. Units' seconds are those of their speed models, which are of
/// a step with MeasuredKernel::iterations in each solve; its parts share them as the models' points say or, where these
/// do not, as they move memory. Levels of multigrid that every unit has whole are swept by all.
class StepPlan {
 public:
  /// Obtains models and channels. @throws InvalidArgument, FileFormatError
  StepPlan(Resources& on, const Problem& problem, const Numerics& numerics);

  /// Predicts steps with these iterations each. @param steps nothing: their number is not known, nor their seconds
  Plan plan(std::optional<std::int64_t> steps, const Iterations& of_step) const;
  const std::vector<std::int64_t>& rows() const { return plan_.distribution; }
  /// Quotient of the largest part of an even distribution, in seconds, and that of this one; 1 where some unit does not
  /// hold an even part.
  double gain_over_even() const { return gain_over_even_; }

 private:
  Problem problem_;
  Numerics numerics_;
  Plan plan_;                            ///< without predictions
  std::vector<PerPart<double>> unit_s_;  ///< of every slot, each part once
  std::vector<SyncCosts> costs_;         ///< of synchronisations, by each model of communication
  bool has_seconds_ = false, synchronises_ = false;
  double start_s_ = 0.0;
  double gain_over_even_ = 1.0;
};

}  // namespace steelyard::cavity
