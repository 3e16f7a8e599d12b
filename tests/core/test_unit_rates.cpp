#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <thread>

#include "core/spaces.hpp"
#include "core/unit_rates.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/synthetic_machine.hpp"

namespace steelyard::test_unit_rates {

using Kind = ProcessingUnit::Kind;

TEST_CASE("every unit has rates, and copies count only where a device has a memory of its own") {
  constexpr double memory_bytes = 32.0 * 1024.0 * 1024.0;
  for (const Kind kind : {Kind::host, Kind::companion}) {
    if (kind == Kind::companion && !tests::started_units().companion) continue;
    const UnitRates rates = measure_unit_rates(kind, 100000, memory_bytes);
    for (const double rate : rates.stream_bytes_per_s) {
      CHECK(rate > 0.0);
      CHECK(std::isfinite(rate));
    }
    CHECK(rates.gemm_double_flops_per_s > 0.0);
    CHECK(rates.gemm_float_flops_per_s > 0.0);
    const bool copies = kind == Kind::companion && companion_is_device;
    CHECK((rates.to_device_bytes_per_s > 0.0) == copies);
    CHECK((rates.to_host_bytes_per_s > 0.0) == copies);
  }
}

TEST_CASE("STREAM's arrays exceed the caches four times and take no more than a quarter of the memory together") {
  const tests::SyntheticMachine machine("numa:1(memory=68719476736) l3:1(size=8388608) core:4 pu:1");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(stream_elements(*machine, Kind::host, infinity) * 8 == 4 * 8388608);
  CHECK(stream_elements(*machine, Kind::host, 64.0 * 1024.0 * 1024.0) * 3 * 8 <= 16 * 1024 * 1024);
  CHECK(stream_elements(*machine, Kind::host, 0.0) >= 1);
}

TEST_CASE("seconds of a unit's work are those that it takes") {
  using std::chrono::milliseconds;
  CHECK(unit_seconds([] { std::this_thread::sleep_for(milliseconds(20)); }) >= 0.02);
}

TEST_CASE("a slowed-down unit takes so many times longer") {
  RankUnits units;
  units.host = tests::started_units().host;
  if (!units.host) SKIP("no host unit");
  units.host->slowdown = 3.0;
  CoExecution co_execution(tests::this_machine(), units);
  double seconds = 0.0;
  co_execution.run([&] { seconds = unit_seconds([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }); },
                   [] {});
  CHECK(seconds >= 0.06);
}

}  // namespace steelyard::test_unit_rates
