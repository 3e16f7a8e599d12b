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
#include "tests/core/naive_gemm.hpp"
#include "tests/core/unit_matrix.hpp"
#include "tests/miniapps/gemm/deferred_engines.hpp"
#include "tests/miniapps/gemm/random_blockings.hpp"

namespace steelyard::test_blocked_gemm {

using namespace steelyard::tests;
using gemm::BlockGrid;
using gemm::Blocking;

namespace {

using Random = std::mt19937_64;
using HostMatrix = UnitMatrix<HostExecution, double>;
using Gemm = gemm::BlockedGemm<DeferredEngines>;

constexpr double unread = std::numeric_limits<double>::quiet_NaN();

/// Small whole numbers, whose sums of products are exact in any order.
void fill_with_whole_numbers(const HostMatrix& matrix, Random& random) {
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    for (std::int64_t j = 0; j < matrix.columns(); ++j) matrix.at(i, j) = static_cast<double>(any_of(random, -4, 4));
  }
  matrix.send();
}

/// A product to compute, and what it is.
class Product {
 public:
  Product(Random& random, std::int64_t m, std::int64_t n, std::int64_t k)
      : a_(m, k, k + any_of(random, 0, 3)),
        b_(k, n, n + any_of(random, 0, 3)),
        c_(m, n, n + any_of(random, 0, 3)),
        alpha_(std::array{1.0, -2.0, 0.5}[static_cast<std::size_t>(any_of(random, 0, 2))]),
        beta_(std::array{0.0, 0.0, 1.0, 0.5, -2.0}[static_cast<std::size_t>(any_of(random, 0, 4))]) {
    for (const HostMatrix* matrix : {&a_, &b_, &c_}) fill_with_whole_numbers(*matrix, random);
    if (!reads_c()) c_.fill_with(unread);
    for (const NaiveElement& element : naive_gemm(m, n, k, alpha_, a_, b_, beta_, c_)) {
      product_.push_back(static_cast<double>(element.value));
    }
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) before_.push_back(c_.at(i, j));
    }
  }

  const HostMatrix& a() const { return a_; }
  const HostMatrix& b() const { return b_; }
  const HostMatrix& c() const { return c_; }
  double alpha() const { return alpha_; }
  double beta() const { return beta_; }
  bool reads_c() const { return beta_ != 0.0; }

  void put_c_back() const {
    auto next = before_.begin();
    for (std::int64_t i = 0; i < c_.rows(); ++i) {
      for (std::int64_t j = 0; j < c_.columns(); ++j) c_.at(i, j) = *next++;
    }
    c_.send();
  }
  /// Whether C is the product now, and nothing between its rows has changed.
  bool is_done() const {
    c_.fetch();
    auto next = product_.begin();
    for (std::int64_t i = 0; i < c_.rows(); ++i) {
      for (std::int64_t j = 0; j < c_.columns(); ++j) {
        if (c_.at(i, j) != *next++) return false;
      }
    }
    return c_.untouched_between_rows();
  }

 private:
  HostMatrix a_, b_, c_;
  double alpha_, beta_;
  std::vector<double> product_, before_;
};

/// The buffers of a device, full of what no product may depend on.
class Device {
 public:
  explicit Device(const Blocking& blocking) : b_(blocking.grid.depth, blocking.grid.width, blocking.grid.width) {
    const BlockGrid& grid = blocking.grid;
    // In core buffers hold the matrix and no more.
    const auto rows = [&](std::int64_t i) {
      return blocking.in_core ? std::min(grid.height, grid.m - i * grid.height) : grid.height;
    };
    for (std::int64_t i = 0; i < blocking.a_buffers; ++i) a_.emplace_back(rows(i), grid.depth, grid.depth);
    for (std::int64_t i = 0; i < blocking.c_buffers; ++i) c_.emplace_back(rows(i), grid.width, grid.width);
    forget(b_);
    for (const auto* buffers : {&a_, &c_}) std::for_each(buffers->begin(), buffers->end(), forget);
  }

  DeferredEngines engines(DeferredEngines::Pick next, std::optional<Wait> ignored = {}) const {
    std::vector<const double*> c;
    for (const HostMatrix& matrix : c_) c.push_back(matrix.view().data());
    return {std::move(next), b_.view().data(), c, ignored};
  }
  Gemm gemm(DeferredEngines& engines, const Blocking& blocking, bool reads_c) const {
    return {engines, blocking, reads_c, views(a_), b_.view(), views(c_)};
  }

 private:
  static void forget(const HostMatrix& matrix) {
    matrix.fill_with(unread);
    matrix.send();
  }
  static std::vector<Matrix<HostExecution, double>> views(const std::deque<HostMatrix>& matrices) {
    std::vector<Matrix<HostExecution, double>> result;
    for (const HostMatrix& matrix : matrices) result.push_back(matrix.view());
    return result;
  }

  std::deque<HostMatrix> a_;
  HostMatrix b_;
  std::deque<HostMatrix> c_;
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
  const Device device(blocking);
  DeferredEngines engines = device.engines(next, ignored);
  product.put_c_back();
  device.gemm(engines, blocking, product.reads_c())
      .run(product.alpha(), product.a().view(), product.b().view(), product.beta(), product.c().view());
  return {product.is_done(), engines.races()};
}

Product product_for(Random& random, const Blocking& blocking) {
  return {random, blocking.grid.m, blocking.grid.n, blocking.grid.k};
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
    if (trial % 5 != 0 && trial % 7 == 1) blocking.a_buffers = any_of(random, 1, 4);
    if (trial % 5 != 0 && trial % 7 == 2) blocking.c_buffers = any_of(random, 1, 4);
    const Product product = product_for(random, blocking);
    const BlockGrid& grid = blocking.grid;
    CAPTURE(trial, grid.m, grid.n, grid.k, grid.height, grid.width, grid.depth, product.beta());
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
    CAPTURE(trial, grid.m, grid.n, grid.k, grid.height, grid.width, grid.depth, product.beta(), one_by_one);
    const Device device(blocking);
    DeferredEngines engines = device.engines(at_random(random));
    Gemm blocked = device.gemm(engines, blocking, product.reads_c());
    std::deque<HostMatrix> a_panels, b_panels;
    for (std::int64_t panel = 0; panel < grid.panels(); ++panel) {
      const std::int64_t first = panel * grid.depth;
      const std::int64_t depth = std::min(grid.depth, grid.k - first);
      const HostMatrix& a = a_panels.emplace_back(grid.m, depth, depth + any_of(random, 0, 2));
      const HostMatrix& b = b_panels.emplace_back(depth, grid.n, grid.n + any_of(random, 0, 2));
      for (std::int64_t l = 0; l < depth; ++l) {
        for (std::int64_t i = 0; i < grid.m; ++i) a.at(i, l) = product.a().at(i, first + l);
        for (std::int64_t j = 0; j < grid.n; ++j) b.at(l, j) = product.b().at(first + l, j);
      }
      a.send();
      b.send();
      blocked.add_panel(panel, product.alpha(), a.view(), b.view(), product.beta(), product.c().view());
      if (!one_by_one) continue;
      engines.finish();
      for (const HostMatrix* used : {&a, &b}) {
        used->fill_with(unread);
        used->send();
      }
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
    const Device device(blocking);
    DeferredEngines engines = device.engines(at_random(random));
    std::optional<Gemm> blocked;
    std::optional<bool> reads_c;
    for (int run = 0; run < 6; ++run) {
      const Product product = product_for(random, blocking);
      if (!reads_c) {
        reads_c = product.reads_c();
        blocked.emplace(device.gemm(engines, blocking, *reads_c));
      }
      if (product.reads_c() != *reads_c) continue;
      blocked->run(product.alpha(), product.a().view(), product.b().view(), product.beta(), product.c().view());
      CAPTURE(trial, run, blocking.in_core, product.beta());
      REQUIRE(engines.races() == 0);
      REQUIRE(product.is_done());
    }
  }
}

}  // namespace steelyard::test_blocked_gemm
