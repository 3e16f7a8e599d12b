#include <catch2/catch_test_macros.hpp>
#include <type_traits>

#include "core/spaces.hpp"
#include "tests/core/started_units.hpp"

namespace steelyard::test_spaces {

TEST_CASE("the host unit's space computes in host memory") {
  STATIC_REQUIRE(Kokkos::SpaceAccessibility<HostExecution, Kokkos::HostSpace>::accessible);
}

namespace {

/// A device whose memory the host reaches, as that of some GPUs.
struct UnifiedDevice {
  using memory_space = Kokkos::HostSpace;
};

}  // namespace

TEST_CASE("a device whose memory the host reaches is a device") {
  STATIC_REQUIRE(runs_on_host<HostExecution>);
  STATIC_REQUIRE(runs_on_host<CompanionExecution> != companion_is_device);
  STATIC_REQUIRE_FALSE(runs_on_host<UnifiedDevice>);
}

TEST_CASE("a companion is a space of its own, and where there is none code for it still compiles") {
  STATIC_REQUIRE(std::is_same_v<HostExecution, CompanionExecution> != has_companion);
  STATIC_REQUIRE((has_companion || !companion_is_device));
  if (!companion_is_device && has_companion) CHECK(std::is_same_v<CompanionExecution, SerialExecution>);
}

TEST_CASE("Views of a unit's device type are initialised by that unit's space, in its memory") {
  STATIC_REQUIRE(std::is_same_v<DeviceOf<HostExecution>::execution_space, HostExecution>);
  STATIC_REQUIRE(std::is_same_v<DeviceOf<CompanionExecution>::execution_space, CompanionExecution>);
  using View = Kokkos::View<double*, DeviceOf<CompanionExecution>>;
  STATIC_REQUIRE(std::is_same_v<View::execution_space, CompanionExecution>);
  STATIC_REQUIRE(std::is_same_v<View::memory_space, CompanionExecution::memory_space>);
}

TEST_CASE("units are named after the space that drives them") {
  const RankUnits& units = tests::started_units();
  CHECK(units.host->space == HostExecution::name());
  if (units.companion) CHECK(units.companion->space == CompanionExecution::name());
}

}  // namespace steelyard::test_spaces
