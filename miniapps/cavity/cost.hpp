#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/measurable_kernel.hpp"
#include "miniapps/app/plan.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// Phases of a time step: its parts, which are a unit's own sweeps (BiCGSTAB for momentum, CG for pressure, the
/// V-cycles of its preconditioner, the rest), and then synchronisations (sums over all units, exchanges of halos).
struct StepPhase {
  enum Index : std::size_t { momentum, pressure, multigrid, rest, sums, halos };
};
inline constexpr std::array<const char*, 6> phase_names = {"momentum", "pressure", "multigrid",
                                                           "rest",     "sums",     "halos"};
inline constexpr std::size_t part_count = 4;
using PerPart = std::array<double, part_count>;

/// Seconds of time steps by phase: sweeps with what an emulated slowdown adds, synchronisations with the waiting.
struct StepPhases {
  std::array<double, phase_names.size()> seconds{};

  double& operator[](std::size_t phase) { return seconds[phase]; }
  double operator[](std::size_t phase) const { return seconds[phase]; }
  double own_s() const { return std::accumulate(seconds.begin(), seconds.begin() + part_count, 0.0); }
  double syncs_s() const { return seconds[StepPhase::sums] + seconds[StepPhase::halos]; }
  double total_s() const { return own_s() + syncs_s(); }
  StepPhases& operator+=(const StepPhases& other) {
    for (std::size_t phase = 0; phase < seconds.size(); ++phase) seconds[phase] += other[phase];
    return *this;
  }
};

/// Phases by name, in the order in which they are printed; V-cycles where there are any.
std::vector<std::pair<std::string, double>> named_phases(const StepPhases& phases, const Numerics& numerics);

/// Bytes of a row of a field, which a halo is made of.
double row_bytes(std::int64_t columns);

/// How often units synchronise: in sums over all of them, and in exchanges of halos.
struct SyncCounts {
  double sums = 0.0;
  double exchanges = 0.0;
  double halo_bytes = 0.0;  ///< of all these exchanges, to one neighbour

  void add(double times, const SyncCounts& each) {
    sums += times * each.sums;
    exchanges += times * each.exchanges;
    halo_bytes += times * each.halo_bytes;
  }
};

/// Synchronisations of a step with these iterations, none of which ends early.
SyncCounts step_syncs(const Problem& problem, const Numerics& numerics, const Iterations& iterations);

/// Memory traffic of a step with these iterations, in bytes: what sweeps read and write where no cache holds anything
/// from one sweep to the next, counted in the solvers' headers.
double step_bytes(const Problem& problem, const Numerics& numerics, const Iterations& iterations);

/// A time step from rest on one unit, without communication, with a fixed number of iterations in each solve. A
/// computation unit is a grid row. Runs tell the seconds of each part, see StepPhase. Source: 000, section 5.3.4.
class MeasuredKernel : public MeasurableKernel {
 public:
  /// @param problem columns, the cells' shape, correctors @param to_the_end solves end by their residuals instead
  MeasuredKernel(Problem problem, const Numerics& numerics, bool to_the_end = false);

  KernelFacts facts() const override;
  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override;
  /// Their steps are solved to the end, from a field that is not at rest.
  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override;
  std::vector<double> reference(std::int64_t units) const override;

  /// Iterations of each solve in a run.
  static constexpr int iterations = 3;
  static Iterations run_iterations(const Problem& problem) {
    return {iterations, static_cast<double>(iterations) * problem.correctors};
  }

 private:
  Problem problem_;
  Numerics numerics_;
};

/// Seconds of one synchronisation of each kind between units that own consecutive slices.
struct SyncCosts {
  std::string model = "no messages";  ///< as in models::cost_model_names()
  double sum_s = 0.0;
  double exchange_s = 0.0;  ///< of an exchange without bytes
  double byte_s = 0.0;      ///< of each byte to a neighbour
};

/// Distribution of rows, and what time steps cost with it. Units' seconds are those of their speed models, which are of
/// a step with MeasuredKernel::iterations in each solve; its parts share them as the models' points say or, where these
/// do not, as they move memory. Levels of multigrid that every unit has whole are swept by all.
class StepPlan {
 public:
  /// Obtains models and channels. @throws InvalidArgument, FileFormatError
  StepPlan(Resources& on, const Problem& problem, const Numerics& numerics);

  /// Predicts steps with these iterations each. Each part takes what the slowest unit's own sweeps take, for units
  /// synchronise in every iteration: T = n_m max T_m + n_p max (T_p + T_V) + max T_rest + T_sums + T_halos.
  /// Source: 000, sections 5.3.2-5.3.4; 003, section 5.3. @param steps nothing where their number is not known
  Plan plan(std::optional<std::int64_t> steps, const Iterations& of_step) const;
  const std::vector<std::int64_t>& rows() const { return plan_.distribution; }
  /// Seconds of an even distribution's largest part over this one's; 1 where some unit does not hold an even part.
  double gain_over_even() const { return gain_over_even_; }

 private:
  Problem problem_;
  Numerics numerics_;
  Plan plan_;                     ///< without predictions
  std::vector<PerPart> unit_s_;   ///< of every slot, each part once
  std::vector<SyncCosts> costs_;  ///< by each model of communication
  bool has_seconds_ = false, synchronises_ = false;
  double start_s_ = 0.0;
  double gain_over_even_ = 1.0;
};

}  // namespace steelyard::cavity
