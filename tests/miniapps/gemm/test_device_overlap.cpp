// What a device's queues are asked for lets it copy while it multiplies. Source: 000, section 4.2.1 and Fig. 4.6.

#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/catch.hpp"
#include "tests/core/device/schedule.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_device_overlap {

using namespace steelyard::tests;
using gemm::BlockStep;
using Random = std::mt19937_64;

namespace {

/// Seconds that copies of a block and the multiplication of two take.
struct Costs {
  double load_s = 1.0, multiply_s = 1.0, store_s = 1.0;

  Schedule schedule(const std::vector<emulated::Order>& orders) const {
    return {
        orders, [*this](const std::string& label) {
          return label == emulated::copy_to_device ? load_s : label == emulated::copy_to_host ? store_s : multiply_s;
        }};
  }
};

double seconds_of(const Schedule& schedule, const std::string& label) {
  double sum_s = 0.0;
  for (const ScheduledWork& work : schedule.works(label)) sum_s += work.end_s - work.start_s;
  return sum_s;
}

}  // namespace

TEST_CASE(
    "where multiplying takes much longer than copying, all of it is hidden but the first loads, new blocks of B with "
    "what comes behind them, and the last store; on one queue nothing is, and no engine ever does two things") {
  Random random(2);
  const auto any = [&random](std::int64_t low, std::int64_t high) {
    return static_cast<double>(any_of(random, low, high));
  };
  const auto extent = [&random] { return any_of(random, 1, 200); };
  for (int trial = 0; trial < 120; ++trial) {
    // Out of core in a memory of some blocks, or of any size.
    Product<double> product({extent(), extent(), extent(), 1.0, any(0, 1)}, 0);
    for (PinnedMatrix<double>* matrix : {&product.a, &product.b, &product.before}) matrix->fill(whole_numbers(random));
    product.c = product.before;
    const auto& [m, n, k, alpha, beta, block] = product.problem;
    const double memory_bytes =
        gemm::least_memory_bytes(8.0) * std::uniform_real_distribution<double>(1.0, 5.0)(random);
    const bool overlaps = trial % 2 == 0;
    gemm::UnitGemm<double> gemm(ProcessingUnit::Kind::companion, {m, n, k, 0, alpha, beta}, memory_bytes, overlaps);
    emulated::recorded_operations();
    gemm.run(product.operands());
    const std::vector<emulated::Order> orders = emulated::recorded_operations();
    CHECK(product.inexact_elements(product.expected()) == 0);

    Costs costs{any(1, 9), any(1, 9), any(1, 9)};
    const Schedule schedule = costs.schedule(orders);
    const double load_s = seconds_of(schedule, emulated::copy_to_device), multiply_s = seconds_of(schedule, "gemm");
    const double store_s = seconds_of(schedule, emulated::copy_to_host);
    CAPTURE(trial, m, n, k, beta, memory_bytes, load_s, store_s);
    CHECK(schedule.end_s() >= std::max({load_s, multiply_s, store_s}));
    CHECK(schedule.end_s() <= load_s + multiply_s + store_s);
    if (!overlaps) CHECK(schedule.end_s() == load_s + multiply_s + store_s);
    if (!overlaps) continue;
    costs.multiply_s *= 1000.0;
    double exposed_s = costs.load_s + costs.store_s;
    for (const BlockStep& step : make_block_steps(*gemm.blocking())) {
      if (step.load_b) exposed_s += costs.load_s * (step.load_c ? 2.0 : 1.0);
    }
    CHECK(costs.schedule(orders).end_s() == 1000.0 * multiply_s + exposed_s);
  }
}

}  // namespace steelyard::test_device_overlap
