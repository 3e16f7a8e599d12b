#include "core/compatibility.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "core/device/device.hpp"

namespace steelyard {

std::string kokkos_version() {
  return fmt::format("{}.{}.{:02}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100);
}

void initialize_kokkos(int threads, int device) {
  if (companion_is_device && device_count() == 0) leave_out_device();
  // Kokkos ends a program where these differ from what it is told here, even by one warning or thread.
  for (const char* variable : {"KOKKOS_NUM_THREADS", "KOKKOS_DEVICE_ID", "KOKKOS_DISABLE_WARNINGS"}) {
    ::unsetenv(variable);
  }
#if KOKKOS_VERSION >= 30700
  Kokkos::InitializationSettings settings;
  settings.set_num_threads(threads);
  settings.set_disable_warnings(true);
  if (device >= 0) settings.set_device_id(device);
  Kokkos::initialize(settings);
#else
  Kokkos::InitArguments arguments;
  arguments.num_threads = threads;
  arguments.disable_warnings = true;
  if (device >= 0) arguments.device_id = device;
  Kokkos::initialize(arguments);
#endif
}

}  // namespace steelyard
