#include <algorithm>
#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <memory>
#include <random>
#include <type_traits>
#include <utility>

#include "core/base/errors.hpp"
#include "miniapps/gemm/check/freivalds.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_freivalds {

using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using namespace steelyard::gemm;
using namespace steelyard::tests;

namespace {

template <class Scalar>
Freivalds<Scalar> check_of(const Product<Scalar>& x, std::uint64_t seed = 1) {
  return {x.problem, seed, std::make_shared<Sharing>(x.problem), x.a.view(), x.b.view(), x.before.view()};
}

template <class Scalar>
RowCheck checked(const Product<Scalar>& x, std::uint64_t seed = 1) {
  return check_of(x, seed).check(x.c.view());
}

template <class Scalar>
void require_right(const Product<Scalar>& x, std::int64_t masked_rows = 0) {
  const RowCheck found = checked(x);
  CAPTURE(x.problem.m, x.problem.n, x.problem.k, x.problem.alpha, x.problem.beta, found.error, found.worst_row);
  REQUIRE(found.passed());
  REQUIRE(found.masked_rows == masked_rows);
}

/// Whatever the signs are.
template <class Scalar>
void require_wrong(const Product<Scalar>& x, std::int64_t row) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const RowCheck found = checked(x, seed);
    CAPTURE(x.problem.m, x.problem.n, x.problem.k, x.problem.beta, row, found.error);
    REQUIRE(!found.passed());
    if (row >= 0) REQUIRE(found.worst_row == row);
  }
}

constexpr std::array<std::pair<double, double>, 3> factors{{{1.0, 0.0}, {-0.3, 0.7}, {2.5, -1.0}}};

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
      const auto check = [&](const Freivalds<TestType>& freivalds) {
        const RowCheck found = freivalds.check(std::as_const(x.c).view());
        CAPTURE(found.error);
        CHECK(found.error < 0.5);
      };
      const Freivalds<TestType> freivalds = check_of(x);
      x.multiply();
      check(freivalds);
      for (const Order order : {Order::forward, Order::backward, Order::blocks}) {
        x.multiply(order);
        check(freivalds);
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
  for (std::uint64_t seed = 0; seed < 2000; ++seed) REQUIRE(checked(x, seed).error < 0.5);
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

TEMPLATE_TEST_CASE("NaN and Inf must be where they are in A, B and C before, and nowhere else", "", double, float) {
  std::mt19937_64 random(9);
  constexpr std::int64_t m = 9, n = 70, k = 66;
  for (const TestType special : {nan_of<TestType>, infinity_of<TestType>, -infinity_of<TestType>}) {
    for (const auto& [alpha, beta] : factors) {
      const std::int64_t before_rows = beta == 0.0 ? 0 : 1;
      Product<TestType> right(problem_of(m, n, k, alpha, beta), random);
      right.a.at(2, 65) = special;
      right.b.at(0, 64) = special;
      right.b.at(30, 5) = special;
      right.before.at(6, 10) = special;
      right.before.at(6, 5) = special;
      right.multiply();
      require_right(right, 1 + before_rows);
      right.multiply(Order::forward);
      require_right(right, 1 + before_rows);

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
      require_right(x, 4);
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
  require_right(x, 1);
  x.c.at(0, 0) = infinity_of<TestType>;
  require_wrong(x, 0);
}

TEST_CASE("the same seed finds the same error, and C may be checked again and again") {
  std::mt19937_64 random(12);
  Product<double> x = random_product<double>(problem_of(30, 20, 10, 1.0, 1.0), random);
  x.c.at(11, 3) += 1e-9;
  const double error = checked(x, 5).error;
  const Freivalds<double> freivalds = check_of(x, 5);
  // What it was made from is gone.
  x.a.fill([](auto, auto) { return 0.0; });
  x.b.fill([](auto, auto) { return 0.0; });
  x.before.fill([](auto, auto) { return 0.0; });
  for (int round = 0; round < 3; ++round) CHECK(freivalds.check(std::as_const(x.c).view()).error == error);
}

TEST_CASE("rows checked apart have the errors that they have together") {
  std::mt19937_64 random(13);
  Product<float> x = random_product<float>(problem_of(23, 40, 50, 1.0, 1.0), random);
  x.c.at(9, 3) += 1.0F;
  const RowCheck together = checked(x);
  double largest = 0.0;
  for (std::int64_t i = 0; i < 23; ++i) {
    const auto row = [&](const RoomyMatrix<float>& matrix) {
      return matrix_block(matrix.view(), i, 1, 0, matrix.columns());
    };
    const Freivalds<float> apart(x.problem, 1, std::make_shared<Sharing>(x.problem), row(x.a),
                                 std::as_const(x.b).view(), row(x.before));
    largest = std::max(largest, apart.check(row(x.c)).error);
  }
  CHECK(std::fabs(largest / together.error - 1.0) < 1e-9);
  CHECK(together.worst_row == 9);
}

TEST_CASE("matrices that do not fit are refused with their extents") {
  std::mt19937_64 random(14);
  const Product<double> x(problem_of(3, 4, 5, 1.0, 1.0), random);
  const RoomyMatrix<double> other(3, 7);
  const auto made_of = [&](const auto& a, const auto& b, const auto& before) {
    return Freivalds<double>(x.problem, 1, std::make_shared<Sharing>(x.problem), a.view(), b.view(), before.view());
  };
  CHECK_THROWS_MATCHES(made_of(other, x.b, x.before), InvalidArgument,
                       MessageMatches(StartsWith("check of C: A is 3 x 7; expected 3 x 5")));
  CHECK_THROWS_MATCHES(made_of(x.a, other, x.before), InvalidArgument,
                       MessageMatches(StartsWith("check of C: B is 3 x 7; expected 5 x 4")));
  CHECK_THROWS_MATCHES(made_of(x.a, x.b, other), InvalidArgument,
                       MessageMatches(StartsWith("check of C: C before is 3 x 7; expected 3 x 4")));
  CHECK_THROWS_MATCHES(made_of(x.a, x.b, RoomyMatrix<double>(2, 4)), InvalidArgument,
                       MessageMatches(StartsWith("check of C: A is 3 x 5; expected 2 x 5")));
  CHECK_THROWS_MATCHES(made_of(x.a, x.b, x.before).check(RoomyMatrix<double>(2, 4).view()), InvalidArgument,
                       MessageMatches(StartsWith("check of C: C is 2 x 4; expected 3 x 4")));
}

}  // namespace steelyard::test_freivalds
