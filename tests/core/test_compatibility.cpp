#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdio>
#include <string>

#include "core/compatibility.hpp"
#include "core/device/device.hpp"
#include "core/spaces.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_compatibility {

TEST_CASE("the Kokkos version is written major.minor.patch, the patch with two digits") {
  int major = -1, minor = -1, patch = -1;
  const std::string version = kokkos_version();
  REQUIRE(std::sscanf(version.c_str(), "%d.%d.%d", &major, &minor, &patch) == 3);
  CHECK(major * 10000 + minor * 100 + patch == KOKKOS_VERSION);
  CHECK(fmt::format("{}.{}.{:02}", major, minor, patch) == version);
}

TEST_CASE("Kokkos runs with as many host threads as the host unit has cores") {
  REQUIRE(Kokkos::is_initialized());
  if (std::is_same_v<HostExecution, SerialExecution>) SKIP("this Kokkos has no parallel host space");
  CHECK(HostExecution().concurrency() == static_cast<int>(tests::started_units().host->cores.size()));
}

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

TEST_CASE("there are as many independent instances as are asked for") {
  if constexpr (companion_is_device) {
    tests::unit_space<CompanionExecution>();
    for (const int count : {1, 2, 3}) {
      const auto instances = independent_instances<CompanionExecution>(count);
      CHECK(instances.size() == static_cast<std::size_t>(count));
      for (const CompanionExecution& instance : instances) instance.fence();
    }
  } else {
    SKIP("there is no device");
  }
}

}  // namespace steelyard::test_compatibility
