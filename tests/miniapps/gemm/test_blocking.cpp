#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <limits>
#include <random>
#include <vector>

#include "core/base/errors.hpp"
#include "miniapps/gemm/out_of_core/blocking.hpp"
#include "tests/miniapps/gemm/moved_by_steps.hpp"
#include "tests/miniapps/gemm/random_blockings.hpp"

namespace steelyard::test_blocking {

using namespace steelyard::gemm;
using tests::any_of;
using tests::moved_by;

namespace {

constexpr std::int64_t alignment = 32;

/// As many rows, columns or products as a buffer for `extent` of them has.
std::int64_t padded(std::int64_t extent) {
  return std::max<std::int64_t>(1, (extent + alignment - 1) / alignment) * alignment;
}

struct Request {
  std::int64_t m = 0, n = 0, k = 0;
  bool reads_c = false;
  BlockingGoal goal;

  Blocking plan() const { return plan_blocking(m, n, k, reads_c, goal); }
  double memory_elements() const { return std::floor(goal.memory_bytes / goal.element_bytes); }
  double in_core_elements() const {
    return static_cast<double>(padded(m) * padded(k) + padded(k) * padded(n) + padded(m) * padded(n));
  }
  double each_once() const {
    return static_cast<double>(m) * static_cast<double>(k) + static_cast<double>(k) * static_cast<double>(n) +
           static_cast<double>(m) * static_cast<double>(n) * (reads_c ? 2.0 : 1.0);
  }
};

/// Extents around multiples of 32, primes and others; memory from what is needed to more than holds everything.
Request random_request(std::mt19937_64& random, std::int64_t least_extent, std::int64_t most_extent) {
  Request request;
  for (std::int64_t* extent : {&request.m, &request.n, &request.k}) {
    *extent = any_of(random, least_extent, most_extent);
    if (any_of(random, 0, 3) == 0) *extent = padded(*extent) + any_of(random, -1, 1);
    if (any_of(random, 0, 9) == 0) *extent = least_extent;
  }
  request.reads_c = any_of(random, 0, 1) == 1;
  request.goal.element_bytes = any_of(random, 0, 1) == 1 ? 8.0 : 4.0;
  request.goal.least_extent = any_of(random, 0, 2) == 0 ? 128 : any_of(random, 1, 5) * alignment;
  request.goal.in_core_blocks = any_of(random, 1, 4);
  const double least = least_memory_bytes(request.goal.element_bytes);
  const double most = std::max(2.0 * least, 1.5 * request.in_core_elements() * request.goal.element_bytes);
  request.goal.memory_bytes =
      std::max(least, least * std::pow(most / least, std::uniform_real_distribution<double>(0.0, 1.0)(random)));
  return request;
}

/// What every plan is, and what can be said of its steps where they are few.
void check_plan(const Request& request, bool with_steps) {
  CAPTURE(request.m, request.n, request.k, request.reads_c, request.goal.memory_bytes, request.goal.element_bytes,
          request.goal.least_extent, request.goal.in_core_blocks);
  const Blocking plan = request.plan();
  const BlockGrid& grid = plan.grid;
  CAPTURE(plan.in_core, grid.height, grid.width, grid.depth);
  REQUIRE(grid.m == request.m);
  REQUIRE(grid.n == request.n);
  REQUIRE(grid.k == request.k);
  for (const std::int64_t size : {grid.height, grid.width, grid.depth}) {
    REQUIRE(size >= alignment);
    REQUIRE(size % alignment == 0);
  }
  const auto depth_and_width = static_cast<double>(grid.depth + grid.width);
  const auto rows = static_cast<double>(plan.in_core ? padded(grid.m) : 2 * grid.height);
  REQUIRE(plan.buffer_elements() == rows * depth_and_width + static_cast<double>(grid.depth * grid.width));
  REQUIRE(plan.buffer_elements() * request.goal.element_bytes <= request.goal.memory_bytes);

  if (plan.in_core) {
    REQUIRE(plan.a_buffers >= grid.rows() * grid.panels());
    REQUIRE(grid.panels() * grid.columns() <= 1);
    REQUIRE(plan.c_buffers >= grid.rows() * grid.columns());
    REQUIRE(grid.rows() <= std::max<std::int64_t>(1, request.goal.in_core_blocks));
  } else {
    REQUIRE(plan.a_buffers == 2);
    REQUIRE(plan.c_buffers == 2);
  }
  const double moved = plan.moved_elements(request.reads_c);
  const bool some_elements = request.m > 0 && request.n > 0;
  if (some_elements) REQUIRE(moved >= request.each_once());
  if (some_elements && plan.in_core) REQUIRE(moved == request.each_once());
  if (!with_steps) return;
  const std::vector<BlockStep> steps = make_block_steps(plan, request.reads_c);
  REQUIRE(static_cast<double>(moved_by(grid, steps).all()) == moved);
}

/// Whether five buffers fit.
bool fits(const Request& request, std::int64_t height, std::int64_t width, std::int64_t depth) {
  const auto elements = static_cast<double>(2 * height * depth + depth * width + 2 * height * width);
  return elements <= request.memory_elements();
}

/// The fewest rows and columns that blocks of C may have: all there are, or `least_extent` where the memory does not
/// force fewer.
struct LeastBlock {
  std::int64_t height = 0;
  std::int64_t width = 0;
};
LeastBlock least_block(const Request& request) {
  const std::int64_t height = padded(std::min(request.m, request.goal.least_extent));
  const std::int64_t width = padded(std::min(request.n, request.goal.least_extent));
  return fits(request, height, width, alignment) ? LeastBlock{height, width} : LeastBlock{alignment, alignment};
}

double moved_elements(const Request& request, std::int64_t height, std::int64_t width, std::int64_t depth) {
  Blocking blocking;
  blocking.grid = {request.m, request.n, request.k, height, width, depth};
  blocking.a_buffers = blocking.c_buffers = 2;
  blocking.in_core = false;
  return blocking.moved_elements(request.reads_c);
}

/// The fewest elements that any five buffers move.
double fewest_moved(const Request& request) {
  double fewest = std::numeric_limits<double>::infinity();
  const LeastBlock least = least_block(request);
  for (std::int64_t height = least.height; height <= padded(request.m); height += alignment) {
    for (std::int64_t width = least.width; width <= padded(request.n); width += alignment) {
      for (std::int64_t depth = alignment; depth <= padded(request.k); depth += alignment) {
        if (!fits(request, height, width, depth)) break;
        fewest = std::min(fewest, moved_elements(request, height, width, depth));
      }
    }
  }
  return fewest;
}

}  // namespace

TEST_CASE("plans keep to the memory, to multiples of 32 and to what the steps move") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 3000; ++trial) check_plan(random_request(random, 0, 300), true);
  for (const std::int64_t m : {0, 1, 2, 31, 32, 33, 97}) {
    for (const std::int64_t n : {0, 1, 31, 32, 33, 89}) {
      for (const std::int64_t k : {0, 1, 32, 33, 101}) {
        for (const double memory_bytes : {0.0, 1e4, 2e4, 1e5, 1e6}) {
          Request request{m, n, k, (m + n + k) % 2 == 0, {}};
          request.goal.memory_bytes = least_memory_bytes(8.0) + memory_bytes;
          check_plan(request, true);
        }
      }
    }
  }
}

TEST_CASE("what fits at once is in core, and nothing else is") {
  std::mt19937_64 random(2);
  int in_core = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Request request = random_request(random, 1, 300);
    CAPTURE(request.m, request.n, request.k, request.goal.memory_bytes, request.goal.in_core_blocks);
    const bool fits_at_once = request.in_core_elements() <= request.memory_elements();
    REQUIRE(request.plan().in_core == fits_at_once);
    in_core += fits_at_once ? 1 : 0;
  }
  CHECK(in_core > 100);
  CHECK(in_core < 2900);
}

TEST_CASE("in core, A and C have as many rows of blocks as wanted where that leaves them high enough") {
  Request request;
  request.n = 70;
  request.k = 50;
  request.goal.memory_bytes = 1e9;
  for (const std::int64_t blocks : {1, 2, 3, 4, 8}) {
    for (const std::int64_t height : {128, 160, 320}) {
      request.m = blocks * height;
      request.goal.in_core_blocks = blocks;
      const Blocking plan = request.plan();
      REQUIRE(plan.in_core);
      CHECK(plan.grid.rows() == blocks);
    }
  }
}

TEST_CASE("no block sizes in five buffers move fewer elements than the plan") {
  std::mt19937_64 random(3);
  int planned = 0;
  while (planned < 1000) {
    const Request request = random_request(random, 1, 260);
    const Blocking plan = request.plan();
    if (plan.in_core) continue;
    ++planned;
    CAPTURE(request.m, request.n, request.k, request.reads_c, request.memory_elements(), request.goal.least_extent);
    CAPTURE(plan.grid.height, plan.grid.width, plan.grid.depth);
    REQUIRE(plan.grid.height >= least_block(request).height);
    REQUIRE(plan.grid.width >= least_block(request).width);
    REQUIRE(plan.moved_elements(request.reads_c) == fewest_moved(request));
  }
}

TEST_CASE("five buffers of 32 x 32 suffice for any matrices, and with less there is no plan for large ones") {
  for (const double element_bytes : {4.0, 8.0}) {
    const double least = least_memory_bytes(element_bytes);
    CHECK(least == 5.0 * alignment * alignment * element_bytes);
    for (const std::int64_t extent : {0, 1, 33, 200, 5000, 1000000}) {
      for (const std::int64_t other : {0, 1, 64, 997}) {
        for (const bool reads_c : {true, false}) {
          BlockingGoal goal;
          goal.memory_bytes = least;
          goal.element_bytes = element_bytes;
          CHECK_NOTHROW(plan_blocking(extent, other, extent, reads_c, goal));
          CHECK_NOTHROW(plan_blocking(extent, extent, other, reads_c, goal));
          CHECK_NOTHROW(plan_blocking(other, extent, extent, reads_c, goal));
        }
      }
    }
    for (const double too_little : {0.0, 1.0, least / 2.0, least - element_bytes, least - 1.0}) {
      BlockingGoal goal;
      goal.memory_bytes = too_little;
      goal.element_bytes = element_bytes;
      CHECK_THROWS_AS(plan_blocking(100, 100, 100, true, goal), InvalidArgument);
      CHECK_THROWS_AS(plan_blocking(5000, 70, 1, false, goal), InvalidArgument);
      CHECK_THROWS_AS(plan_blocking(1000000, 1000000, 1000000, false, goal), InvalidArgument);
    }
  }
}

TEST_CASE("huge matrices are planned in no time, and better than with block sizes picked at random") {
  std::mt19937_64 random(6);
  constexpr std::int64_t huge = 1000000;
  for (const double memory_bytes : {least_memory_bytes(8.0), 1e6, 1e8, 2e10, 1e12, 7e12, 3e13}) {
    for (const auto& [m, n, k] : {std::array{huge, huge, huge}, std::array{huge, huge, std::int64_t{640}},
                                  std::array{huge, std::int64_t{1}, huge}, std::array{std::int64_t{1}, huge, huge},
                                  std::array{huge - 17, huge + 3, std::int64_t{0}}}) {
      Request request{m, n, k, true, {}};
      request.goal.memory_bytes = memory_bytes;
      const std::clock_t start = std::clock();
      const Blocking plan = request.plan();
      const double cpu_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
      CAPTURE(m, n, k, memory_bytes, plan.grid.height, plan.grid.width, plan.grid.depth);
      CHECK(cpu_s < 0.5);
      check_plan(request, false);
      CHECK(std::isfinite(plan.moved_elements(true)));
      CHECK(plan.in_core == (request.in_core_elements() <= request.memory_elements()));
      if (plan.in_core) continue;
      const double moved = plan.moved_elements(true);
      for (int trial = 0; trial < 300; ++trial) {
        const auto pick = [&](std::int64_t least, std::int64_t most) {
          const double ratio = static_cast<double>(most) / static_cast<double>(least);
          const double part = std::uniform_real_distribution<double>(0.0, 1.0)(random);
          return padded(static_cast<std::int64_t>(static_cast<double>(least) * std::pow(ratio, part)));
        };
        const std::int64_t height = pick(least_block(request).height, padded(m));
        const std::int64_t width = pick(least_block(request).width, padded(n));
        const std::int64_t depth = pick(alignment, padded(k));
        if (fits(request, height, width, depth)) REQUIRE(moved <= moved_elements(request, height, width, depth));
      }
    }
  }
}

TEST_CASE("plans for panels keep their depth, the memory, and what the steps move; what fits at once is in core") {
  std::mt19937_64 random(7);
  int in_core = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    Request request = random_request(random, 1, 300);
    const std::int64_t depth = any_of(random, 1, 120);
    const double bytes = request.goal.element_bytes;
    const auto whole =
        static_cast<double>((padded(request.m) + padded(request.n)) * depth + padded(request.m) * padded(request.n));
    const double least = std::min(whole * bytes, least_panel_memory_bytes(bytes, depth));
    request.goal.memory_bytes =
        least * std::pow(1.5 * whole * bytes / least, std::uniform_real_distribution<double>(0.0, 1.0)(random));
    const Blocking plan = plan_panel_blocking(request.m, request.n, request.k, depth, request.goal);
    const BlockGrid& grid = plan.grid;
    CAPTURE(request.m, request.n, request.k, depth, request.goal.memory_bytes, request.goal.in_core_blocks);
    CAPTURE(plan.in_core, grid.height, grid.width);
    REQUIRE(grid.m == request.m);
    REQUIRE(grid.n == request.n);
    REQUIRE(grid.k == request.k);
    REQUIRE(grid.depth == depth);
    REQUIRE(grid.height % alignment == 0);
    REQUIRE(grid.width % alignment == 0);
    const auto rows = static_cast<double>(plan.in_core ? padded(grid.m) : 2 * grid.height);
    REQUIRE(plan.buffer_elements() ==
            rows * static_cast<double>(depth + grid.width) + static_cast<double>(depth * grid.width));
    REQUIRE(plan.buffer_elements() * bytes <= request.goal.memory_bytes);
    REQUIRE(plan.in_core == (whole <= request.memory_elements()));
    REQUIRE(static_cast<double>(moved_by(grid, make_block_steps(plan, true)).all()) == plan.moved_elements(true));
    request.reads_c = true;
    if (plan.in_core) REQUIRE(plan.moved_elements(true) == request.each_once());
    in_core += plan.in_core ? 1 : 0;
  }
  CHECK(in_core > trials / 20);
  CHECK(in_core < trials * 19 / 20);
}

TEST_CASE("no blocks of C of a panel in five buffers move fewer elements than the plan") {
  std::mt19937_64 random(8);
  int planned = 0;
  while (planned < 500) {
    Request request = random_request(random, 1, 260);
    request.reads_c = true;
    const std::int64_t depth = any_of(random, 1, 100);
    request.goal.memory_bytes =
        std::max(request.goal.memory_bytes, least_panel_memory_bytes(request.goal.element_bytes, depth));
    const Blocking plan = plan_panel_blocking(request.m, request.n, request.k, depth, request.goal);
    if (plan.in_core) continue;
    ++planned;
    std::int64_t height = padded(std::min(request.m, request.goal.least_extent));
    std::int64_t width = padded(std::min(request.n, request.goal.least_extent));
    if (!fits(request, height, width, depth)) height = width = alignment;
    CAPTURE(request.m, request.n, request.k, depth, request.memory_elements(), request.goal.least_extent);
    CAPTURE(plan.grid.height, plan.grid.width);
    REQUIRE(plan.grid.height >= height);
    REQUIRE(plan.grid.width >= width);
    double fewest = std::numeric_limits<double>::infinity();
    for (std::int64_t h = height; h <= padded(request.m); h += alignment) {
      for (std::int64_t w = width; w <= padded(request.n); w += alignment) {
        if (fits(request, h, w, depth)) fewest = std::min(fewest, moved_elements(request, h, w, depth));
      }
    }
    REQUIRE(plan.moved_elements(true) == fewest);
  }
}

TEST_CASE("the least memory for panels suffices for any matrices, and with less there is no plan for large ones") {
  for (const double element_bytes : {4.0, 8.0}) {
    for (const std::int64_t depth : {1, 31, 32, 33, 128, 1000}) {
      BlockingGoal goal;
      goal.element_bytes = element_bytes;
      const double least = least_panel_memory_bytes(element_bytes, depth);
      CAPTURE(element_bytes, depth, least);
      for (const std::int64_t extent : {1, 33, 200, 5000, 1000000}) {
        for (const std::int64_t other : {1, 64, 997}) {
          goal.memory_bytes = least;
          CHECK_NOTHROW(plan_panel_blocking(extent, other, extent, depth, goal));
          CHECK_NOTHROW(plan_panel_blocking(other, extent, other, depth, goal));
          CHECK_NOTHROW(plan_panel_blocking(extent, extent, other, depth, goal));
        }
      }
      for (const double too_little : {0.0, 1.0, least / 2.0, least - element_bytes, least - 1.0}) {
        goal.memory_bytes = too_little;
        CHECK_THROWS_AS(plan_panel_blocking(100, 100, 100, depth, goal), InvalidArgument);
        CHECK_THROWS_AS(plan_panel_blocking(5000, 70, 1, depth, goal), InvalidArgument);
        CHECK_THROWS_AS(plan_panel_blocking(1000000, 1000000, 1000000, depth, goal), InvalidArgument);
      }
    }
  }
}

}  // namespace steelyard::test_blocking
