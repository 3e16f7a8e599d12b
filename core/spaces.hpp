#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include "core/device/back_end.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// Kokkos' serial host space, or nothing (void) in a Kokkos built without it.
#if defined(KOKKOS_ENABLE_SERIAL)
using SerialExecution = Kokkos::Serial;
#else
using SerialExecution = void;
#endif

/// Execution space of the host unit.
using HostExecution = Kokkos::DefaultHostExecutionSpace;

/// Whether this build has a device; the companion is then that, otherwise a core driven through Kokkos::Serial.
inline constexpr bool companion_is_device = !std::is_same_v<DeviceExecution, HostExecution>;

/// Whether a companion can exist: a device, or a Serial space that is not the host unit's own.
inline constexpr bool has_companion =
    companion_is_device || !(std::is_void_v<SerialExecution> || std::is_same_v<SerialExecution, HostExecution>);

/// Execution space of the companion; where there is none, the host's, so that code for it still compiles.
using CompanionExecution = std::conditional_t<companion_is_device, DeviceExecution,
                                              std::conditional_t<has_companion, SerialExecution, HostExecution>>;

/// Whether a space's kernels are run by cores of the host. Its memory does not tell: hosts reach some devices'.
template <class Execution>
inline constexpr bool runs_on_host =
    std::is_same_v<Execution, HostExecution> || std::is_same_v<Execution, SerialExecution>;

/// Calls `use` with the execution space of a rank's unit, its default instance. @return what it returns
template <class Use>
auto with_space(ProcessingUnit::Kind kind, const Use& use) {
  if (kind == ProcessingUnit::Kind::host) return use(HostExecution());
  return use(CompanionExecution());
}

/// A unit's own memory: Views carry the unit's device type, so that they are initialised by the unit that uses them.
template <class Execution>
using DeviceOf = Kokkos::Device<Execution, typename Execution::memory_space>;

}  // namespace steelyard
