// What a device's queues are asked for lets it copy while it multiplies. Source: 000, section 4.2.1 and Fig. 4.6.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/core/device/schedule.hpp"
#include "tests/miniapps/gemm/slice_product.hpp"

namespace steelyard::test_device_overlap {

using namespace steelyard::tests;
using gemm::Blocking;
using gemm::BlockStep;
using gemm::PanelProblem;
using gemm::UnitGemm;
using Orders = std::vector<emulated::Order>;
using Random = std::mt19937_64;

namespace {

/// Seconds that copies of a block and the multiplication of two take.
struct Costs {
  double load_s = 1.0, multiply_s = 1.0, store_s = 1.0;
};

/// A product out of core or in core, and what the queues of a device are asked for.
class Asked {
 public:
  Asked(const PanelProblem& problem, double memory_bytes, bool overlaps = true) {
    gemm::Problem whole{problem.rows, problem.columns, problem.k, problem.alpha, problem.beta};
    const SliceProduct<double> product(whole, problem.rows, 0, [] { return 1.0; });
    UnitGemm<double> gemm(ProcessingUnit::Kind::companion, problem, memory_bytes, overlaps);
    blocking_ = *gemm.blocking();
    emulated::recorded_operations();
    gemm.run(product.operands());
    orders_ = emulated::recorded_operations();
    CHECK(product.inexact_elements() == 0);
  }

  const Blocking& blocking() const { return blocking_; }
  Schedule schedule(const Costs& costs) const {
    return {orders_, [costs](const std::string& label) {
              return label == emulated::copy_to_device ? costs.load_s
                     : label == emulated::copy_to_host ? costs.store_s
                                                       : costs.multiply_s;
            }};
  }

 private:
  Blocking blocking_;
  Orders orders_;
};

double seconds_of(const Schedule& schedule, const std::string& label) {
  double sum_s = 0.0;
  for (const ScheduledWork& work : schedule.works(label)) sum_s += work.end_s - work.start_s;
  return sum_s;
}

/// Out of core in a memory of some blocks, or of any size.
Asked random_product(Random& random, bool overlaps = true) {
  const auto extent = [&random] { return any_of(random, 1, 200); };
  const PanelProblem problem{extent(), extent(), extent(), 0, 1.0, any_of(random, 0, 1) == 1 ? 1.0 : 0.0};
  return {problem, gemm::least_memory_bytes(8.0) * std::uniform_real_distribution<double>(1.0, 5.0)(random), overlaps};
}

Costs random_costs(Random& random) {
  const auto cost = [&random] { return static_cast<double>(any_of(random, 1, 9)); };
  return {cost(), cost(), cost()};
}

void check_starts(const Schedule& schedule, const std::string& label, const std::vector<double>& starts_s) {
  std::vector<double> found_s;
  for (const ScheduledWork& work : schedule.works(label)) found_s.push_back(work.start_s);
  CHECK(found_s == starts_s);
}

}  // namespace

TEST_CASE("two by two blocks are loaded, multiplied and stored at the times at which one finds them by hand") {
  const PanelProblem problem{64, 64, 32, 0, 1.0, 1.0};
  const Asked asked(problem, gemm::least_memory_bytes(8.0));
  REQUIRE(asked.blocking().rows() == 2);
  REQUIRE(asked.blocking().columns() == 2);
  const Schedule schedule = asked.schedule({2.0, 16.0, 4.0});
  // a0 b0 c00, a1 c10; b1 when the second multiplication has read b0, and c11 c01 behind it.
  check_starts(schedule, emulated::copy_to_device, {0, 2, 4, 6, 8, 38, 40, 42});
  check_starts(schedule, "gemm", {6, 22, 42, 58});
  check_starts(schedule, emulated::copy_to_host, {22, 38, 58, 74});
}

TEST_CASE(
    "where multiplying takes much longer than copying, all of it is hidden but the first loads, new blocks of B with "
    "what comes behind them, and the last store") {
  Random random(2);
  for (int trial = 0; trial < 60; ++trial) {
    const Asked asked = random_product(random);
    Costs costs = random_costs(random);
    costs.multiply_s *= 1000.0;
    double exposed_s = costs.load_s + costs.store_s;
    for (const BlockStep& step : make_block_steps(asked.blocking())) {
      if (step.load_b) exposed_s += costs.load_s * (step.load_c ? 2.0 : 1.0);
    }
    const Schedule schedule = asked.schedule(costs);
    CAPTURE(trial, asked.blocking().rows(), asked.blocking().columns(), asked.blocking().panels());
    CHECK(schedule.end_s() == seconds_of(schedule, "gemm") + exposed_s);
  }
}

TEST_CASE("no run is shorter than its busiest engine, nor longer than all that there is to do, which one queue does") {
  Random random(5);
  for (int trial = 0; trial < 60; ++trial) {
    const bool overlaps = trial % 2 == 0;
    const Asked asked = random_product(random, overlaps);
    const Schedule schedule = asked.schedule(random_costs(random));
    const double load_s = seconds_of(schedule, emulated::copy_to_device), multiply_s = seconds_of(schedule, "gemm");
    const double store_s = seconds_of(schedule, emulated::copy_to_host);
    CAPTURE(trial, load_s, multiply_s, store_s);
    CHECK(schedule.end_s() >= std::max({load_s, multiply_s, store_s}));
    CHECK(schedule.end_s() <= load_s + multiply_s + store_s);
    if (!overlaps) CHECK(schedule.end_s() == load_s + multiply_s + store_s);
  }
}

}  // namespace steelyard::test_device_overlap
