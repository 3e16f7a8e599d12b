#include "core/compatibility.hpp"

#include <fmt/format.h>

#include <array>

namespace steelyard {

std::string kokkos_version() {
  return fmt::format("{}.{}.{:02}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100);
}

void initialize_kokkos(int threads, int device) {
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

int device_count() {
#if defined(KOKKOS_ENABLE_CUDA)
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
#elif KOKKOS_VERSION >= 40300
  return Kokkos::num_devices() > 0 ? Kokkos::num_devices() : 0;
#else
  return 0;
#endif
}

DeviceFacts device_facts([[maybe_unused]] int device) {
#if defined(KOKKOS_ENABLE_CUDA)
  cudaDeviceProp properties;
  std::array<char, 32> bus{};
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return {};
  if (cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device) != cudaSuccess) bus[0] = '\0';
  return {properties.name, bus.data(), static_cast<double>(properties.totalGlobalMem)};
#else
  return {};
#endif
}

int current_device() {
#if defined(KOKKOS_ENABLE_CUDA)
  return Kokkos::Cuda().cuda_device();
#elif KOKKOS_VERSION >= 40300
  return Kokkos::device_id();
#else
  return -1;
#endif
}

}  // namespace steelyard
