#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

#include "core/base/errors.hpp"
#include "miniapps/gemm/check/full_comparison.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_full_comparison {

using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using namespace steelyard::gemm;
using namespace steelyard::tests;

namespace {

template <class Scalar>
RowCheck compared(const Product<Scalar>& x) {
  return full_comparison<Scalar>(x.problem, x.a.view(), x.b.view(), x.before.view(), x.c.view());
}

template <class Scalar>
void require_right(const Product<Scalar>& x) {
  const RowCheck found = compared(x);
  CAPTURE(x.problem.m, x.problem.n, x.problem.k, x.problem.alpha, x.problem.beta, found.error, found.worst_row);
  REQUIRE(found.passed());
  REQUIRE(found.masked_rows == 0);
}

template <class Scalar>
void require_wrong(const Product<Scalar>& x, std::int64_t row) {
  const RowCheck found = compared(x);
  CAPTURE(x.problem.m, x.problem.n, x.problem.k, x.problem.beta, row, found.error);
  REQUIRE(!found.passed());
  REQUIRE(found.worst_row == row);
}

}  // namespace

TEMPLATE_TEST_CASE("right elements agree with their inner products, whatever shape and factors", "", double, float) {
  std::mt19937_64 random(1);
  constexpr std::array<std::int64_t, 11> extents{0, 1, 2, 3, 5, 8, 31, 63, 64, 65, 100};
  constexpr std::array<double, 6> factors{0.0, 1.0, -1.0, 0.3, -2.5, 1e-60};
  const auto pick = [&](const auto& from) { return from[random() % from.size()]; };
  for (int round = 0; round < 100; ++round) {
    Product<TestType> x(problem_of(pick(extents), pick(extents), pick(extents), pick(factors), pick(factors)), random);
    x.multiply();
    require_right(x);
    x.multiply(Order::forward);
    require_right(x);
  }
}

TEMPLATE_TEST_CASE("right elements of matrices of all kinds agree, however they are summed up", "", double, float) {
  std::mt19937_64 random(2);
  for (const Kind<TestType>& kind : kinds_of_matrices<TestType>()) {
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{2, 3, 100000}, {3, 40, 2000}, {9, 70, 65}}) {
      Product<TestType> x(problem_of(m, n, k, -0.3, 0.7));
      kind.fill(x, random);
      CAPTURE(kind.name);
      x.multiply();
      require_right(x);
      for (const Order order : {Order::forward, Order::backward, Order::blocks}) {
        x.multiply(order);
        require_right(x);
      }
    }
  }
}

TEMPLATE_TEST_CASE("any wrong element is found, however small it is beside others", "", double, float) {
  constexpr TestType change = std::is_same_v<TestType, float> ? 1e-2 : 1e-6;
  std::mt19937_64 random(3);
  for (const double beta : {0.0, 0.5}) {
    Product<TestType> x(problem_of(12, 70, 100, 1.5, beta), random, 0.1);
    for (std::int64_t l = 0; l < 100; ++l) x.b.at(l, 3) *= TestType(1e-20);
    for (std::int64_t i = 0; i < 12; ++i) x.before.at(i, 3) *= TestType(1e-20);
    x.multiply();
    require_right(x);
    for (const auto& [i, j] : {std::pair{0, 0}, {5, 3}, {11, 63}, {3, 64}, {11, 69}}) {
      Product<TestType> damaged = x;
      damaged.c.at(i, j) *= 1 + change;
      require_wrong(damaged, i);
    }
  }
}

TEMPLATE_TEST_CASE("elements agree with the problem's own factors only", "", double, float) {
  std::mt19937_64 random(4);
  Product<TestType> right(problem_of(1, 30, 20, 1.5, -0.5), random);
  right.multiply();
  for (const auto& [alpha, beta] : {std::pair{1.0, -0.5}, {1.5, 0.0}, {1.5, 0.5}, {0.0, -0.5}, {0.0, 0.0}}) {
    Product<TestType> x = right;
    x.problem.alpha = alpha;
    x.problem.beta = beta;
    require_wrong(x, 0);
  }
}

TEMPLATE_TEST_CASE("NaN is NaN and Inf the same Inf, and elsewhere neither", "", double, float) {
  constexpr TestType nan = std::numeric_limits<TestType>::quiet_NaN();
  constexpr TestType infinity = std::numeric_limits<TestType>::infinity();
  std::mt19937_64 random(5);
  for (const double beta : {0.0, 1.0}) {
    Product<TestType> right(problem_of(6, 66, 5, 1.0, beta), random, 0.5);
    right.a.at(1, 2) = infinity;
    right.b.at(0, 65) = -infinity;
    right.b.at(2, 4) = TestType{0};
    right.a.at(2, 3) = nan;
    right.multiply();
    require_right(right);
    REQUIRE(right.c.at(1, 0) == infinity);
    REQUIRE(right.c.at(0, 65) == -infinity);
    REQUIRE(std::isnan(right.c.at(1, 65)));  // Inf - Inf
    REQUIRE(std::isnan(right.c.at(1, 4)));   // 0 Inf
    for (const auto& [i, j] : {std::pair{1, 0}, {0, 65}, {1, 65}, {1, 4}, {2, 7}, {5, 8}}) {
      for (const TestType wrong : {nan, infinity, -infinity, TestType{1}}) {
        const TestType element = right.c.at(i, j);
        if (element == wrong || (std::isnan(element) && std::isnan(wrong))) continue;
        Product<TestType> x = right;
        x.c.at(i, j) = wrong;
        require_wrong(x, i);
      }
    }
    right.before.at(5, 8) = -infinity;
    right.multiply();
    require_right(right);
    REQUIRE(std::isinf(right.c.at(5, 8)) == (beta != 0.0));
  }
}

TEMPLATE_TEST_CASE("matrices that are not read do not count, and need not be there", "", double, float) {
  std::mt19937_64 random(6);
  const RoomyMatrix<TestType> nothing(0, 0);
  Product<TestType> x(problem_of(6, 9, 7, 0.0, -1.5), random);
  x.multiply();
  const auto compare = [&](const auto& a, const auto& b, const auto& before) {
    return full_comparison<TestType>(x.problem, a.view(), b.view(), before.view(), std::as_const(x.c).view());
  };
  CHECK(compare(nothing, nothing, x.before).passed());
  x.problem.alpha = 1.0;
  x.problem.beta = 0.0;
  x.before.fill([](auto, auto) { return std::numeric_limits<TestType>::quiet_NaN(); });
  x.multiply();
  CHECK(compare(x.a, x.b, nothing).passed());
  x.c.at(5, 3) += TestType(0.01);
  CHECK(compare(x.a, x.b, nothing).worst_row == 5);
}

TEMPLATE_TEST_CASE("where a sum may be too large for the type, its order decides", "", double, float) {
  const auto large = std::numeric_limits<TestType>::max();
  Product<TestType> x(problem_of(1, 1, 3));
  x.a.fill([&](auto, std::int64_t l) { return l == 2 ? -large : large; });
  x.b.fill([](auto, auto) { return 1.0; });
  for (const TestType right : {large, std::numeric_limits<TestType>::infinity()}) {
    x.c.at(0, 0) = right;
    require_right(x);
  }
  x.c.at(0, 0) = TestType{1};
  require_wrong(x, 0);
}

TEST_CASE("factors that are infinite leave no number") {
  std::mt19937_64 random(7);
  for (const auto& [alpha, beta] : {std::pair<double, double>{INFINITY, 0.0}, {1.0, -INFINITY}, {NAN, 1.0}}) {
    Product<double> x(problem_of(3, 4, 5, alpha, beta), random);
    x.multiply(Order::forward);
    require_right(x);
    x.c.at(2, 1) = 0.0;
    require_wrong(x, 2);
  }
}

TEST_CASE("all elements are compared up to 2e8 flops") {
  CHECK(worth_full_comparison(problem_of(460, 460, 460)));
  CHECK(!worth_full_comparison(problem_of(470, 470, 470)));
  CHECK(worth_full_comparison(problem_of(0, 1, 0)));
  CHECK(!worth_full_comparison(problem_of(std::int64_t{1} << 40, std::int64_t{1} << 40, 1)));
}

TEST_CASE("matrices to compare that do not fit are refused with their extents") {
  std::mt19937_64 random(8);
  const Product<float> x(problem_of(3, 4, 5, 1.0, 1.0), random);
  const RoomyMatrix<float> other(3, 7);
  const auto compare = [&](const auto& a, const auto& b, const auto& before, const auto& c) {
    return full_comparison<float>(x.problem, a.view(), b.view(), before.view(), c.view());
  };
  CHECK_THROWS_MATCHES(compare(other, x.b, x.before, x.c), InvalidArgument,
                       MessageMatches(StartsWith("check of C: A is 3 x 7; expected 3 x 5")));
  CHECK_THROWS_MATCHES(compare(x.a, other, x.before, x.c), InvalidArgument,
                       MessageMatches(StartsWith("check of C: B is 3 x 7; expected 5 x 4")));
  CHECK_THROWS_MATCHES(compare(x.a, x.b, other, x.c), InvalidArgument,
                       MessageMatches(StartsWith("check of C: C before is 3 x 7; expected 3 x 4")));
  CHECK_THROWS_MATCHES(compare(x.a, x.b, x.before, other), InvalidArgument,
                       MessageMatches(StartsWith("check of C: C is 3 x 7; expected 3 x 4")));
}

}  // namespace steelyard::test_full_comparison
