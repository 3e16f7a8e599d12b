#include <algorithm>
#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <random>
#include <type_traits>
#include <utility>

#include "core/base/errors.hpp"
#include "miniapps/gemm/freivalds.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_freivalds {

using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using namespace steelyard::gemm;
using namespace steelyard::tests;

namespace {

constexpr std::array<std::pair<double, double>, 3> factors{{{1.0, 0.0}, {-0.3, 0.7}, {2.5, -1.0}}};

template <class Scalar>
double error(const Problem& problem, const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b,
             const ConstHostMatrix<Scalar>& before, const ConstHostMatrix<Scalar>& c, std::uint64_t seed = 1) {
  return Freivalds<Scalar>(problem, seed, Share::whole(problem), a, b, before).check(c);
}

template <class Scalar>
double checked(const Product<Scalar>& x, std::uint64_t seed = 1) {
  return error<Scalar>(x.problem, x.a.view(), x.b.view(), x.before.view(), x.c.view(), seed);
}

/// Of one row alone.
template <class Scalar>
double checked_row(const Product<Scalar>& x, std::int64_t row, std::uint64_t seed = 1) {
  const auto only = [row](const RoomyMatrix<Scalar>& matrix) {
    return matrix_block(matrix.view(), row, 1, 0, matrix.columns());
  };
  Problem problem = x.problem;
  problem.m = 1;
  return error<Scalar>(problem, only(x.a), x.b.view(), only(x.before), only(x.c), seed);
}

template <class Scalar>
void require_right(const Product<Scalar>& x) {
  CAPTURE(x.problem.m, x.problem.n, x.problem.k, x.problem.alpha, x.problem.beta);
  REQUIRE(checked(x) <= 1.0);
}

/// Whatever the signs are; in that row where it is not -1.
template <class Scalar>
void require_wrong(const Product<Scalar>& x, std::int64_t row) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(x.problem.m, x.problem.n, x.problem.k, x.problem.beta, row);
    REQUIRE(checked(x, seed) > 1.0);
    if (row >= 0) REQUIRE(checked_row(x, row, seed) > 1.0);
  }
}

/// A right product of random matrices to be damaged.
template <class Scalar>
Product<Scalar> random_product(const Problem& problem, std::mt19937_64& random) {
  Product<Scalar> x(problem, random);
  x.multiply();
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("right products of any shape and factors pass", "", double, float) {
  std::mt19937_64 random(1);
  constexpr std::array<std::int64_t, 12> extents{0, 1, 2, 3, 5, 8, 31, 63, 64, 65, 100, 130};
  constexpr std::array<double, 6> all_factors{0.0, 1.0, -1.0, 0.3, -2.5, 1e-60};
  const auto pick = [&](const auto& from) { return from[random() % from.size()]; };
  for (int round = 0; round < 200; ++round) {
    Product<TestType> x(problem_of(pick(extents), pick(extents), pick(extents), pick(all_factors), pick(all_factors)),
                        random, round % 2 == 0 ? -1.0 : 0.0);
    x.multiply();
    require_right(x);
    x.multiply(Order::forward);
    require_right(x);
  }
}

TEMPLATE_TEST_CASE("right products of matrices of all kinds pass, however they are summed up", "", double, float) {
  std::mt19937_64 random(2);
  for (const Kind<TestType>& kind : kinds_of_matrices<TestType>()) {
    for (const auto& [m, n, k] :
         {std::array<std::int64_t, 3>{2, 3, 100000}, {1, 1, 5000}, {3, 40, 2000}, {9, 70, 65}}) {
      Product<TestType> x(problem_of(m, n, k, -0.3, 0.7));
      kind.fill(x, random);
      CAPTURE(kind.name, m, n, k);
      x.multiply();
      CHECK(checked(x) < 0.5);
      for (const Order order : {Order::forward, Order::backward, Order::blocks}) {
        x.multiply(order);
        CHECK(checked(x) < 0.5);
      }
    }
  }
}

TEST_CASE("roundings that all go the same way are no error, whatever the signs are") {
  // With one vector in two, the products of nearly equal columns cancel; with some seeds, with all vectors.
  Product<float> x(problem_of(1, 2, 20000));
  x.a.fill([](auto, auto) { return 0.1; });
  x.b.fill([](auto, std::int64_t j) { return j == 0 ? 0.1 : 0.1037; });
  x.multiply(Order::forward);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) REQUIRE(checked(x, seed) < 0.5);
}

TEMPLATE_TEST_CASE("a single wrong element is found", "", double, float) {
  constexpr double change = std::is_same_v<TestType, float> ? 1e-2 : 1e-6;
  std::mt19937_64 random(4);
  for (const double low : {-1.0, 0.0}) {
    for (const auto& [alpha, beta] : factors) {
      Product<TestType> x(problem_of(6, 1000, 1000, alpha, beta), random, low);
      x.multiply();
      require_right(x);
      double squares = 0.0;
      for (std::int64_t j = 0; j < 1000; ++j) squares += static_cast<double>(x.c.at(4, j)) * x.c.at(4, j);
      std::int64_t column = 400;
      while (std::fabs(x.c.at(4, column)) < std::sqrt(squares / 1000)) ++column;
      x.c.at(4, column) *= static_cast<TestType>(1.0 + change);
      require_wrong(x, 4);
    }
  }
  // No rounding hides a wrong element of a small product.
  Product<TestType> x = random_product<TestType>(problem_of(3, 4, 5), random);
  x.c.at(1, 2) += static_cast<TestType>(std::is_same_v<TestType, float> ? 1e-4 : 1e-12);
  require_wrong(x, 1);
}

TEMPLATE_TEST_CASE("a panel left out or added twice is found", "", double, float) {
  std::mt19937_64 random(5);
  for (const std::int64_t k : {33, 200, 5000}) {
    for (const auto& [alpha, beta] : factors) {
      for (const double low : {-1.0, 0.0}) {
        Product<TestType> x(problem_of(5, 60, k, alpha, beta), random, low);
        const RoomyMatrix<TestType> a = x.a;
        for (const TestType times : {TestType{0}, TestType{2}}) {
          for (std::int64_t l = k / 2; l < k / 2 + 32 && l < k; ++l) x.a.at(2, l) = times * a.at(2, l);
          x.multiply();
          x.a = a;
          require_wrong(x, 2);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("rows, columns and blocks in the wrong place or not written are found", "", double, float) {
  std::mt19937_64 random(6);
  for (const auto& [alpha, beta] : factors) {
    const Product<TestType> right = random_product<TestType>(problem_of(40, 50, 64, alpha, beta), random);
    Product<TestType> x = right;
    for (std::int64_t j = 0; j < 50; ++j) std::swap(x.c.at(3, j), x.c.at(17, j));
    require_wrong(x, -1);
    x = right;
    for (std::int64_t i = 0; i < 40; ++i) std::swap(x.c.at(i, 0), x.c.at(i, 49));
    require_wrong(x, -1);
    x = right;
    for (std::int64_t i = 8; i < 16; ++i) {
      for (std::int64_t j = 16; j < 32; ++j) x.c.at(i, j) = x.before.at(i, j);
    }
    require_wrong(x, -1);
    x = right;
    std::swap(x.c.at(39, 1), x.c.at(39, 2));
    require_wrong(x, 39);
    x = right;
    x.multiply();
    x.before.at(7, 7) += TestType{1};
    if (beta != 0.0) {
      require_wrong(x, 7);
    } else {
      require_right(x);
    }
  }
}

TEMPLATE_TEST_CASE("wrong factors are found", "", double, float) {
  std::mt19937_64 random(7);
  const Product<TestType> right = random_product<TestType>(problem_of(8, 30, 20, 1.5, -0.5), random);
  for (const auto& [alpha, beta] : {std::pair{1.0, -0.5}, {1.5, 0.0}, {1.5, 0.5}, {0.0, -0.5}, {0.0, 0.0}}) {
    Product<TestType> x = right;
    x.problem.alpha = alpha;
    x.problem.beta = beta;
    require_wrong(x, -1);
  }
}

TEMPLATE_TEST_CASE("matrices that are not read do not count", "", double, float) {
  std::mt19937_64 random(8);
  for (const auto& [alpha, beta, k] :
       {std::tuple{0.0, 0.0, 7}, {0.0, -1.5, 7}, {1.0, 0.0, 0}, {1.0, 0.3, 0}, {1.0, 0.0, 7}, {1e-60, 1.0, 7}}) {
    // A factor that is 0 in float only.
    if (alpha == 1e-60 && std::is_same_v<TestType, double>) continue;
    Product<TestType> x(problem_of(6, 9, k, alpha, beta), random);
    const auto nan = [](auto, auto) { return nan_of<TestType>; };
    if (alpha != 1.0) {
      x.a.fill(nan);
      x.b.fill(nan);
    }
    if (beta == 0.0) x.before.fill(nan);
    x.multiply();
    require_right(x);
    x.c.at(5, 3) += TestType(0.01);
    require_wrong(x, 5);
    x.c.at(5, 3) = nan_of<TestType>;
    require_wrong(x, 5);
  }
}

TEST_CASE("the same seed finds the same error, and C may be checked again and again") {
  std::mt19937_64 random(12);
  Product<double> x = random_product<double>(problem_of(30, 20, 10, 1.0, 1.0), random);
  x.c.at(11, 3) += 1e-9;
  const double error = checked(x, 5);
  const Freivalds<double> freivalds(x.problem, 5, Share::whole(x.problem), x.a.view(), x.b.view(), x.before.view());
  // What it was made from is gone.
  x.a.fill([](auto, auto) { return 0.0; });
  x.b.fill([](auto, auto) { return 0.0; });
  x.before.fill([](auto, auto) { return 0.0; });
  for (int round = 0; round < 3; ++round) CHECK(freivalds.check(std::as_const(x.c).view()) == error);
}

TEST_CASE("rows checked apart have the errors that they have together") {
  std::mt19937_64 random(13);
  Product<float> x = random_product<float>(problem_of(23, 40, 50, 1.0, 1.0), random);
  x.c.at(9, 3) += 1.0F;
  double largest = 0.0;
  for (std::int64_t i = 0; i < 23; ++i) {
    const double error = checked_row(x, i);
    CHECK((error > 1.0) == (i == 9));
    largest = std::max(largest, error);
  }
  CHECK(std::fabs(largest / checked(x) - 1.0) < 1e-9);
}

TEMPLATE_TEST_CASE("matrices that do not fit are refused with their extents, unless they are not read", "", double,
                   float) {
  std::mt19937_64 random(14);
  Product<TestType> x(problem_of(3, 4, 5, 1.0, 1.0), random);
  const RoomyMatrix<TestType> other(3, 7), nothing(0, 0);
  const auto found = [&](const auto& a, const auto& b, const auto& before, const auto& c) {
    return error<TestType>(x.problem, a.view(), b.view(), before.view(), c.view());
  };
  CHECK_THROWS_MATCHES(found(other, x.b, x.before, x.c), InvalidArgument,
                       MessageMatches(StartsWith("check of C: A is 3 x 7; expected 3 x 5")));
  CHECK_THROWS_MATCHES(found(x.a, other, x.before, x.c), InvalidArgument,
                       MessageMatches(StartsWith("check of C: B is 3 x 7; expected 5 x 4")));
  CHECK_THROWS_MATCHES(found(x.a, x.b, other, x.c), InvalidArgument,
                       MessageMatches(StartsWith("check of C: C before is 3 x 7; expected 3 x 4")));
  CHECK_THROWS_MATCHES(found(x.a, x.b, x.before, other), InvalidArgument,
                       MessageMatches(StartsWith("check of C: C is 3 x 7; expected 3 x 4")));
  x.problem.alpha = 0.0;
  x.multiply();
  CHECK(found(nothing, nothing, x.before, x.c) <= 1.0);
  x.problem.alpha = 1.0;
  x.problem.beta = 0.0;
  x.multiply();
  CHECK(found(x.a, x.b, nothing, x.c) <= 1.0);
}

TEMPLATE_TEST_CASE("NaN and Inf must be where they are in A, B and C before, and nowhere else", "", double, float) {
  std::mt19937_64 random(9);
  constexpr std::int64_t m = 9, n = 70, k = 66;
  for (const TestType special : {nan_of<TestType>, infinity_of<TestType>, -infinity_of<TestType>}) {
    for (const auto& [alpha, beta] : factors) {
      Product<TestType> right(problem_of(m, n, k, alpha, beta), random);
      right.a.at(2, 65) = special;
      right.b.at(0, 64) = special;
      right.b.at(30, 5) = special;
      right.before.at(6, 10) = special;
      right.before.at(6, 5) = special;
      right.multiply();
      require_right(right);
      right.multiply(Order::forward);
      require_right(right);

      for (const auto& [i, j] : {std::pair{2, 0}, {2, 69}, {0, 64}, {8, 5}, {6, 5}}) {
        Product<TestType> x = right;
        x.c.at(i, j) = TestType{1};
        require_wrong(x, i);
      }
      for (const auto& [i, j] : {std::pair{0, 0}, {1, 63}, {6, 11}, {8, 69}}) {
        for (const TestType wrong : {nan_of<TestType>, infinity_of<TestType>}) {
          Product<TestType> x = right;
          x.c.at(i, j) = wrong;
          require_wrong(x, i);
        }
      }
      Product<TestType> x = right;
      x.c.at(7, 20) += TestType{1};
      require_wrong(x, 7);
      if (beta != 0.0) {
        x = right;
        x.c.at(6, 10) = TestType{1};
        require_wrong(x, 6);
      }
    }
  }
}

TEMPLATE_TEST_CASE("factors that are not finite leave nothing finite", "", double, float) {
  std::mt19937_64 random(10);
  for (const double special : {std::nan(""), double{infinity_of<double>}}) {
    for (const auto& [alpha, beta] : {std::pair{special, 0.0}, {1.0, special}, {special, 1.0}}) {
      Product<TestType> x(problem_of(4, 5, 6, alpha, beta), random);
      x.multiply(Order::forward);
      require_right(x);
      x.c.at(3, 3) = TestType{0};
      require_wrong(x, 3);
    }
  }
}

TEMPLATE_TEST_CASE("Inf is right where the sum is too large for the type, and only there", "", double, float) {
  std::mt19937_64 random(11);
  const auto large = static_cast<TestType>(std::is_same_v<TestType, float> ? 1e25 : 1e200);
  Product<TestType> x(problem_of(5, 20, 10), random, 0.5);
  for (std::int64_t l = 0; l < 10; ++l) x.a.at(2, l) *= large;
  for (std::int64_t l = 0; l < 10; ++l) x.b.at(l, 3) *= large;
  x.multiply();
  REQUIRE(std::isinf(x.c.at(2, 3)));
  require_right(x);
  x.c.at(0, 0) = infinity_of<TestType>;
  require_wrong(x, 0);
}

}  // namespace steelyard::test_freivalds
