#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <vector>

#include "miniapps/gemm/out_of_core/engine_timeline.hpp"

namespace steelyard::test_engine_timeline {

using namespace steelyard::gemm;

namespace {

using Random = std::mt19937_64;

int any_of(Random& random, int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

Engine any_engine(Random& random) {
  return std::vector{Engine::loading, Engine::multiplying,
                     Engine::storing}[static_cast<std::size_t>(any_of(random, 0, 2))];
}

/// Operations that start and end at whole seconds, some of them without any duration, in no order.
std::vector<EngineOperation> random_operations(Random& random, int count, int last_s) {
  std::vector<EngineOperation> operations;
  for (int i = 0; i < count; ++i) {
    const int start_s = any_of(random, -last_s, last_s);
    const int end_s = any_of(random, 0, 3) == 0 ? start_s : any_of(random, start_s, last_s);
    operations.push_back({any_engine(random), static_cast<double>(start_s), static_cast<double>(end_s)});
  }
  return operations;
}

/// Looks at every second by itself.
TransferOverlap second_by_second(const std::vector<EngineOperation>& operations, int last_s) {
  TransferOverlap overlap;
  double first_s = last_s, end_s = -last_s;
  for (const EngineOperation& operation : operations) {
    first_s = std::min(first_s, operation.start_s);
    end_s = std::max(end_s, operation.end_s);
  }
  overlap.run_s = operations.empty() ? 0.0 : end_s - first_s;
  for (double second = -last_s; second < last_s; ++second) {
    bool transfers = false, multiplies = false;
    for (const EngineOperation& operation : operations) {
      if (operation.start_s > second || operation.end_s < second + 1.0) continue;
      (operation.engine == Engine::multiplying ? multiplies : transfers) = true;
    }
    overlap.transfer_s += transfers ? 1.0 : 0.0;
    overlap.hidden_s += transfers && multiplies ? 1.0 : 0.0;
  }
  return overlap;
}

void check_same(const TransferOverlap& found, const TransferOverlap& expected) {
  CHECK(found.run_s == expected.run_s);
  CHECK(found.transfer_s == expected.transfer_s);
  CHECK(found.hidden_s == expected.hidden_s);
}

}  // namespace

TEST_CASE("what is hidden is what one finds by looking at every second by itself") {
  Random random(1);
  for (int trial = 0; trial < 1000; ++trial) {
    const int last_s = any_of(random, 1, 40);
    const std::vector<EngineOperation> operations = random_operations(random, any_of(random, 0, 12), last_s);
    CAPTURE(trial, operations.size());
    const TransferOverlap overlap = transfer_overlap(operations);
    check_same(overlap, second_by_second(operations, last_s));
    CHECK(overlap.hidden_s <= overlap.transfer_s);
    CHECK(overlap.transfer_s <= overlap.run_s);
    CHECK(overlap.hidden_share() >= 0.0);
    CHECK(overlap.hidden_share() <= 1.0);
  }
}

TEST_CASE("without transfers the share is 1, and without operations nothing takes any time") {
  check_same(transfer_overlap({}), {0.0, 0.0, 0.0});
  CHECK(transfer_overlap({}).hidden_share() == 1.0);
  const TransferOverlap multiplies = transfer_overlap({{Engine::multiplying, 1.0, 3.0}});
  check_same(multiplies, {2.0, 0.0, 0.0});
  CHECK(multiplies.hidden_share() == 1.0);
}

}  // namespace steelyard::test_engine_timeline
