#pragma once

#include "comm/unit_group.hpp"

namespace steelyard::cavity {

/// What solving one of a step's systems took.
struct SolveTimes {
  double total_s = 0.0;
  UnitGroup::Meetings meetings;

  SolveTimes& operator+=(const SolveTimes& other) {
    total_s += other.total_s;
    meetings += other.meetings;
    return *this;
  }
};

/// What a rank spent on time steps, as the unit saw it that drives MPI.
struct FlowTimes {
  double total_s = 0.0;
  double host_s = 0.0;  ///< the host unit's own sweeps, with what an emulated slowdown adds
  double companion_s = 0.0;
  UnitGroup::Meetings meetings;  ///< of all units, those of the solvers as well
  SolveTimes momentum;
  SolveTimes pressure;

  FlowTimes& operator+=(const FlowTimes& other) {
    total_s += other.total_s;
    host_s += other.host_s;
    companion_s += other.companion_s;
    meetings += other.meetings;
    momentum += other.momentum;
    pressure += other.pressure;
    return *this;
  }
};

}  // namespace steelyard::cavity
