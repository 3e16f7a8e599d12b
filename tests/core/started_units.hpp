#pragma once

#include "core/machine.hpp"
#include "core/processing_unit.hpp"

namespace steelyard::tests {

/// What kokkos_main.cpp started Kokkos with: all units that this build and machine have, on all cores.
const Machine& this_machine();
const RankUnits& started_units();
/// False where this system refuses to bind threads.
bool threads_are_bound();

}  // namespace steelyard::tests
