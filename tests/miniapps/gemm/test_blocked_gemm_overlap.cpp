// When a device would do what a blocked multiplication asks it for: the order lets it copy while it multiplies.
// Source: 000, section 4.2.1 and Fig. 4.6.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "miniapps/gemm/out_of_core/blocked_gemm.hpp"
#include "tests/miniapps/gemm/random_blockings.hpp"
#include "tests/miniapps/gemm/virtual_engines.hpp"

namespace steelyard::test_blocked_gemm_overlap {

using namespace steelyard::tests;
using gemm::BlockGrid;
using gemm::Blocking;
using gemm::BlockStep;
using gemm::Engine;
using gemm::EngineOperation;

namespace {

using Random = std::mt19937_64;

double real(std::int64_t value) { return static_cast<double>(value); }

/// Runs a multiplication on virtual engines and takes down when what happens.
class Run {
 public:
  Run(const Blocking& blocking, const EngineCosts& costs, bool reads_c, int times = 1, int copy_engines = 2)
      : engines_(costs, copy_engines) {
    const BlockGrid& grid = blocking.grid;
    // All matrices share their elements, which nobody uses.
    const std::int64_t largest = std::max({grid.m, grid.n, grid.k});
    std::vector<double> elements(static_cast<std::size_t>(largest * largest));
    std::vector<double> memory(static_cast<std::size_t>(blocking.buffer_elements()));
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
      return matrix_at<HostExecution>(elements.data(), rows, columns, columns);
    };
    gemm::BlockedGemm<VirtualEngines> blocked(engines_, blocking, reads_c, memory.data());
    for (int i = 0; i < times; ++i) {
      blocked.run(1.0, matrix(grid.m, grid.k), matrix(grid.k, grid.n), reads_c ? 1.0 : 0.0, matrix(grid.m, grid.n));
    }
    overlap_ = gemm::transfer_overlap(engines_.operations());
  }

  double total_s() const { return overlap_.run_s; }
  double busy_s(Engine engine) const { return engines_.busy_s(engine); }
  /// During which the device copies without multiplying.
  double exposed_s() const { return overlap_.transfer_s - overlap_.hidden_s; }
  double hidden_s() const { return overlap_.hidden_s; }
  std::vector<EngineOperation> operations(Engine engine) const { return engines_.operations(engine); }

 private:
  VirtualEngines engines_;
  gemm::TransferOverlap overlap_;
};

/// Equal blocks, in five buffers.
Blocking equal_blocks(std::int64_t rows, std::int64_t columns, std::int64_t panels, std::int64_t height,
                      std::int64_t width, std::int64_t depth) {
  return {{rows * height, columns * width, panels * depth, height, width, depth}, 2, 2, false};
}

/// Seconds for whole blocks.
struct BlockTimes {
  double a, b, c, multiply, store;

  BlockTimes(const BlockGrid& grid, const EngineCosts& costs)
      : a(costs.load_s * real(grid.height * grid.depth)),
        b(costs.load_s * real(grid.depth * grid.width)),
        c(costs.load_s * real(grid.height * grid.width)),
        multiply(costs.multiply_s * real(grid.height * grid.width * grid.depth)),
        store(costs.store_s * real(grid.height * grid.width)) {}
};

/// Whole numbers.
EngineCosts random_costs(Random& random, std::int64_t least = 0) {
  return {real(any_of(random, least, 9)), real(any_of(random, least, 9)), real(any_of(random, least, 9))};
}

Blocking any_blocking(Random& random, int trial) {
  Blocking blocking = trial % 4 == 0 ? random_in_core(random, 6, 5) : random_blocking(random, 6, 5);
  if (trial % 4 != 0 && trial % 3 == 0) {
    blocking.a_buffers = any_of(random, 1, 2);
    blocking.c_buffers = any_of(random, 1, 2);
  }
  return blocking;
}

void check_operations(const std::vector<EngineOperation>& found, const std::vector<std::pair<double, double>>& times) {
  REQUIRE(found.size() == times.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i].start_s == times[i].first);
    CHECK(found[i].end_s == times[i].second);
  }
}

}  // namespace

TEST_CASE("two by two blocks are loaded, multiplied and stored at the times at which one finds them by hand") {
  // 2 seconds for a block of A or B, 4 for one of C in either direction, 16 for a multiplication.
  const Blocking blocking = equal_blocks(2, 2, 1, 2, 2, 1);
  const Run run(blocking, {1.0, 4.0, 1.0}, true);
  // a0 b0 c00, a1 c10; b1 when the second multiplication has read b0, and c11 c01 behind it.
  check_operations(run.operations(Engine::loading),
                   {{0, 2}, {2, 4}, {4, 8}, {8, 10}, {10, 14}, {40, 42}, {42, 46}, {46, 50}});
  check_operations(run.operations(Engine::multiplying), {{8, 24}, {24, 40}, {46, 62}, {62, 78}});
  check_operations(run.operations(Engine::storing), {{24, 28}, {40, 44}, {62, 66}, {78, 82}});
  CHECK(run.exposed_s() == 8.0 + 6.0 + 4.0);

  // Where C is not read, neither does a multiplication wait for it.
  const Run writes(blocking, {1.0, 4.0, 1.0}, false);
  check_operations(writes.operations(Engine::loading), {{0, 2}, {2, 4}, {4, 6}, {36, 38}});
  check_operations(writes.operations(Engine::multiplying), {{4, 20}, {20, 36}, {38, 54}, {54, 70}});
  check_operations(writes.operations(Engine::storing), {{20, 24}, {36, 40}, {54, 58}, {70, 74}});
}

TEST_CASE(
    "where multiplying takes longer than copying, all of it is hidden but the first loads, what new blocks of B make "
    "wait and the last store") {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const std::int64_t rows = any_of(random, 1, 5), columns = any_of(random, 1, 5), panels = any_of(random, 1, 4);
    const Blocking blocking =
        equal_blocks(rows, columns, panels, any_of(random, 1, 5), any_of(random, 1, 5), any_of(random, 1, 5));
    const bool reads_c = any_of(random, 0, 1) == 1;
    EngineCosts costs = random_costs(random, 1);
    // While one block is multiplied, the block of C before it leaves, and those of A and C after it come.
    const BlockGrid& grid = blocking.grid;
    const BlockTimes unscaled(grid, costs);
    const double needed_s = std::max(unscaled.a, unscaled.store) + unscaled.c;
    costs.multiply_s *= std::ceil(needed_s / unscaled.multiply);
    const BlockTimes times(grid, costs);
    CAPTURE(rows, columns, panels, grid.height, grid.width, grid.depth, reads_c, costs.load_s, costs.multiply_s,
            costs.store_s);

    // A block of B has one buffer, which is free when the block before has been multiplied. A block of C that comes
    // with it waits behind it; two are there already when a panel starts, the first two in its order.
    const std::int64_t c_with_b_at_first = reads_c ? columns - 1 : 0;
    const std::int64_t c_with_b_later = rows > 1 ? columns - 1 : std::max<std::int64_t>(0, columns - 2);
    const double first_loads_s = times.a + times.b + (reads_c ? times.c : 0.0);
    const double new_b_s =
        real(columns * panels - 1) * times.b + real(c_with_b_at_first + (panels - 1) * c_with_b_later) * times.c;
    const double exposed_s = first_loads_s + new_b_s + times.store;
    const double multiplying_s = real(rows * columns * panels) * times.multiply;

    const Run run(blocking, costs, reads_c);
    REQUIRE(run.busy_s(Engine::multiplying) == multiplying_s);
    REQUIRE(run.exposed_s() == exposed_s);
    REQUIRE(run.total_s() == multiplying_s + exposed_s);
    // Within a column, multiplications follow each other without a pause.
    const std::vector<EngineOperation> multiplications = run.operations(Engine::multiplying);
    for (std::size_t i = 1; i < multiplications.size(); ++i) {
      if (static_cast<std::int64_t>(i) % rows == 0) continue;
      REQUIRE(multiplications[i].start_s == multiplications[i - 1].end_s);
    }
  }
}

TEST_CASE("the same holds for blocks of whatever sizes where multiplying takes very much longer than copying") {
  Random random(2);
  for (int trial = 0; trial < 400; ++trial) {
    const Blocking blocking = trial % 4 == 0 ? random_in_core(random, 6, 5) : random_blocking(random, 6, 5);
    const BlockGrid& grid = blocking.grid;
    if (grid.k == 0) continue;
    const bool reads_c = any_of(random, 0, 1) == 1;
    EngineCosts costs = random_costs(random, 1);
    costs.multiply_s *= 10000.0;
    const std::vector<BlockStep> steps = make_block_steps(blocking, reads_c);
    double exposed_s = 0.0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const BlockStep& step = steps[i];
      const std::int64_t height = std::min(grid.height, grid.m - step.row * grid.height);
      const std::int64_t width = std::min(grid.width, grid.n - step.column * grid.width);
      const std::int64_t depth = std::min(grid.depth, grid.k - step.panel * grid.depth);
      if (i == 0) exposed_s += costs.load_s * real(height * depth);
      if (step.load_b) exposed_s += costs.load_s * real(depth * width + (step.load_c ? height * width : 0));
      if (i + 1 == steps.size()) exposed_s += costs.store_s * real(height * width);
    }
    const Run run(blocking, costs, reads_c);
    CAPTURE(grid.m, grid.n, grid.k, grid.height, grid.width, grid.depth, reads_c);
    REQUIRE(run.exposed_s() == exposed_s);
    REQUIRE(run.total_s() == run.busy_s(Engine::multiplying) + exposed_s);
  }
}

TEST_CASE(
    "rows of blocks in core, and out of core where multiplying takes no time, go through the three engines as on a "
    "conveyor whose slowest engine sets the pace") {
  Random random(3);
  for (int trial = 0; trial < 800; ++trial) {
    const std::int64_t rows = any_of(random, 1, 8);
    Blocking blocking = equal_blocks(rows, 1, 1, any_of(random, 1, 5), any_of(random, 1, 5), any_of(random, 1, 5));
    blocking.in_core = trial % 2 == 0;
    if (blocking.in_core) blocking.a_buffers = blocking.c_buffers = rows;
    const bool reads_c = !blocking.in_core || any_of(random, 0, 1) == 1;
    EngineCosts costs = random_costs(random);
    if (!blocking.in_core) costs.multiply_s = 0.0;
    const BlockTimes times(blocking.grid, costs);
    const double load_s = times.a + (reads_c ? times.c : 0.0);
    CAPTURE(rows, blocking.in_core, reads_c, costs.load_s, costs.multiply_s, costs.store_s);
    REQUIRE(Run(blocking, costs, reads_c).total_s() ==
            times.b + load_s + times.multiply + times.store +
                real(rows - 1) * std::max({load_s, times.multiply, times.store}));
  }
}

TEST_CASE("no run is shorter than its busiest engine, nor longer than all that there is to do") {
  Random random(5);
  const int copy_engines = GENERATE(1, 2);
  for (int trial = 0; trial < 1000; ++trial) {
    const Blocking blocking = any_blocking(random, trial);
    const bool reads_c = any_of(random, 0, 1) == 1;
    const EngineCosts costs = random_costs(random);
    const Run run(blocking, costs, reads_c, 1, copy_engines);
    const double load_s = run.busy_s(Engine::loading), multiply_s = run.busy_s(Engine::multiplying);
    const double store_s = run.busy_s(Engine::storing);
    CAPTURE(trial, load_s, multiply_s, store_s);
    REQUIRE(run.total_s() >= std::max({load_s, multiply_s, store_s, copy_engines == 1 ? load_s + store_s : 0.0}));
    REQUIRE(run.total_s() <= load_s + multiply_s + store_s);
    REQUIRE(run.total_s() >= Run(blocking, costs, reads_c).total_s());
    // The first multiplication waits for loads, and the last store for the last multiplication.
    const double first_s = run.operations(Engine::multiplying).front().start_s;
    const EngineOperation last = run.operations(Engine::storing).back();
    REQUIRE(run.total_s() >= first_s + multiply_s + last.end_s - last.start_s);
  }
}

// Algorithm 1 asks for the loads of the next block before it asks for the store of this one, so that on a device with
// one copy engine (Fig. 4.6 (b)) they do not wait behind a store that waits for a multiplication.
TEST_CASE("one copy engine is as good as two where multiplying takes longer than all copies of a block") {
  Random random(10);
  int longer = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Blocking blocking = equal_blocks(any_of(random, 1, 5), any_of(random, 1, 5), any_of(random, 1, 4),
                                           any_of(random, 1, 5), any_of(random, 1, 5), any_of(random, 1, 5));
    const bool reads_c = any_of(random, 0, 1) == 1;
    EngineCosts costs = random_costs(random, 1);
    const BlockTimes unscaled(blocking.grid, costs);
    costs.multiply_s *= std::ceil((unscaled.a + unscaled.c + unscaled.store) / unscaled.multiply);
    longer += Run(blocking, costs, reads_c, 1, 1).total_s() > Run(blocking, costs, reads_c).total_s() ? 1 : 0;
  }
  CHECK(longer == 0);
}

TEST_CASE(
    "with one buffer of each kind nothing is hidden: it is the second one that lets copies and products overlap") {
  Random random(7);
  int hidden_with_two = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Blocking blocking = random_blocking(random, 5, 4);
    const bool reads_c = any_of(random, 0, 1) == 1;
    const EngineCosts costs = random_costs(random, 1);
    hidden_with_two += Run(blocking, costs, reads_c).hidden_s() > 0.0 ? 1 : 0;
    blocking.a_buffers = blocking.c_buffers = 1;
    REQUIRE(Run(blocking, costs, reads_c).hidden_s() == 0.0);
  }
  CHECK(hidden_with_two > 100);
}

TEST_CASE("one run after the other takes as long as each alone, and slower engines never make a run shorter") {
  Random random(8);
  for (int trial = 0; trial < 300; ++trial) {
    const Blocking blocking = any_blocking(random, trial);
    const bool reads_c = any_of(random, 0, 1) == 1;
    const EngineCosts costs = random_costs(random);
    const double total_s = Run(blocking, costs, reads_c).total_s();
    REQUIRE(Run(blocking, costs, reads_c, 3).total_s() == 3.0 * total_s);
    for (const auto cost : {&EngineCosts::load_s, &EngineCosts::multiply_s, &EngineCosts::store_s}) {
      EngineCosts slower = costs;
      slower.*cost += 2.0;
      REQUIRE(Run(blocking, slower, reads_c).total_s() >= total_s);
    }
  }
}

}  // namespace steelyard::test_blocked_gemm_overlap
