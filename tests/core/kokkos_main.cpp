// Catch2's main with Kokkos started as an app on this machine would start it: host unit and companion, or what
// STEELYARD_TEST_UNITS says in the words of --units.

#include <sched.h>

#include <catch2/catch_session.hpp>
#include <cstdlib>
#include <utility>

#include "core/runtime.hpp"
#include "core/unit_plan.hpp"
#include "tests/core/started_units.hpp"

namespace {

const steelyard::RankUnits* units_of_main = nullptr;
const steelyard::Runtime* runtime_of_main = nullptr;

/// Gives the host unit the core where the system has started this test, and the companion that of the host unit: of
/// tests that run at the same time, each would compute on the first core otherwise. Where hwloc numbers cores unlike
/// the system, they still may.
void start_on_this_core(steelyard::RankUnits& units) {
  if (!units.host || !units.companion) return;
  steelyard::CoreList &host = units.host->cores, &companion = units.companion->cores;
  if (host.size() == companion.size() && companion.front() == ::sched_getcpu()) std::swap(host, companion);
}

}  // namespace

namespace steelyard::tests {

const Machine& this_machine() {
  static const Machine machine;
  return machine;
}
const RankUnits& started_units() { return *units_of_main; }
bool threads_are_bound() { return runtime_of_main->bound(); }

}  // namespace steelyard::tests

int main(int argc, char** argv) {
  const steelyard::Machine& machine = steelyard::tests::this_machine();
  steelyard::PlanRequest request;
  if (const char* words = std::getenv("STEELYARD_TEST_UNITS")) request.units = steelyard::parse_unit_choice(words);
  steelyard::RankUnits units = steelyard::plan_units(machine, request);
  start_on_this_core(units);
  const steelyard::Runtime runtime(machine, units);
  units_of_main = &units;
  runtime_of_main = &runtime;
  return Catch::Session().run(argc, argv);
}
