// What a device's queues are asked for lets it copy while it multiplies. Source: 000, section 4.2.1 and Fig. 4.6.

#include <cstdlib>
#include <map>

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
    return {orders, [*this](const emulated::Order& order) {
              return order.label == emulated::copy_to_device ? load_s
                     : order.label == emulated::copy_to_host ? store_s
                                                             : multiply_s;
            }};
  }
};

double seconds_of(const Schedule& schedule, const std::string& label) {
  double sum_s = 0.0;
  for (const ScheduledWork& work : schedule.works(label)) sum_s += work.end_s - work.start_s;
  return sum_s;
}

/// Sets three devices before the first is looked for, unless the environment names others.
const bool has_devices = ::setenv("STEELYARD_EMULATED_DEVICE", "devices=3", /*overwrite=*/0) == 0;

/// Orders that a multiplication on several devices gives to their queues.
std::vector<emulated::Order> orders_of(Product<double>& product, int devices, const gemm::DeviceUse& use) {
  const auto& [m, n, k, alpha, beta, block] = product.problem;
  product.c = product.before;
  set_devices(1, devices);
  gemm::UnitGemm<double> gemm(ProcessingUnit::Kind::companion, {m, n, k, 0, alpha, beta}, use);
  set_devices(1, 1);
  CHECK(gemm.devices() <= devices);
  emulated::recorded_operations();
  gemm.run(product.operands());
  return emulated::recorded_operations();
}

/// Whether some work begins before other work of this label ends.
bool overlap(const Schedule& schedule, const std::string& label) {
  std::vector<ScheduledWork> works = schedule.works(label);
  std::ranges::sort(works, {}, &ScheduledWork::start_s);
  for (std::size_t i = 1; i < works.size(); ++i) {
    if (works[i].start_s < works[i - 1].end_s) return true;
  }
  return false;
}

}  // namespace

TEST_CASE(
    "several devices make the product of one, exactly, and copy one at a time in each direction on a shared link") {
  REQUIRE(has_devices);
  Random random(3);
  const auto extent = [&random] { return any_of(random, 1, 400); };
  int overlapping = 0;
  for (int trial = 0; trial < 60; ++trial) {
    Product<double> product({extent(), extent(), extent(), 1.0, static_cast<double>(any_of(random, 0, 1))}, 0);
    for (PinnedMatrix<double>* matrix : {&product.a, &product.b, &product.before}) matrix->fill(whole_numbers(random));
    const int devices = std::min(2 + trial % 2, emulated::facts().devices);
    const double memory_bytes =
        gemm::least_memory_bytes(8.0) * std::uniform_real_distribution<double>(1.0, 20.0)(random);
    CAPTURE(trial, devices, memory_bytes);
    for (const bool shares_link : {true, false}) {
      const std::vector<emulated::Order> orders = orders_of(product, devices, {memory_bytes, shares_link});
      CHECK(product.inexact_elements(product.expected()) == 0);
      // On links of their own, so that nothing but the program keeps copies apart.
      const Schedule schedule = Costs{3.0, static_cast<double>(any_of(random, 1, 5)), 2.0}.schedule(orders);
      for (const char* const direction : {emulated::copy_to_device, emulated::copy_to_host}) {
        if (shares_link) CHECK_FALSE(overlap(schedule, direction));
        if (!shares_link && overlap(schedule, direction)) ++overlapping;
      }
    }
  }
  CHECK(overlapping > 60);
}

TEST_CASE(
    "out of core, several devices take hardly longer than their link or their multiplications, whichever is slower") {
  constexpr double memory_bytes = 1048576.0, flops_per_s = 1e12;
  for (const int devices : {2, 3}) {
    for (const double memories : {5.0, 10.0}) {
      const auto n = static_cast<std::int64_t>(std::sqrt(memories * devices * memory_bytes / 24.0));
      Product<double> product({n, n, n, 1.0, 1.0}, 0);
      for (const bool shares_link : {true, false}) {
        const std::vector<emulated::Order> orders = orders_of(product, devices, {memory_bytes, shares_link});
        double flops = 0.0, bytes = 0.0;
        for (const emulated::Order& order : orders) (order.label == "gemm" ? flops : bytes) += order.amount;
        // Seconds of the link for one of multiplications. Links that are not shared have to wait for each block of B.
        for (const double balance : {0.1, 1.0, 10.0}) {
          if (!shares_link && balance == 1.0) continue;
          const double bytes_per_s = bytes / (balance * flops / flops_per_s);
          const Schedule schedule(orders, [&](const emulated::Order& order) {
            return order.amount / (order.label == "gemm" ? flops_per_s : bytes_per_s);
          });
          std::map<std::pair<std::string, int>, double> busy_s;
          for (const ScheduledWork& work : schedule.works()) {
            const bool is_shared = work.label != "gemm" && shares_link;
            busy_s[{work.label, is_shared ? 0 : work.device}] += work.end_s - work.start_s;
          }
          double bound_s = 0.0;
          for (const auto& [engine, seconds] : busy_s) bound_s = std::max(bound_s, seconds);
          CAPTURE(devices, memories, shares_link, balance);
          CHECK(schedule.end_s() <= 1.05 * bound_s);
        }
      }
    }
  }
}

TEST_CASE(
    "where multiplying takes much longer than copying, all of it is hidden but the first loads, new blocks of B and "
    "the "
    "last store; on one queue nothing is, and no engine ever does two things") {
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
    gemm::UnitGemm<double> gemm(ProcessingUnit::Kind::companion, {m, n, k, 0, alpha, beta},
                                {memory_bytes, std::nullopt, overlaps});
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
    const std::vector<BlockStep> steps = make_block_steps(*gemm.blocking());
    double exposed_s = costs.load_s * (steps.front().load_c ? 2.0 : 1.0) + costs.store_s;
    for (const BlockStep& step : steps) exposed_s += step.load_b ? costs.load_s : 0.0;
    CHECK(costs.schedule(orders).end_s() == 1000.0 * multiply_s + exposed_s);
  }
}

}  // namespace steelyard::test_device_overlap
