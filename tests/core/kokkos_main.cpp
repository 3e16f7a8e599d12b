// Catch2's main with Kokkos started as an app on this machine would start it: host unit and companion.

#include <catch2/catch_session.hpp>

#include "core/runtime.hpp"
#include "core/unit_plan.hpp"

int main(int argc, char** argv) {
  const steelyard::Machine machine;
  const steelyard::Runtime runtime(machine, steelyard::plan_units(machine, {}));
  return Catch::Session().run(argc, argv);
}
