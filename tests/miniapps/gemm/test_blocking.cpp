#include "miniapps/gemm/blocking.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_blocking {

using namespace steelyard::gemm;
using tests::any_of;

namespace {

using Random = std::mt19937_64;

constexpr std::int64_t alignment = 32;

/// As many rows, columns or products as a buffer for `extent` of them has.
std::int64_t padded(std::int64_t extent) {
  return std::max<std::int64_t>(1, (extent + alignment - 1) / alignment) * alignment;
}
double real(std::int64_t value) { return static_cast<double>(value); }

/// Elements that steps load and store.
double moved_by_steps(const Blocking& blocking) {
  std::int64_t moved = 0;
  for (const BlockStep& step : make_block_steps(blocking)) {
    if (step.load_a) moved += step.c.rows * step.depth;
    if (step.load_b) moved += step.depth * step.c.columns;
    if (step.load_c) moved += step.c.area();
    if (step.store_c) moved += step.c.area();
  }
  return real(moved);
}

/// Matrices to be planned for; panels of a given depth, or of any where that is 0.
struct Request {
  std::int64_t m = 0, n = 0, k = 0;
  bool reads_c = false;
  BlockingGoal goal;
  std::int64_t depth = 0;

  Blocking plan() const { return plan_blocking({m, n, k, depth, 1.0, reads_c ? 1.0 : 0.0}, goal); }
  double least_bytes() const { return least_memory_bytes(goal.element_bytes, depth); }
  double memory_elements() const { return std::floor(goal.memory_bytes / goal.element_bytes); }
  double in_core_elements() const {
    const std::int64_t panel = depth > 0 ? depth : padded(k);
    return real(padded(m)) * real(panel) + real(panel) * real(padded(n)) + real(padded(m)) * real(padded(n));
  }
  bool fits_at_once() const { return in_core_elements() <= memory_elements(); }
  double each_once() const { return real(m) * real(k) + real(k) * real(n) + real(m) * real(n) * (reads_c ? 2.0 : 1.0); }
};

/// Extents around multiples of 32, primes and others; memory from what is needed to more than holds everything.
Request random_request(Random& random, std::int64_t least_extent, std::int64_t most_extent, bool in_panels) {
  Request request;
  for (std::int64_t* extent : {&request.m, &request.n, &request.k}) {
    *extent = any_of(random, least_extent, most_extent);
    if (any_of(random, 0, 3) == 0) *extent = padded(*extent) + any_of(random, -1, 1);
    if (any_of(random, 0, 9) == 0) *extent = least_extent;
  }
  request.depth = in_panels ? any_of(random, 1, 120) : 0;
  request.reads_c = in_panels || any_of(random, 0, 1) == 1;
  request.goal.element_bytes = any_of(random, 0, 1) == 1 ? 8.0 : 4.0;
  request.goal.least_extent = any_of(random, 0, 2) == 0 ? 128 : any_of(random, 1, 5) * alignment;
  request.goal.in_core_blocks = any_of(random, 1, 4);
  const double whole = request.in_core_elements() * request.goal.element_bytes;
  const double least = in_panels ? std::min(whole, request.least_bytes()) : request.least_bytes();
  const double most = std::max(2.0 * least, 1.5 * whole);
  const double share = std::uniform_real_distribution<double>(0.0, 1.0)(random);
  request.goal.memory_bytes = std::max(least, least * std::pow(most / least, share));
  return request;
}

/// Whether five buffers fit.
bool fits(const Request& request, std::int64_t height, std::int64_t width, std::int64_t depth) {
  return real(2 * height * depth + depth * width + 2 * height * width) <= request.memory_elements();
}

/// The fewest elements that any five buffers move; blocks of C have all rows and columns that there are, or
/// `least_extent` where the memory does not force fewer.
double fewest_moved(const Request& request) {
  std::int64_t least_height = padded(std::min(request.m, request.goal.least_extent));
  std::int64_t least_width = padded(std::min(request.n, request.goal.least_extent));
  const std::int64_t least_depth = request.depth > 0 ? request.depth : alignment;
  const std::int64_t most_depth = request.depth > 0 ? request.depth : padded(request.k);
  if (!fits(request, least_height, least_width, least_depth)) least_height = least_width = alignment;
  double fewest = std::numeric_limits<double>::infinity();
  for (std::int64_t height = least_height; height <= padded(request.m); height += alignment) {
    for (std::int64_t width = least_width; width <= padded(request.n); width += alignment) {
      for (std::int64_t depth = least_depth; depth <= most_depth; depth += alignment) {
        if (!fits(request, height, width, depth)) break;
        const Blocking plan{request.m, request.n, request.k, height, width, depth, request.reads_c, false, 2};
        fewest = std::min(fewest, plan.moved_elements());
      }
    }
  }
  return fewest;
}

/// What every plan is, and what can be said of its steps where they are few.
void check_plan(const Request& request, bool with_steps) {
  CAPTURE(request.m, request.n, request.k, request.depth, request.reads_c, request.goal.memory_bytes,
          request.goal.element_bytes, request.goal.least_extent, request.goal.in_core_blocks);
  const Blocking plan = request.plan();
  CAPTURE(plan.in_core, plan.height, plan.width, plan.depth);
  REQUIRE((plan.m == request.m && plan.n == request.n && plan.k == request.k));
  for (const std::int64_t size : {plan.height, plan.width, request.depth > 0 ? alignment : plan.depth}) {
    REQUIRE(size >= alignment);
    REQUIRE(size % alignment == 0);
  }
  if (request.depth > 0) REQUIRE(plan.depth == request.depth);
  const double rows = real(plan.in_core ? padded(plan.m) : 2 * plan.height);
  REQUIRE(plan.buffer_elements() == rows * real(plan.depth + plan.width) + real(plan.depth * plan.width));
  REQUIRE(plan.buffer_elements() <= request.memory_elements());

  REQUIRE(plan.in_core == request.fits_at_once());
  if (plan.in_core) {
    REQUIRE(plan.buffers >= plan.rows());
    REQUIRE(plan.columns() <= 1);
    if (request.depth == 0) REQUIRE(plan.panels() == 1);
    REQUIRE(plan.rows() <= std::max<std::int64_t>(1, request.goal.in_core_blocks));
  } else {
    REQUIRE(plan.buffers == 2);
  }
  const double moved = plan.moved_elements();
  const bool some_elements = request.m > 0 && request.n > 0;
  if (some_elements) REQUIRE(moved >= request.each_once());
  if (some_elements && plan.in_core) REQUIRE(moved == request.each_once());
  if (with_steps) REQUIRE(moved_by_steps(plan) == moved);
}

}  // namespace

TEST_CASE(
    "plans keep to the memory, to multiples of 32 or a given depth, and to what the steps move, in core where all "
    "fits at once") {
  const bool in_panels = GENERATE(false, true);
  Random random(1);
  int in_core = 0;
  constexpr int trials = 3000;
  for (int trial = 0; trial < trials; ++trial) {
    const Request request = random_request(random, in_panels ? 1 : 0, 300, in_panels);
    check_plan(request, true);
    in_core += request.fits_at_once() ? 1 : 0;
  }
  CHECK(in_core > trials / 30);
  CHECK(in_core < trials * 29 / 30);
  // Huge matrices are planned in no time: the test would not end otherwise.
  for (int trial = 0; trial < 100; ++trial) check_plan(random_request(random, 1, 1000000, in_panels), false);
}

TEST_CASE("no block sizes in five buffers move fewer elements than the plan") {
  const bool in_panels = GENERATE(false, true);
  Random random(3);
  // Of which the best has one row of blocks less than the tallest.
  const Request uneven{269, 225, 156, true, {663500.0, 8.0, 96}, 106};
  CHECK(uneven.plan().moved_elements() == fewest_moved(uneven));
  for (int planned = 0; planned < 800;) {
    const Request request = random_request(random, 1, 330, in_panels);
    if (request.fits_at_once()) continue;
    ++planned;
    CAPTURE(request.m, request.n, request.k, request.depth, request.reads_c, request.memory_elements());
    REQUIRE(request.plan().moved_elements() == fewest_moved(request));
  }
}

TEST_CASE("in core, A and C have as many rows of blocks as wanted where that leaves them high enough") {
  const std::int64_t blocks = GENERATE(1, 2, 3, 4, 8), height = GENERATE(128, 160, 320);
  Request request{blocks * height, 70, 50, false, {}};
  request.goal.memory_bytes = 1e9;
  request.goal.in_core_blocks = blocks;
  CHECK(request.plan().in_core);
  CHECK(request.plan().rows() == blocks);
}

TEST_CASE("the least memory suffices for any matrices, and with less there is no plan for large ones") {
  Request request;
  request.goal.element_bytes = GENERATE(4.0, 8.0);
  request.depth = GENERATE(0, 1, 31, 32, 33, 128, 1000);
  const double least = request.least_bytes();
  CAPTURE(request.goal.element_bytes, request.depth, least);
  if (request.depth == 0) CHECK(least == 5.0 * alignment * alignment * request.goal.element_bytes);
  const auto plan = [&](std::int64_t m, std::int64_t n, std::int64_t k, double memory_bytes) {
    for (const bool reads_c : {true, false}) {
      Request sized{m, n, k, reads_c, request.goal, request.depth};
      sized.goal.memory_bytes = memory_bytes;
      sized.plan();
    }
  };
  for (const std::int64_t extent : {1, 33, 200, 5000, 1000000}) {
    for (const std::int64_t other : {1, 64, 997}) {
      CHECK_NOTHROW(plan(extent, other, extent, least));
      CHECK_NOTHROW(plan(extent, extent, other, least));
      CHECK_NOTHROW(plan(other, extent, extent, least));
    }
  }
  for (const double too_little : {0.0, 1.0, least / 2.0, least - request.goal.element_bytes, least - 1.0}) {
    CHECK_THROWS_AS(plan(100, 100, 100, too_little), InvalidArgument);
    CHECK_THROWS_AS(plan(5000, 70, 1, too_little), InvalidArgument);
    CHECK_THROWS_AS(plan(1000000, 1000000, 1000000, too_little), InvalidArgument);
  }
}

}  // namespace steelyard::test_blocking
