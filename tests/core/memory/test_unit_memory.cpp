#include <catch2/catch_approx.hpp>
#include <map>

#include "core/device/device.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/spaces.hpp"
#include "core/unit_plan.hpp"
#include "tests/catch.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/synthetic_machine.hpp"

namespace steelyard::test_unit_memory {

using Catch::Approx;
using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double gib = 1024.0 * 1024.0 * 1024.0;
/// Two packages with 3 GiB each.
constexpr const char* two_nodes = "pack:2 numa:1(memory=3221225472) core:4 pu:1";

RankUnits host_alone() {
  RankUnits units;
  units.host = ProcessingUnit{Kind::host, "Host", {0}, -1, 1.0};
  return units;
}

RankUnits both() {
  RankUnits units = host_alone();
  units.companion = ProcessingUnit{Kind::companion, "Companion", {1}, companion_is_device ? 0 : -1, 1.0};
  return units;
}

KernelFacts kernel_of(double bytes_per_unit, double bytes_fixed, bool out_of_core = false) {
  KernelFacts facts;
  facts.memory_bytes_per_unit = bytes_per_unit;
  facts.memory_bytes_fixed = bytes_fixed;
  facts.runs_out_of_core = out_of_core;
  return facts;
}

}  // namespace

TEST_CASE("units that live in host memory share nine tenths of the node's equally") {
  const SyntheticMachine machine(two_nodes);
  for (const int ranks : {1, 2, 7}) {
    CHECK(ranks * rank_memory_bytes(*machine, ranks) == Approx(0.9 * 6.0 * gib));
    CHECK(ranks * unit_memory_bytes(*machine, host_alone(), Kind::host, ranks) == Approx(0.9 * 6.0 * gib));
    const double host = unit_memory_bytes(*machine, both(), Kind::host, ranks);
    if (companion_is_device) {
      CHECK(ranks * host == Approx(0.9 * 6.0 * gib));
    } else {
      const double companion = unit_memory_bytes(*machine, both(), Kind::companion, ranks);
      CHECK(companion == host);
      CHECK(ranks * (host + companion) == Approx(0.9 * 6.0 * gib));
    }
  }
}

TEST_CASE(
    "the limit is the largest whole size that fits, none without memory, and nothing where the fixed part does not "
    "fit") {
  const SyntheticMachine machine(two_nodes);
  for (const int ranks : {1, 3}) {
    const double bytes = unit_memory_bytes(*machine, host_alone(), Kind::host, ranks);
    for (const double per_unit : {1.0, 48.0, 16640.0, 1e9}) {
      for (const double fixed : {0.0, 1e6}) {
        const UnitLimits limits = unit_limits(*machine, host_alone(), Kind::host, ranks, kernel_of(per_unit, fixed));
        CHECK(limits.max_units == std::floor(limits.max_units));
        CHECK(fixed + per_unit * limits.max_units <= bytes);
        CHECK(fixed + per_unit * (limits.max_units + 1.0) > bytes);
        CHECK(limits.in_core_units == limits.max_units);
      }
    }
  }
  CHECK(unit_limits(*machine, both(), Kind::host, 1, kernel_of(0.0, 1e15)).max_units == infinity);
  CHECK(unit_limits(*machine, both(), Kind::host, 1, kernel_of(1.0, 1e15)).max_units == 0.0);
  CHECK(unit_limits(*machine, both(), Kind::host, 1, kernel_of(1e15, 0.0)).max_units == 0.0);
}

TEST_CASE("a host unit never runs out of core, and no cap of a companion's memory concerns it") {
  const SyntheticMachine machine(two_nodes);
  for (const RankUnits& units : {host_alone(), both()}) {
    const UnitLimits expected = unit_limits(*machine, units, Kind::host, 2, kernel_of(1024.0, 4096.0));
    for (const bool out_of_core : {false, true}) {
      for (const double cap : {infinity, 1e6, 1.0}) {
        KernelFacts kernel = kernel_of(1024.0, 4096.0, out_of_core);
        kernel.device_memory_bytes = cap;
        const UnitLimits limits = unit_limits(*machine, units, Kind::host, 2, kernel);
        CHECK(limits.in_core_units == expected.in_core_units);
        CHECK(limits.max_units == limits.in_core_units);
      }
    }
  }
}

TEST_CASE("a companion holds in core what fits under the kernel's cap of its memory, or into that memory") {
  const SyntheticMachine machine(two_nodes);
  for (const int ranks : {1, 3}) {
    const double own_bytes = unit_memory_bytes(*machine, both(), Kind::companion, ranks);
    const auto limits_with = [&](double cap, bool out_of_core) {
      KernelFacts kernel = kernel_of(1024.0, 4096.0, out_of_core);
      kernel.device_memory_bytes = cap;
      return unit_limits(*machine, both(), Kind::companion, ranks, kernel);
    };
    const double in_host = std::floor((rank_memory_bytes(*machine, ranks) - 4096.0) / 1024.0);
    double last_units = 0.0;
    std::vector<double> caps{0.0, 4095.0, 4096.0, 5119.0, 5120.0, 1e6, 1e8, own_bytes, 1e15, infinity};
    std::sort(caps.begin(), caps.end());
    for (const double cap : caps) {
      CAPTURE(ranks, cap);
      const double bytes = std::min(cap, own_bytes);
      const UnitLimits in_core = limits_with(cap, false), out_of_core = limits_with(cap, true);
      CHECK(in_core.in_core_units == std::max(0.0, std::floor((bytes - 4096.0) / 1024.0)));
      CHECK(in_core.in_core_units >= last_units);
      last_units = in_core.in_core_units;
      CHECK(in_core.max_units == in_core.in_core_units);
      // The rest comes from host memory, which no cap of the companion's makes smaller.
      CHECK(out_of_core.in_core_units == in_core.in_core_units);
      CHECK(out_of_core.max_units == std::max(in_core.in_core_units, in_host));
    }
  }
}

TEST_CASE("ranks that drive the same device plan with no more than its memory together, others with all of theirs") {
  if (!companion_is_device || device_count() == 0) SKIP("this build or machine has no device");
  const Machine& machine = this_machine();
  for (int ranks = 1; ranks <= 5; ++ranks) {
    std::map<int, double> planned;
    for (int rank = 0; rank < ranks; ++rank) {
      PlanRequest request;
      request.rank = request.rank_on_node = rank;
      request.ranks_on_node = ranks;
      const RankUnits units = plan_units(machine, request);
      planned[units.companion->device] += unit_memory_bytes(machine, units, Kind::companion, ranks);
    }
    for (const auto& [device, bytes] : planned) {
      CAPTURE(ranks, device);
      CHECK(bytes == Approx(0.9 * device_facts(device).memory_bytes));
    }
  }
}

TEST_CASE("a kernel may use its cap of a device's memory or nine tenths of that; a host space has only the cap") {
  const double most = device_memory_bytes(infinity);
  if (companion_is_device) {
    CHECK(most > 0.0);
    const double device_bytes = device_facts(current_device()).memory_bytes;
    if (device_bytes > 0.0) {
      CHECK(most == Approx(0.9 * device_bytes));
      if (started_units().companion)
        CHECK(most == unit_memory_bytes(this_machine(), started_units(), Kind::companion, 1));
    }
  } else {
    CHECK(most == infinity);
  }
  for (const double cap : {0.0, 1.0, 40960.0, 1e9, 1e12, 1e15}) CHECK(device_memory_bytes(cap) == std::min(cap, most));
}

}  // namespace steelyard::test_unit_memory
