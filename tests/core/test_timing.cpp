#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/spaces.hpp"
#include "core/timing.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_timing {

TEST_CASE("the clock never goes back, and it counts seconds") {
  double last_s = now_s();
  for (int i = 0; i < 1000; ++i) {
    const double next_s = now_s();
    REQUIRE(next_s >= last_s);
    last_s = next_s;
  }
  const auto other_clock = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double passed_s = now_s() - last_s;
  const std::chrono::duration<double> other_passed = std::chrono::steady_clock::now() - other_clock;
  CHECK(passed_s >= 0.020);
  // Between the two clocks' reads lies no sleep, only noise.
  CHECK(passed_s < other_passed.count() + 1.0);
}

TEMPLATE_TEST_CASE("fenced seconds contain the work, which runs once", "", HostExecution, CompanionExecution) {
  const auto space = tests::unit_space<TestType>();
  int runs = 0;
  const double before_s = now_s();
  const double seconds = fenced_seconds(space, [&] {
    ++runs;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  CHECK(runs == 1);
  CHECK(seconds >= 0.010);
  CHECK(seconds <= now_s() - before_s);
  CHECK_THROWS_AS(fenced_seconds(space, [] { throw std::out_of_range(""); }), std::out_of_range);
}

}  // namespace steelyard::test_timing
