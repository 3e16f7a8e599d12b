#include "core/runtime.hpp"

#include <atomic>

#include "core/base/errors.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/spaces.hpp"

namespace steelyard {
namespace {

/// Iteration i of a static schedule over as many iterations as threads runs on a thread of its own.
struct BindThreads {
  const Machine* machine;
  const CoreList* cores;
  std::atomic<bool>* refused;

  void operator()(const int i) const {
    try {
      machine->bind_this_thread({(*cores)[static_cast<std::size_t>(i)]});
    } catch (const RuntimeFailure&) {
      *refused = true;
    }
  }
};

}  // namespace

Runtime::Runtime(const Machine& machine, const RankUnits& units) {
  const CoreList& cores = units.host ? units.host->cores : units.companion->cores;
  // Bound before Kokkos starts, so that memory which its threads and back ends allocate early is near.
  try {
    machine.bind_this_thread(cores);
  } catch (const RuntimeFailure&) {
    bound_ = false;
  }
  initialize_kokkos(static_cast<int>(cores.size()), units.companion ? units.companion->device : -1);
  if (units.companion) set_device_sharers(units.companion->device_sharers);
  std::atomic<bool> refused{false};
  using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::Schedule<Kokkos::Static>, int>;
  Kokkos::parallel_for("steelyard::core::bind_threads", Policy(0, static_cast<int>(cores.size())),
                       BindThreads{&machine, &cores, &refused});
  Kokkos::fence();
  bound_ = bound_ && !refused;
}

Runtime::~Runtime() { Kokkos::finalize(); }

}  // namespace steelyard
