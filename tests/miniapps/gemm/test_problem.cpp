#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <random>

#include "miniapps/gemm/problem.hpp"

namespace steelyard::test_problem {

using steelyard::gemm::Problem;

TEST_CASE("block rows cover every row once, and all but the last have full height") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    Problem problem;
    problem.m = std::uniform_int_distribution<std::int64_t>(0, 200)(random);
    problem.block = std::uniform_int_distribution<std::int64_t>(1, 70)(random);
    const std::int64_t count = problem.block_rows();
    CAPTURE(problem.m, problem.block);
    REQUIRE(problem.first_row(0) == 0);
    REQUIRE(problem.first_row(count) == problem.m);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t height = problem.first_row(i + 1) - problem.first_row(i);
      REQUIRE(height > 0);
      REQUIRE(height <= problem.block);
      if (i + 1 < count) REQUIRE(height == problem.block);
    }
    REQUIRE(problem.first_row(count + 7) == problem.m);
  }
}

TEST_CASE("the largest extents of a BLAS have as many block rows and operations as they should") {
  Problem problem;
  problem.m = problem.n = problem.k = 2147483647;
  problem.block = 1;
  CHECK(problem.block_rows() == problem.m);
  CHECK(problem.first_row(problem.m) == problem.m);
  problem.block = 1 << 20;
  CHECK(problem.block_rows() == 2048);
  const double extent = 2147483647.0;
  CHECK(problem.flops() == 2.0 * extent * extent * extent);
}

TEST_CASE("C is read unless beta is 0") {
  Problem problem;
  CHECK_FALSE(problem.reads_c());
  for (const double beta : {1.0, -1.0, 1e-300, 0.5}) {
    problem.beta = beta;
    CHECK(problem.reads_c());
  }
  problem.beta = -0.0;
  CHECK_FALSE(problem.reads_c());
}

}  // namespace steelyard::test_problem
