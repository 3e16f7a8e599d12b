#include <catch2/catch_test_macros.hpp>

#include "core/device/device.hpp"
#include "core/spaces.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_device_facts {

TEST_CASE("host code reads and writes pinned memory") {
  tests::unit_space<CompanionExecution>();
  Kokkos::View<double*, PinnedMemory> pinned("steelyard::tests::pinned", 3);
  STATIC_REQUIRE(Kokkos::SpaceAccessibility<Kokkos::HostSpace, PinnedMemory>::accessible);
  pinned(2) = 1.5;
  CHECK(pinned(2) == 1.5);
  CHECK(pinned(0) == 0.0);
}

TEST_CASE("a build without a device has no devices and knows nothing of them") {
  if (companion_is_device || has_device_libraries) {
    CHECK(device_count() >= 0);
    for (int device = 0; device < device_count(); ++device) CHECK_FALSE(device_facts(device).name.empty());
  } else {
    CHECK(device_count() == 0);
  }
  const DeviceFacts none = device_facts(device_count());
  CHECK(none.name.empty());
  CHECK(none.pci_bus.empty());
}

TEST_CASE("the current device is the one that Kokkos was started with, and none in a build without a device") {
  if (!companion_is_device && !has_device_libraries) {
    CHECK(current_device() == -1);
  } else if (current_device() >= 0) {
    CHECK(current_device() < device_count());
    if (companion_is_device && tests::started_units().companion)
      CHECK(current_device() == tests::started_units().companion->device);
  }
}

}  // namespace steelyard::test_device_facts
