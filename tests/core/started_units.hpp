#pragma once

#include "core/device/device.hpp"
#include "core/machine.hpp"
#include "core/processing_unit.hpp"
#include "core/spaces.hpp"
#include "tests/catch.hpp"

namespace steelyard::tests {

/// What kokkos_main.cpp started Kokkos with: all units that this build and machine have, on all cores.
const Machine& this_machine();
const RankUnits& started_units();
/// False where this system refuses to bind threads.
bool threads_are_bound();

/// The space of a unit; skips a test case of a device on a machine without one.
template <class Execution>
Execution unit_space() {
  if (!runs_on_host<Execution> && device_count() == 0) SKIP("this machine has no device");
  return Execution();
}

/// make_queues(), with the same condition.
inline std::vector<CompanionExecution> companion_queues(int count) {
  unit_space<CompanionExecution>();
  return make_queues(count);
}

}  // namespace steelyard::tests
