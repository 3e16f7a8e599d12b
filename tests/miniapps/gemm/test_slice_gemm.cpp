#include <algorithm>
#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "core/spaces.hpp"
#include "core/unit_memory.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "tests/miniapps/gemm/random_blockings.hpp"
#include "tests/miniapps/gemm/slice_product.hpp"

namespace steelyard::test_slice_gemm {

using namespace steelyard::tests;
using gemm::Blocking;
using gemm::make_slice_gemm;
using gemm::Problem;
using gemm::SliceGemm;
using Kind = ProcessingUnit::Kind;
using Random = std::mt19937_64;

namespace {

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

template <class Scalar>
std::unique_ptr<SliceGemm<Scalar>> slice_for(const Where& where, const Problem& problem, std::int64_t rows) {
  return make_slice_gemm<Scalar>(where.kind, problem, rows, where.cap_bytes);
}

/// How much of the copying is hidden: nothing in host memory, where there is none, nor on a host space, which does one
/// thing after the other.
void check_overlap(const std::optional<gemm::TransferOverlap>& overlap, const Where& where, double moved) {
  if (where.kind == Kind::host || !gemm::has_device_memory(where.cap_bytes)) {
    CHECK_FALSE(overlap.has_value());
    return;
  }
  REQUIRE(overlap.has_value());
  const double rounding_s = 1e-6;
  CHECK(overlap->hidden_s >= 0.0);
  CHECK(overlap->hidden_s <= overlap->transfer_s + rounding_s);
  CHECK(overlap->transfer_s <= overlap->run_s + rounding_s);
  if (moved > 0.0) CHECK(overlap->run_s > 0.0);
  if (!companion_is_device) CHECK(overlap->hidden_s == 0.0);
}

}  // namespace

TEMPLATE_TEST_CASE("every unit gives the exact product of whole numbers, whatever its memory holds, again and again",
                   "", double, float) {
  Random random(1);
  const std::vector<double> factors{0.0, 1.0, -1.0, 0.5, -2.0};
  for (int trial = 0; trial < 60; ++trial) {
    const Problem problem = any_problem(random, factors);
    const SliceProduct<TestType> product(problem, problem.m, any_of(random, 0, 2) * 3, whole_numbers(random));
    for (const Where& where : wheres(problem.m, problem, sizeof(TestType))) {
      CAPTURE(trial, problem.m, problem.n, problem.k, problem.alpha, problem.beta, static_cast<int>(where.kind),
              where.cap_bytes);
      const auto slice = slice_for<TestType>(where, problem, problem.m);
      for (int run = 0; run < 2; ++run) {
        product.put_c_back();
        slice->run(product.operands());
        REQUIRE(product.inexact_elements() == 0);
        REQUIRE(product.untouched_between_rows());
      }
    }
  }
}

TEMPLATE_TEST_CASE("a run that is looked at gives the same result, and so does one after it", "", double, float) {
  Random random(3);
  const std::vector<double> factors{0.0, 1.0, 0.5};
  for (int trial = 0; trial < 30; ++trial) {
    const Problem problem = any_problem(random, factors);
    const SliceProduct<TestType> product(problem, problem.m, 0, whole_numbers(random));
    for (const Where& where : wheres(problem.m, problem, sizeof(TestType))) {
      CAPTURE(trial, problem.m, problem.n, problem.k, problem.alpha, problem.beta, static_cast<int>(where.kind),
              where.cap_bytes);
      const auto slice = slice_for<TestType>(where, problem, problem.m);
      for (const bool timed : {true, false, true}) {
        product.put_c_back();
        if (timed) {
          const double moved = slice->blocking() ? slice->blocking()->moved_elements(problem.reads_c()) : 0.0;
          check_overlap(slice->run_timed(product.operands()), where, moved);
        } else {
          slice->run(product.operands());
        }
        REQUIRE(product.inexact_elements() == 0);
      }
    }
  }
}

TEST_CASE("a companion multiplies in the blocks that are planned for its memory, which hold no more than that") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const Problem problem = any_problem(random, {0.0, 1.0});
    for (const Where& where : wheres(problem.m, problem, sizeof(double))) {
      const std::optional<Blocking> blocking = slice_for<double>(where, problem, problem.m)->blocking();
      CAPTURE(problem.m, problem.n, problem.k, static_cast<int>(where.kind), where.cap_bytes);
      REQUIRE(blocking.has_value() == (where.kind == Kind::companion && gemm::has_device_memory(where.cap_bytes)));
      if (!blocking) continue;
      const double memory_bytes = device_memory_bytes(where.cap_bytes);
      REQUIRE(8.0 * blocking->buffer_elements() <= memory_bytes);
      REQUIRE(blocking->in_core == (in_core_bytes(problem.m, problem, 8.0) <= memory_bytes));
      REQUIRE(blocking->grid.m == problem.m);
      REQUIRE(blocking->grid.n == problem.n);
      REQUIRE(blocking->grid.k == (problem.alpha == 0.0 ? 0 : problem.k));
    }
  }
}

TEST_CASE("a slice may have fewer rows than the problem") {
  Random random(6);
  Problem problem{1000, 40, 70};
  problem.beta = 1.0;
  for (const std::int64_t rows : {0, 1, 64, 100}) {
    const SliceProduct<double> product(problem, rows, 2, whole_numbers(random));
    for (const Where& where : wheres(rows, problem, sizeof(double))) {
      product.put_c_back();
      slice_for<double>(where, problem, rows)->run(product.operands());
      CHECK(product.inexact_elements() == 0);
    }
  }
}

TEST_CASE("slices may be far higher than wide, so that a device has several rows of blocks in core") {
  Random random(8);
  for (const std::int64_t rows : {513, 1000, 1537, 4099}) {
    Problem problem{rows, 37, 20};
    problem.beta = 1.0;
    const SliceProduct<double> product(problem, rows, 1, whole_numbers(random));
    for (const Where& where : wheres(rows, problem, sizeof(double))) {
      CAPTURE(rows, static_cast<int>(where.kind), where.cap_bytes);
      product.put_c_back();
      slice_for<double>(where, problem, rows)->run(product.operands());
      CHECK(product.inexact_elements() == 0);
      CHECK(product.untouched_between_rows());
    }
  }
}

TEST_CASE("one slice multiplies whatever operands of its extents it is given") {
  Random random(7);
  Problem problem{75, 66, 98};
  problem.alpha = -1.0;
  problem.beta = 2.0;
  for (const Where& where : wheres(problem.m, problem, sizeof(float))) {
    const auto slice = slice_for<float>(where, problem, problem.m);
    for (const std::int64_t room : {0, 1, 6}) {
      const SliceProduct<float> product(problem, problem.m, room, whole_numbers(random));
      slice->run(product.operands());
      CHECK(product.inexact_elements() == 0);
      CHECK(product.untouched_between_rows());
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

}  // namespace steelyard::test_slice_gemm
