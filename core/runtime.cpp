#include "core/runtime.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/spaces.hpp"

namespace steelyard {
namespace {

/// With this many host threads and this device (-1: Kokkos chooses), without Kokkos' advice about OMP_PROC_BIND:
/// threads are bound through hwloc. @throws RuntimeFailure for a build with a device on a machine without one
void initialize_kokkos(int threads, int device) {
  if (companion_is_device && device_count() == 0) {
    throw RuntimeFailure("no GPU on this machine, without which this build does not start");
  }
  // Kokkos ends a program where these differ from what it is told here, which has been made of them.
  for (const char* variable : {"KOKKOS_NUM_THREADS", "KOKKOS_DEVICE_ID", "KOKKOS_DISABLE_WARNINGS"}) {
    ::unsetenv(variable);
  }
  Kokkos::InitializationSettings settings;
  settings.set_num_threads(threads);
  settings.set_disable_warnings(true);
  if (device >= 0) settings.set_device_id(device);
  Kokkos::initialize(settings);
}

}  // namespace

std::string kokkos_version() {
  return fmt::format("{}.{}.{:02}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100);
}

Runtime::Runtime(const Machine& machine, const RankUnits& units) {
  const CoreList& cores = units.host ? units.host->cores : units.companion->cores;
  std::atomic<bool> refused{false};
  const auto bind = [&](const CoreList& to) {
    try {
      machine.bind_this_thread(to);
    } catch (const RuntimeFailure&) {
      refused = true;
    }
  };
  // Bound before Kokkos starts, so that memory which its threads and back ends allocate early is near.
  bind(cores);
  initialize_kokkos(static_cast<int>(cores.size()), units.companion ? units.companion->device : -1);
  if (units.companion) set_devices(units.companion->device_sharers, units.companion->devices);
  // Iteration i of a static schedule over as many iterations as threads runs on a thread of its own.
  using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::Schedule<Kokkos::Static>, int>;
  Kokkos::parallel_for("steelyard::core::bind_threads", Policy(0, static_cast<int>(cores.size())),
                       [&](const int i) { bind({cores[static_cast<std::size_t>(i)]}); });
  Kokkos::fence();
  bound_ = !refused;
}

Runtime::~Runtime() { Kokkos::finalize(); }

}  // namespace steelyard
