#include <algorithm>
#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "core/memory/unit_memory.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/miniapps/gemm/slice_product.hpp"

namespace steelyard::test_unit_gemm {

using namespace steelyard::tests;
using gemm::Blocking;
using gemm::Operands;
using gemm::PanelProblem;
using gemm::Problem;
using gemm::UnitGemm;
using Kind = ProcessingUnit::Kind;
using Random = std::mt19937_64;

namespace {

/// Rows of a problem that is not cut into panels.
PanelProblem whole(const Problem& problem, std::int64_t rows) {
  return {rows, problem.n, problem.k, 0, problem.alpha, problem.beta};
}

/// What A, B and C take in a companion's memory, all at once.
double in_core_bytes(std::int64_t rows, const Problem& problem, double element_bytes) {
  const double depth = padded(problem.alpha == 0.0 ? 0 : problem.k);
  return element_bytes * (padded(rows) * (depth + padded(problem.n)) + depth * padded(problem.n));
}

/// The smallest cap with which the companion has a plan.
double least_cap_bytes(std::int64_t rows, const Problem& problem, double element_bytes) {
  return std::min(in_core_bytes(rows, problem, element_bytes), gemm::least_memory_bytes(element_bytes));
}

std::vector<Where> wheres(std::int64_t rows, const Problem& problem, double element_bytes) {
  return tests::wheres(least_cap_bytes(rows, problem, element_bytes), in_core_bytes(rows, problem, element_bytes));
}

/// Extents around those of blocks, and primes.
std::int64_t any_extent(Random& random) {
  constexpr std::array<std::int64_t, 16> extents{0, 1, 2, 3, 7, 13, 31, 32, 33, 47, 64, 65, 89, 96, 97, 131};
  return extents[static_cast<std::size_t>(any_of(random, 0, 15))];
}

Problem any_problem(Random& random, const std::vector<double>& factors) {
  const auto any_factor = [&] {
    return factors[static_cast<std::size_t>(any_of(random, 0, static_cast<std::int64_t>(factors.size()) - 1))];
  };
  Problem problem{any_extent(random), any_extent(random), any_extent(random)};
  problem.alpha = any_factor();
  problem.beta = any_factor();
  return problem;
}

/// What C and one panel of A and B take in a companion's memory.
double in_core_bytes(const PanelProblem& problem, double element_bytes) {
  const auto depth = static_cast<double>(problem.depth);
  const double rows = padded(problem.rows), columns = padded(problem.columns);
  return element_bytes * (rows * columns + (rows + columns) * depth);
}

/// The smallest cap with which the companion has a plan.
double least_cap_bytes(const PanelProblem& problem, double element_bytes) {
  return std::min(in_core_bytes(problem, element_bytes), gemm::least_memory_bytes(element_bytes, problem.depth));
}

std::vector<Where> wheres(const PanelProblem& problem, double element_bytes) {
  return tests::wheres(least_cap_bytes(problem, element_bytes), in_core_bytes(problem, element_bytes));
}

/// Extents and depths of all kinds: one panel, one column per panel, depths that divide k or not, or exceed it, that
/// are multiples of 32 or not.
std::vector<PanelProblem> problems() {
  std::vector<PanelProblem> all{{1, 1, 1, 1},     {1, 70, 40, 16},   {70, 1, 40, 16},    {33, 65, 96, 32},
                                {64, 64, 64, 64}, {97, 131, 50, 50}, {40, 45, 100, 33},  {131, 89, 7, 1},
                                {13, 47, 30, 96}, {96, 33, 128, 31}, {200, 150, 90, 40}, {65, 200, 129, 128}};
  Random random(1);
  for (int i = 0; i < 12; ++i) {
    all.push_back({any_of(random, 1, 140), any_of(random, 1, 140), any_of(random, 1, 120), any_of(random, 1, 70)});
  }
  return all;
}

std::int64_t panels(const PanelProblem& problem) { return (problem.k + problem.depth - 1) / problem.depth; }

/// The whole product, C += passes x A B, of which units are given panels.
template <class Scalar>
class PanelProduct {
 public:
  template <class Next>
  PanelProduct(const PanelProblem& problem, int passes, std::int64_t room, const Next& next)
      : problem_(problem), passes_(passes), product_(passes_of(problem, passes), problem.rows, room, next) {}

  /// All panels, in order, so many times.
  void add_all(UnitGemm<Scalar>& gemm, const typename UnitGemm<Scalar>::Meanwhile& meanwhile = {}) const {
    const Operands<Scalar> all = product_.operands();
    for (std::int64_t i = 0; i < passes_ * panels(problem_); ++i) {
      const std::int64_t panel = i % panels(problem_);
      const std::int64_t first = panel * problem_.depth, depth = std::min(problem_.depth, problem_.k - first);
      gemm.add(panel,
               {matrix_block(all.a, 0, problem_.rows, first, depth),
                matrix_block(all.b, first, depth, 0, problem_.columns), all.c},
               meanwhile);
    }
  }
  const SliceProduct<Scalar>& product() const { return product_; }

 private:
  static gemm::Problem passes_of(const PanelProblem& problem, int passes) {
    gemm::Problem product{problem.rows, problem.columns, problem.k};
    product.alpha = passes;
    product.beta = 1.0;
    return product;
  }

  PanelProblem problem_;
  int passes_;
  SliceProduct<Scalar> product_;
};

void check_planned(const std::optional<Blocking>& blocking, const Where& where, double element_bytes,
                   double in_core_bytes) {
  REQUIRE(blocking.has_value() == (where.kind == Kind::companion && gemm::has_device_memory(where.cap_bytes)));
  if (!blocking) return;
  const double memory_bytes = device_memory_bytes(where.cap_bytes);
  REQUIRE(element_bytes * blocking->buffer_elements() <= memory_bytes);
  REQUIRE(blocking->in_core == (in_core_bytes <= memory_bytes));
}

/// What engines do, each in order, and no product before what it is made of has been loaded: nothing in host memory,
/// and one thing after the other on a host space.
void check_timeline(const std::vector<gemm::EngineOperation>& operations, const std::optional<Blocking>& blocking) {
  CHECK(operations.empty() == !(blocking && blocking->moved_elements() > 0.0));
  // A device's clock has the digits of a float.
  const double tick_s = companion_is_device ? 2e-6 : 0.0;
  std::array<double, 3> ended_s{};
  double last_s = 0.0;
  for (const auto& [engine, start_s, end_s] : operations) {
    CHECK(end_s >= start_s);
    CHECK(start_s >= ended_s[static_cast<std::size_t>(engine)] - tick_s);
    if (!companion_is_device) CHECK(start_s >= last_s);
    ended_s[static_cast<std::size_t>(engine)] = last_s = end_s;
  }
}

}  // namespace

TEMPLATE_TEST_CASE(
    "every unit gives the exact product of whole numbers, in the blocks that are planned for its memory, for whatever "
    "operands of its extents, timed or not",
    "", double, float) {
  Random random(1);
  const std::vector<double> factors{0.0, 1.0, -1.0, 0.5, -2.0};
  for (int trial = 0; trial < 60; ++trial) {
    const Problem problem = any_problem(random, factors);
    const SliceProduct<TestType> product(problem, problem.m, any_of(random, 0, 2) * 3, whole_numbers(random));
    const SliceProduct<TestType> other(problem, problem.m, 1, whole_numbers(random));
    for (const Where& where : wheres(problem.m, problem, sizeof(TestType))) {
      CAPTURE(trial, problem.m, problem.n, problem.k, problem.alpha, problem.beta, static_cast<int>(where.kind),
              where.cap_bytes);
      UnitGemm<TestType> gemm(where.kind, whole(problem, problem.m), where.cap_bytes);
      const std::optional<Blocking> blocking = gemm.blocking();
      check_planned(blocking, where, sizeof(TestType), in_core_bytes(problem.m, problem, sizeof(TestType)));
      if (blocking) REQUIRE(blocking->k == (problem.alpha == 0.0 ? 0 : problem.k));
      for (const auto* operands : {&product, &other, &product}) {
        operands->put_c_back();
        if (operands == &other) {
          check_timeline(gemm.run_timed(operands->operands()), blocking);
        } else {
          gemm.run(operands->operands());
        }
        REQUIRE(operands->inexact_elements() == 0);
        REQUIRE(operands->untouched_between_rows());
      }
    }
  }
}

TEST_CASE("a slice may have fewer rows than the problem, and several rows of blocks on a device where it is high") {
  Random random(8);
  const std::int64_t rows = GENERATE(0, 1, 64, 513, 1000, 1537, 4099);
  Problem problem{5000, 37, 20};
  problem.beta = 1.0;
  const SliceProduct<double> product(problem, rows, 1, whole_numbers(random));
  for (const Where& where : wheres(rows, problem, sizeof(double))) {
    CAPTURE(rows, static_cast<int>(where.kind), where.cap_bytes);
    product.put_c_back();
    UnitGemm<double>(where.kind, whole(problem, rows), where.cap_bytes).run(product.operands());
    CHECK(product.inexact_elements() == 0);
    CHECK(product.untouched_between_rows());
  }
}

TEMPLATE_TEST_CASE(
    "all panels together are the exact product of whole numbers, whatever a memory holds, and every "
    "further pass adds it again",
    "", double, float) {
  Random random(2);
  for (const PanelProblem& problem : problems()) {
    for (const int passes : {1, 2, 3}) {
      const PanelProduct<TestType> product(problem, passes, any_of(random, 0, 2) * 3, whole_numbers(random));
      for (const Where& where : wheres(problem, sizeof(TestType))) {
        CAPTURE(problem.rows, problem.columns, problem.k, problem.depth, passes, static_cast<int>(where.kind),
                where.cap_bytes);
        product.product().put_c_back();
        UnitGemm<TestType> gemm(where.kind, problem, where.cap_bytes);
        check_planned(gemm.blocking(), where, sizeof(TestType), in_core_bytes(problem, sizeof(TestType)));
        if (gemm.blocking()) REQUIRE(gemm.blocking()->panels() == panels(problem));
        product.add_all(gemm);
        REQUIRE(product.product().inexact_elements() == 0);
        REQUIRE(product.product().untouched_between_rows());
      }
    }
  }
}

TEMPLATE_TEST_CASE(
    "meanwhile is called on the calling thread in every panel, between pieces of large ones as long as it "
    "returns true, and leaves the product exact",
    "", double, float) {
  Random random(4);
  std::vector<PanelProblem> all = problems();
  // Higher than the pieces between two calls, with much to do in each and with little.
  all.push_back({1537, 37, 50, 20});
  all.push_back({1537, 301, 60, 20});
  all.push_back({2500, 70, 300, 128});
  all.push_back({800, 701, 90, 45});
  all.push_back({1600, 700, 64, 32});
  for (const PanelProblem& problem : all) {
    const PanelProduct<TestType> product(problem, 1, 0, whole_numbers(random));
    for (const Where& where : wheres(problem, sizeof(TestType))) {
      CAPTURE(problem.rows, problem.columns, problem.k, problem.depth, static_cast<int>(where.kind), where.cap_bytes);
      // As often as there is a piece; once; three times.
      for (const std::int64_t wanted : {std::int64_t{1} << 40, std::int64_t{0}, std::int64_t{3}}) {
        product.product().put_c_back();
        std::int64_t calls = 0, elsewhere = 0;
        UnitGemm<TestType> gemm(where.kind, problem, where.cap_bytes);
        product.add_all(gemm, [&, calling = std::this_thread::get_id()] {
          ++calls;
          elsewhere += std::this_thread::get_id() == calling ? 0 : 1;
          return calls < wanted;
        });
        REQUIRE(product.product().inexact_elements() == 0);
        REQUIRE(elsewhere == 0);
        REQUIRE(calls >= panels(problem));
        if (wanted == 0) REQUIRE(calls == panels(problem));
        const bool is_large = problem.rows >= 1537 && problem.columns * problem.depth >= 20000;
        if (where.kind == Kind::host && is_large && wanted > 3) REQUIRE(calls >= 4 * panels(problem));
      }
    }
  }
}

TEST_CASE("a cap gives a companion a memory of its own; what it does best with follows from that memory") {
  CHECK(gemm::has_device_memory(std::numeric_limits<double>::infinity()) == companion_is_device);
  for (const double cap : {1e5, 1e9, 1e18}) {
    CHECK(gemm::has_device_memory(cap));
    for (const double element_bytes : {4.0, 8.0}) {
      const gemm::BlockingGoal goal = gemm::blocking_goal(element_bytes, cap);
      CHECK(goal.memory_bytes == device_memory_bytes(cap));
      CHECK(goal.element_bytes == element_bytes);
      CHECK(goal.least_extent >= 32);
      CHECK(goal.in_core_blocks >= 1);
    }
  }
}

}  // namespace steelyard::test_unit_gemm
