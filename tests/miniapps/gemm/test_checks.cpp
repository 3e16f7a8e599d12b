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
#include "tests/miniapps/gemm/checked_products.hpp"

namespace steelyard::test_checks {

using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using namespace steelyard::gemm;
using namespace steelyard::tests;

namespace {

/// A right product of random matrices to be damaged.
template <class Scalar>
Product<Scalar> random_product(const Problem& problem, std::mt19937_64& random) {
  Product<Scalar> x(problem, random);
  x.multiply();
  return x;
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("right products of any shape and factors pass", "", (ByVectors, ByElements),
                           (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(1);
  constexpr std::array<std::int64_t, 12> extents{0, 1, 2, 3, 5, 8, 31, 63, 64, 65, 100, 130};
  constexpr std::array<double, 6> all_factors{0.0, 1.0, -1.0, 0.3, -2.5, 1e-60};
  const auto pick = [&](const auto& from) { return from[random() % from.size()]; };
  for (int round = 0; round < 200; ++round) {
    Product<Scalar> x(problem_of(pick(extents), pick(extents), pick(extents), pick(all_factors), pick(all_factors)),
                      random, round % 2 == 0 ? -1.0 : 0.0);
    x.multiply();
    require_right<TestType>(x);
    x.multiply(Order::forward);
    require_right<TestType>(x);
  }
}

TEMPLATE_PRODUCT_TEST_CASE("right products of matrices of all kinds pass, however they are summed up", "",
                           (ByVectors, ByElements), (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(2);
  for (const Kind<Scalar>& kind : kinds_of_matrices<Scalar>()) {
    for (const auto& [m, n, k] :
         {std::array<std::int64_t, 3>{2, 3, 100000}, {1, 1, 5000}, {3, 40, 2000}, {9, 70, 65}}) {
      Product<Scalar> x(problem_of(m, n, k, -0.3, 0.7));
      kind.fill(x, random);
      CAPTURE(kind.name, m, n, k);
      x.multiply();
      CHECK(checked<TestType>(x) < TestType::most);
      for (const Order order : {Order::forward, Order::backward, Order::blocks}) {
        x.multiply(order);
        CHECK(checked<TestType>(x) < TestType::most);
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
  for (std::uint64_t seed = 0; seed < 2000; ++seed) REQUIRE(checked<ByVectors<float>>(x, seed) < 0.5);
}

TEMPLATE_PRODUCT_TEST_CASE("a single wrong element is found", "", (ByVectors, ByElements), (double, float)) {
  using Scalar = typename TestType::Scalar;
  constexpr double change = std::is_same_v<Scalar, float> ? 1e-2 : 1e-6;
  std::mt19937_64 random(4);
  for (const double low : {-1.0, 0.0}) {
    for (const auto& [alpha, beta] : factors) {
      Product<Scalar> x(problem_of(6, 1000, 1000, alpha, beta), random, low);
      x.multiply();
      require_right<TestType>(x);
      double squares = 0.0;
      for (std::int64_t j = 0; j < 1000; ++j) squares += static_cast<double>(x.c.at(4, j)) * x.c.at(4, j);
      std::int64_t column = 400;
      while (std::fabs(x.c.at(4, column)) < std::sqrt(squares / 1000)) ++column;
      x.c.at(4, column) *= static_cast<Scalar>(1.0 + change);
      require_wrong<TestType>(x, 4);
    }
  }
  // No rounding hides a wrong element of a small product.
  Product<Scalar> x = random_product<Scalar>(problem_of(3, 4, 5), random);
  x.c.at(1, 2) += static_cast<Scalar>(std::is_same_v<Scalar, float> ? 1e-4 : 1e-12);
  require_wrong<TestType>(x, 1);
}

TEMPLATE_PRODUCT_TEST_CASE("a panel left out or added twice is found", "", (ByVectors, ByElements), (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(5);
  for (const std::int64_t k : {33, 200, 5000}) {
    for (const auto& [alpha, beta] : factors) {
      for (const double low : {-1.0, 0.0}) {
        Product<Scalar> x(problem_of(5, 60, k, alpha, beta), random, low);
        const RoomyMatrix<Scalar> a = x.a;
        for (const Scalar times : {Scalar{0}, Scalar{2}}) {
          for (std::int64_t l = k / 2; l < k / 2 + 32 && l < k; ++l) x.a.at(2, l) = times * a.at(2, l);
          x.multiply();
          x.a = a;
          require_wrong<TestType>(x, 2);
        }
      }
    }
  }
}

TEMPLATE_PRODUCT_TEST_CASE("rows, columns and blocks in the wrong place or not written are found", "",
                           (ByVectors, ByElements), (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(6);
  for (const auto& [alpha, beta] : factors) {
    const Product<Scalar> right = random_product<Scalar>(problem_of(40, 50, 64, alpha, beta), random);
    Product<Scalar> x = right;
    for (std::int64_t j = 0; j < 50; ++j) std::swap(x.c.at(3, j), x.c.at(17, j));
    require_wrong<TestType>(x, -1);
    x = right;
    for (std::int64_t i = 0; i < 40; ++i) std::swap(x.c.at(i, 0), x.c.at(i, 49));
    require_wrong<TestType>(x, -1);
    x = right;
    for (std::int64_t i = 8; i < 16; ++i) {
      for (std::int64_t j = 16; j < 32; ++j) x.c.at(i, j) = x.before.at(i, j);
    }
    require_wrong<TestType>(x, -1);
    x = right;
    std::swap(x.c.at(39, 1), x.c.at(39, 2));
    require_wrong<TestType>(x, 39);
    x = right;
    x.multiply();
    x.before.at(7, 7) += Scalar{1};
    if (beta != 0.0) {
      require_wrong<TestType>(x, 7);
    } else {
      require_right<TestType>(x);
    }
  }
}

TEMPLATE_PRODUCT_TEST_CASE("wrong factors are found", "", (ByVectors, ByElements), (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(7);
  const Product<Scalar> right = random_product<Scalar>(problem_of(8, 30, 20, 1.5, -0.5), random);
  for (const auto& [alpha, beta] : {std::pair{1.0, -0.5}, {1.5, 0.0}, {1.5, 0.5}, {0.0, -0.5}, {0.0, 0.0}}) {
    Product<Scalar> x = right;
    x.problem.alpha = alpha;
    x.problem.beta = beta;
    require_wrong<TestType>(x, -1);
  }
}

TEMPLATE_PRODUCT_TEST_CASE("matrices that are not read do not count", "", (ByVectors, ByElements), (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(8);
  for (const auto& [alpha, beta, k] :
       {std::tuple{0.0, 0.0, 7}, {0.0, -1.5, 7}, {1.0, 0.0, 0}, {1.0, 0.3, 0}, {1.0, 0.0, 7}, {1e-60, 1.0, 7}}) {
    // A factor that is 0 in float only.
    if (alpha == 1e-60 && std::is_same_v<Scalar, double>) continue;
    Product<Scalar> x(problem_of(6, 9, k, alpha, beta), random);
    const auto nan = [](auto, auto) { return nan_of<Scalar>; };
    if (alpha != 1.0) {
      x.a.fill(nan);
      x.b.fill(nan);
    }
    if (beta == 0.0) x.before.fill(nan);
    x.multiply();
    require_right<TestType>(x);
    x.c.at(5, 3) += Scalar(0.01);
    require_wrong<TestType>(x, 5);
    x.c.at(5, 3) = nan_of<Scalar>;
    require_wrong<TestType>(x, 5);
  }
}

TEST_CASE("the same seed finds the same error, and C may be checked again and again") {
  std::mt19937_64 random(12);
  Product<double> x = random_product<double>(problem_of(30, 20, 10, 1.0, 1.0), random);
  x.c.at(11, 3) += 1e-9;
  const double error = checked<ByVectors<double>>(x, 5);
  const Freivalds<double> freivalds(x.problem, 5, std::make_shared<Sharing>(x.problem), x.a.view(), x.b.view(),
                                    x.before.view());
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
    const double error = checked_row<ByVectors<float>>(x, i);
    CHECK((error > 1.0) == (i == 9));
    largest = std::max(largest, error);
  }
  CHECK(std::fabs(largest / checked<ByVectors<float>>(x) - 1.0) < 1e-9);
}

TEMPLATE_TEST_CASE("any wrong element is found, however small it is beside others", "", double, float) {
  constexpr TestType change = std::is_same_v<TestType, float> ? 1e-2 : 1e-6;
  std::mt19937_64 random(3);
  for (const double beta : {0.0, 0.5}) {
    Product<TestType> x(problem_of(12, 70, 100, 1.5, beta), random, 0.1);
    for (std::int64_t l = 0; l < 100; ++l) x.b.at(l, 3) *= TestType(1e-20);
    for (std::int64_t i = 0; i < 12; ++i) x.before.at(i, 3) *= TestType(1e-20);
    x.multiply();
    require_right<ByElements<TestType>>(x);
    for (const auto& [i, j] : {std::pair{0, 0}, {5, 3}, {11, 63}, {3, 64}, {11, 69}}) {
      Product<TestType> damaged = x;
      damaged.c.at(i, j) *= 1 + change;
      require_wrong<ByElements<TestType>>(damaged, i);
    }
  }
}

TEST_CASE("all elements are compared up to 2e8 flops") {
  CHECK(worth_full_comparison(problem_of(460, 460, 460)));
  CHECK(!worth_full_comparison(problem_of(470, 470, 470)));
  CHECK(worth_full_comparison(problem_of(0, 1, 0)));
  CHECK(!worth_full_comparison(problem_of(std::int64_t{1} << 40, std::int64_t{1} << 40, 1)));
}

TEMPLATE_PRODUCT_TEST_CASE("matrices that do not fit are refused with their extents, unless they are not read", "",
                           (ByVectors, ByElements), (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(14);
  Product<Scalar> x(problem_of(3, 4, 5, 1.0, 1.0), random);
  const RoomyMatrix<Scalar> other(3, 7), nothing(0, 0);
  const auto error = [&](const auto& a, const auto& b, const auto& before, const auto& c) {
    return TestType::error(x.problem, a.view(), b.view(), before.view(), c.view());
  };
  CHECK_THROWS_MATCHES(error(other, x.b, x.before, x.c), InvalidArgument,
                       MessageMatches(StartsWith("check of C: A is 3 x 7; expected 3 x 5")));
  CHECK_THROWS_MATCHES(error(x.a, other, x.before, x.c), InvalidArgument,
                       MessageMatches(StartsWith("check of C: B is 3 x 7; expected 5 x 4")));
  CHECK_THROWS_MATCHES(error(x.a, x.b, other, x.c), InvalidArgument,
                       MessageMatches(StartsWith("check of C: C before is 3 x 7; expected 3 x 4")));
  CHECK_THROWS_MATCHES(error(x.a, x.b, x.before, other), InvalidArgument,
                       MessageMatches(StartsWith("check of C: C is 3 x 7; expected 3 x 4")));
  x.problem.alpha = 0.0;
  x.multiply();
  CHECK(error(nothing, nothing, x.before, x.c) <= 1.0);
  x.problem.alpha = 1.0;
  x.problem.beta = 0.0;
  x.multiply();
  CHECK(error(x.a, x.b, nothing, x.c) <= 1.0);
}

}  // namespace steelyard::test_checks
