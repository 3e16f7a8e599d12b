// What a device's queues are asked for lets it copy while it multiplies. Source: 000, section 4.2.1 and Fig. 4.6.

#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/catch.hpp"
#include "tests/core/device/schedule.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_device_overlap {

using namespace steelyard::tests;
using gemm::Blocking;
using gemm::BlockStep;
using Random = std::mt19937_64;

namespace {

/// Seconds that copies of a block and the multiplication of two take.
struct Costs {
  double load_s = 1.0, multiply_s = 1.0, store_s = 1.0;
};
Costs random_costs(Random& random) {
  const auto cost = [&random] { return static_cast<double>(any_of(random, 1, 9)); };
  return {cost(), cost(), cost()};
}

double seconds_of(const Schedule& schedule, const std::string& label) {
  double sum_s = 0.0;
  for (const ScheduledWork& work : schedule.works(label)) sum_s += work.end_s - work.start_s;
  return sum_s;
}

/// A product out of core in a memory of some blocks, or of any size, and what the queues of a device are asked for.
struct RandomProduct {
  explicit RandomProduct(Random& random, bool overlaps = true) {
    const auto extent = [&random] { return any_of(random, 1, 200); };
    Product<double> product({extent(), extent(), extent(), 1.0, static_cast<double>(any_of(random, 0, 1))}, 0);
    for (PinnedMatrix<double>* matrix : {&product.a, &product.b, &product.before}) matrix->fill(whole_numbers(random));
    product.c = product.before;
    const gemm::PanelProblem problem{product.problem.m,   product.problem.n, product.problem.k, 0, 1.0,
                                     product.problem.beta};
    const double memory_bytes =
        gemm::least_memory_bytes(8.0) * std::uniform_real_distribution<double>(1.0, 5.0)(random);
    gemm::UnitGemm<double> gemm(ProcessingUnit::Kind::companion, problem, memory_bytes, overlaps);
    blocking = *gemm.blocking();
    emulated::recorded_operations();
    gemm.run(product.operands());
    orders = emulated::recorded_operations();
    CHECK(product.inexact_elements(product.expected()) == 0);
  }

  Schedule schedule(const Costs& costs) const {
    return {orders, [costs](const std::string& label) {
              return label == emulated::copy_to_device ? costs.load_s
                     : label == emulated::copy_to_host ? costs.store_s
                                                       : costs.multiply_s;
            }};
  }

  Blocking blocking;
  std::vector<emulated::Order> orders;
};

}  // namespace

TEST_CASE(
    "where multiplying takes much longer than copying, all of it is hidden but the first loads, new blocks of B with "
    "what comes behind them, and the last store; on one queue nothing is, and no engine ever does two things") {
  Random random(2);
  for (int trial = 0; trial < 120; ++trial) {
    const bool overlaps = trial % 2 == 0;
    const RandomProduct asked(random, overlaps);
    Costs costs = random_costs(random);
    const Schedule any = asked.schedule(costs);
    const double load_s = seconds_of(any, emulated::copy_to_device), multiply_s = seconds_of(any, "gemm");
    const double store_s = seconds_of(any, emulated::copy_to_host);
    CAPTURE(trial, asked.blocking.rows(), asked.blocking.columns(), asked.blocking.panels(), load_s, store_s);
    CHECK(any.end_s() >= std::max({load_s, multiply_s, store_s}));
    CHECK(any.end_s() <= load_s + multiply_s + store_s);
    if (!overlaps) CHECK(any.end_s() == load_s + multiply_s + store_s);
    if (!overlaps) continue;
    costs.multiply_s *= 1000.0;
    double exposed_s = costs.load_s + costs.store_s;
    for (const BlockStep& step : make_block_steps(asked.blocking)) {
      if (step.load_b) exposed_s += costs.load_s * (step.load_c ? 2.0 : 1.0);
    }
    CHECK(asked.schedule(costs).end_s() == 1000.0 * multiply_s + exposed_s);
  }
}

}  // namespace steelyard::test_device_overlap
