#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "miniapps/gemm/out_of_core/blocked_gemm.hpp"
#include "tests/miniapps/gemm/deferred_engines.hpp"
#include "tests/miniapps/gemm/random_blockings.hpp"
#include "tests/miniapps/gemm/slice_product.hpp"

namespace steelyard::test_blocked_gemm {

using namespace steelyard::tests;
using gemm::BlockGrid;
using gemm::Blocking;

namespace {

using Random = std::mt19937_64;
using Gemm = gemm::BlockedGemm<DeferredEngines>;

constexpr double unread = std::numeric_limits<double>::quiet_NaN();

/// A product of whole numbers for a blocking: exact in any order of its sums.
struct Product {
  gemm::Problem problem;
  SliceProduct<double> slice;

  bool is_done() const { return slice.inexact_elements() == 0 && slice.untouched_between_rows(); }
};

Product product_for(Random& random, const Blocking& blocking) {
  gemm::Problem problem{blocking.grid.m, blocking.grid.n, blocking.grid.k};
  problem.alpha = std::array{1.0, -2.0, 0.5}[static_cast<std::size_t>(any_of(random, 0, 2))];
  problem.beta = std::array{0.0, 0.0, 1.0, 0.5, -2.0}[static_cast<std::size_t>(any_of(random, 0, 4))];
  return {problem, {problem, problem.m, any_of(random, 0, 3), whole_numbers(random)}};
}

void run(Gemm& blocked, const Product& product) {
  const gemm::Operands<double> operands = product.slice.operands();
  blocked.run(product.problem.alpha, operands.a, operands.b, product.problem.beta, operands.c);
}

/// The memory of a device, full of what no product may depend on.
class Device {
 public:
  explicit Device(const Blocking& blocking)
      : blocking_(blocking), memory_(static_cast<std::size_t>(blocking.buffer_elements()), unread) {}

  DeferredEngines engines(DeferredEngines::Pick next, std::optional<Wait> ignored = {}) const {
    std::int64_t a_elements = 0;
    for (std::int64_t i = 0; i < blocking_.a_buffers; ++i)
      a_elements += blocking_.buffer_rows(i) * blocking_.grid.depth;
    const double* const b = memory_.data() + a_elements;
    return {std::move(next), b, b + blocking_.grid.depth * blocking_.grid.width, ignored};
  }
  Gemm gemm(DeferredEngines& engines, bool reads_c) { return {engines, blocking_, reads_c, memory_.data()}; }

 private:
  Blocking blocking_;
  std::vector<double> memory_;
};

DeferredEngines::Pick at_random(Random& random) {
  return [&random](const std::vector<std::size_t>& ready) {
    return ready[static_cast<std::size_t>(any_of(random, 0, static_cast<std::int64_t>(ready.size()) - 1))];
  };
}

/// The first of these engines that can do something.
DeferredEngines::Pick by_rank(std::array<std::size_t, 3> ranked) {
  return [ranked](const std::vector<std::size_t>& ready) {
    return *std::find_if(ranked.begin(), ranked.end(), [&ready](std::size_t engine) {
      return std::find(ready.begin(), ready.end(), engine) != ready.end();
    });
  };
}

struct Outcome {
  bool is_right = false;
  std::size_t races = 0;
};

Outcome multiply(const Product& product, const Blocking& blocking, const DeferredEngines::Pick& next,
                 std::optional<Wait> ignored = {}) {
  Device device(blocking);
  DeferredEngines engines = device.engines(next, ignored);
  product.slice.put_c_back();
  Gemm blocked = device.gemm(engines, product.problem.reads_c());
  run(blocked, product);
  return {product.is_done(), engines.races()};
}

std::vector<std::array<std::size_t, 3>> rankings() {
  std::array<std::size_t, 3> ranked{0, 1, 2};
  std::vector<std::array<std::size_t, 3>> all;
  do all.push_back(ranked);
  while (std::next_permutation(ranked.begin(), ranked.end()));
  return all;
}

}  // namespace

TEST_CASE("products are right in whatever order engines get on that wait for events") {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    Blocking blocking = trial % 5 == 0 ? random_in_core(random, 5, 6) : random_blocking(random, 5, 4);
    if (trial % 5 != 0 && trial % 7 == 1) blocking.a_buffers = 1;
    if (trial % 5 != 0 && trial % 7 == 2) blocking.c_buffers = 1;
    const Product product = product_for(random, blocking);
    const BlockGrid& grid = blocking.grid;
    CAPTURE(trial, grid.m, grid.n, grid.k, grid.height, grid.width, grid.depth, product.problem.beta);
    for (int order = 0; order < 5; ++order) {
      const Outcome outcome = multiply(product, blocking, at_random(random));
      REQUIRE(outcome.is_right);
      REQUIRE(outcome.races == 0);
    }
    for (const auto& ranked : rankings()) REQUIRE(multiply(product, blocking, by_rank(ranked)).is_right);
  }
}

TEST_CASE("every kind of wait is needed: without it some order of operations gives a wrong product") {
  for (const auto& [waiting, awaited] :
       {Wait{Work::load_a, Work::multiply}, Wait{Work::load_b, Work::multiply}, Wait{Work::load_c, Work::store},
        Wait{Work::multiply, Work::load_a}, Wait{Work::multiply, Work::load_b}, Wait{Work::multiply, Work::load_c},
        Wait{Work::multiply, Work::store}, Wait{Work::store, Work::multiply}}) {
    Random random(3);
    int wrong = 0, raced = 0;
    for (int trial = 0; trial < 100; ++trial) {
      const Blocking blocking = random_blocking(random, 5, 4);
      const Product product = product_for(random, blocking);
      const Outcome outcome = multiply(product, blocking, at_random(random), Wait{waiting, awaited});
      wrong += outcome.is_right ? 0 : 1;
      raced += outcome.races > 0 ? 1 : 0;
      REQUIRE((outcome.is_right || outcome.races > 0));
    }
    CAPTURE(static_cast<int>(waiting), static_cast<int>(awaited));
    CHECK(wrong > 0);
    CHECK(raced >= wrong);
  }
}

TEST_CASE("panels of A and B may have memory of their own, which is free once the engines have finished") {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const Blocking blocking = random_blocking(random, 5, 4);
    const BlockGrid& grid = blocking.grid;
    const Product product = product_for(random, blocking);
    const bool one_by_one = trial % 2 == 0;
    CAPTURE(trial, grid.m, grid.n, grid.k, grid.height, grid.width, grid.depth, product.problem.beta, one_by_one);
    Device device(blocking);
    DeferredEngines engines = device.engines(at_random(random));
    Gemm blocked = device.gemm(engines, product.problem.reads_c());
    const gemm::Operands<double> all = product.slice.operands();
    std::deque<PinnedMatrix<double>> panels;
    for (std::int64_t panel = 0; panel < grid.panels(); ++panel) {
      const std::int64_t first = panel * grid.depth;
      const std::int64_t depth = std::min(grid.depth, grid.k - first);
      const PinnedMatrix<double>& a = panels.emplace_back(grid.m, depth, any_of(random, 0, 2), unread);
      const PinnedMatrix<double>& b = panels.emplace_back(depth, grid.n, any_of(random, 0, 2), unread);
      for (std::int64_t l = 0; l < depth; ++l) {
        for (std::int64_t i = 0; i < grid.m; ++i) a.at(i, l) = all.a(i, first + l);
        for (std::int64_t j = 0; j < grid.n; ++j) b.at(l, j) = all.b(first + l, j);
      }
      blocked.add_panel(panel, product.problem.alpha, a.view(), b.view(), product.problem.beta, all.c);
      if (!one_by_one) continue;
      engines.finish();
      for (const PinnedMatrix<double>* used : {&a, &b}) used->fill([] { return unread; });
    }
    engines.finish();
    REQUIRE(engines.races() == 0);
    REQUIRE(product.is_done());
  }
}

TEST_CASE("one product after the other comes out of the same buffers") {
  Random random(5);
  for (int trial = 0; trial < 100; ++trial) {
    const Blocking blocking = trial % 3 == 0 ? random_in_core(random, 4, 6) : random_blocking(random, 4, 4);
    Device device(blocking);
    DeferredEngines engines = device.engines(at_random(random));
    std::optional<Gemm> blocked;
    std::optional<bool> reads_c;
    for (int time = 0; time < 6; ++time) {
      const Product product = product_for(random, blocking);
      if (!reads_c) {
        reads_c = product.problem.reads_c();
        blocked.emplace(device.gemm(engines, *reads_c));
      }
      if (product.problem.reads_c() != *reads_c) continue;
      run(*blocked, product);
      CAPTURE(trial, time, blocking.in_core, product.problem.beta);
      REQUIRE(engines.races() == 0);
      REQUIRE(product.is_done());
    }
  }
}

}  // namespace steelyard::test_blocked_gemm
