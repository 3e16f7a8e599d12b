#include <catch2/catch_test_macros.hpp>
#include <cstdint>

#include "comm/collective.hpp"
#include "comm/measurement/group_bandwidth.hpp"
#include "core/timing.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_group_bandwidth {

using namespace steelyard::tests;

namespace {

constexpr double bytes_per_element = 24.0;

/// Measures and checks what has to hold: all ranks know the same sum, and no unit's fastest pass is slower than the
/// whole measurement.
double check_measurement(std::int64_t host_elements, std::int64_t companion_elements) {
  CoExecution co_execution(session().machine(), started_units());
  GroupBandwidth group(session().comm(), co_execution, host_elements, companion_elements);
  const double start_s = now_s();
  const double measured = group.measure_bytes_per_s();
  const double took_s = now_s() - start_s;
  const double elements = static_cast<double>((started_units().host ? host_elements : 0) +
                                              (started_units().companion ? companion_elements : 0));
  CHECK(measured >= all_sum(session().comm(), bytes_per_element * elements / took_s));
  for (const double other : all_gather(session().comm(), {measured})) CHECK(other == measured);
  return measured;
}

}  // namespace

TEST_CASE("units that stream reach a bandwidth together, which all ranks know") {
  CHECK(check_measurement(100000, 50000) > 0.0);
  CHECK(check_measurement(1, 1) > 0.0);
}

TEST_CASE("units without elements do nothing, and nothing is what they reach") {
  CHECK(check_measurement(0, 0) == 0.0);
  CHECK(check_measurement(30000, 0) > 0.0);
  if (started_units().companion) CHECK(check_measurement(0, 30000) > 0.0);
  // Only the last rank has work.
  CHECK(check_measurement(session().rank() == session().size() - 1 ? 30000 : 0, 0) > 0.0);
}

TEST_CASE("a bandwidth can be measured again and again") {
  CoExecution co_execution(session().machine(), started_units());
  GroupBandwidth group(session().comm(), co_execution, 20000, 20000);
  for (int i = 0; i < 5; ++i) CHECK(group.measure_bytes_per_s() > 0.0);
}

TEST_CASE("arrays are cut off long before they fill the memory") {
  if (session().size() > 1) SKIP("once is enough");
  CoExecution co_execution(session().machine(), started_units());
  GroupBandwidth group(session().comm(), co_execution, std::int64_t{1} << 50, 0);
  CHECK(group.measure_bytes_per_s() > 0.0);
}

}  // namespace steelyard::test_group_bandwidth
