#pragma once

#include <string>

#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::cavity {

/// How often units meet: in sums over all of them, and in exchanges of halos with so many bytes to a neighbour in all.
struct Meetings {
  double sums = 0.0;
  double exchanges = 0.0;
  double halo_bytes = 0.0;  ///< of all these exchanges, to one neighbour

  Meetings& operator+=(const Meetings& other) {
    sums += other.sums;
    exchanges += other.exchanges;
    halo_bytes += other.halo_bytes;
    return *this;
  }
  Meetings& operator*=(double factor) {
    sums *= factor;
    exchanges *= factor;
    halo_bytes *= factor;
    return *this;
  }
};

/// What one meeting of each kind costs between ranks that own consecutive slices; nothing for a single rank.
struct MeetingCosts {
  std::string model;  ///< as in models::cost_model_names()
  double sum_s = 0.0;
  double exchange_s = 0.0;  ///< of an exchange without bytes
  double byte_s = 0.0;      ///< of each byte to a neighbour
};

/// A sum is a recursive doubling, an exchange a 1D halo (models/communication/collective_patterns), whose seconds are a
/// line through those of a short message and of one of `row_bytes`.
/// @throws InvalidArgument where no model has parameters, or no channel joins two ranks
MeetingCosts meeting_costs(double row_bytes, int ranks, const models::Platform& platform,
                           const models::Placement& placement);

/// Seconds of a part of a time step: the slowest unit's work and the ranks' meetings.
struct PartCost {
  double work_s = 0.0;
  Meetings meetings;
  double communication_s = 0.0;

  double total_s() const { return work_s + communication_s; }
};

/// Seconds of meetings. Source: 000, Algorithms 2 and 3 (LC, GC).
double communication_s(const Meetings& meetings, const MeetingCosts& costs);

/// What a time step is made of: T = n_m T_m + n_p T_p + T_rest, with n_m iterations of BiCGSTAB and n_p of CG.
/// Source: 000, sections 5.3.2-5.3.4.
struct StepCost {
  PartCost momentum;                 ///< of one iteration
  PartCost pressure;                 ///< of one iteration
  PartCost rest;                     ///< of one step
  double momentum_iterations = 0.0;  ///< that a sample's steps needed, which a run's may not
  double pressure_iterations = 0.0;

  double step_s(double of_momentum, double of_pressure) const {
    return of_momentum * momentum.total_s() + of_pressure * pressure.total_s() + rest.total_s();
  }
};

}  // namespace steelyard::cavity
