#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <csignal>
#include <cstring>
#include <new>

#include "core/device/device.hpp"
#include "tests/core/ended_program.hpp"
#include "tests/device/emulated/facts.hpp"
#include "tests/device/emulated/memory.hpp"
#include "tests/device/emulated/queue.hpp"

namespace steelyard::test_memory {

using Catch::Matchers::ContainsSubstring;

namespace {

/// The device's handler of faults is installed with its next memory.
template <class Action>
tests::EndedProgram ended_by(const Action& action) {
  return tests::ended_program([&] {
    emulated::allocate("installs the handler", 0, 8);
    action();
  });
}

}  // namespace

TEST_CASE("a host that touches a device's memory ends, and what it touched is named") {
  if (emulated::facts().mpi_aware) SKIP("MPI, and with it the host, may touch this device's memory");
  const Kokkos::View<double*, DeviceOf<EmulatedDevice>> field("a field of the device", 1000);
  Kokkos::fence();
  const auto read = ended_by([&] {
    volatile double value = field(10);
    (void)value;
  });
  CHECK(read.signal == SIGSEGV);
  CHECK_THAT(read.text, ContainsSubstring("host code touched byte 80 of \"a field of the device\", 8000 bytes"));
  const auto written = ended_by([&] { field.data()[0] = 1.0; });
  CHECK(written.signal == SIGSEGV);
}

TEST_CASE("host Views cannot be mistaken for a device's, nor the other way round") {
  STATIC_REQUIRE_FALSE(Kokkos::SpaceAccessibility<HostExecution, EmulatedMemory>::accessible);
  STATIC_REQUIRE_FALSE(Kokkos::SpaceAccessibility<EmulatedDevice, Kokkos::HostSpace>::accessible);
  using View = Kokkos::View<double*, DeviceOf<EmulatedDevice>>;
  STATIC_REQUIRE(std::is_same_v<View::HostMirror::memory_space, Kokkos::HostSpace>);
}

TEST_CASE("behind the last page of a device's memory there is nothing, for kernels as well") {
  const Kokkos::View<unsigned char*, DeviceOf<EmulatedDevice>> page("a page", 4096);
  auto* const data = page.data();
  const auto behind = ended_by([&] {
    const emulated::MemoryAccess access(emulated::selected_device());
    data[4096] = 1;
  });
  CHECK(behind.signal == SIGSEGV);
  CHECK_THAT(behind.text, ContainsSubstring("\"a page\"") && ContainsSubstring("behind its end"));
}

TEST_CASE("new memory holds no numbers") {
  void* const memory = emulated::allocate("new", 0, 80);
  {
    const emulated::MemoryAccess access(emulated::selected_device());
    for (int i = 0; i < 10; ++i) CHECK(std::isnan(static_cast<const double*>(memory)[i]));
  }
  emulated::deallocate(memory);
}

TEST_CASE("a device has as much memory as it is said to have, and gets back what is freed") {
  const int device = emulated::selected_device();
  const auto most = static_cast<std::size_t>(emulated::facts().memory_bytes) - emulated::allocated_bytes(device);
  CHECK_THROWS_AS(emulated::allocate("too much", 0, most + 1), std::bad_alloc);
  const std::size_t before = emulated::allocated_bytes(device);
  void* const some = emulated::allocate("some", 0, 12345);
  CHECK(emulated::allocated_bytes(device) == before + 12345);
  CHECK_THROWS_AS(emulated::allocate("too much", 0, most), std::bad_alloc);
  emulated::deallocate(some);
  CHECK(emulated::allocated_bytes(device) == before);
}

TEST_CASE("work for a device's queue by a thread that has selected no such device is refused") {
  if (emulated::facts().devices < 2) SKIP("this process has one emulated device");
  const int own = emulated::selected_device();
  emulated::Queue queue(1 - own);
  CHECK_THROWS_AS(queue.give("work", [] {}), RuntimeFailure);
  select_device(1 - own);
  bool done = false;
  queue.give("work", [&] { done = true; });
  queue.wait();
  CHECK(done);
  select_device(own);
}

}  // namespace steelyard::test_memory
