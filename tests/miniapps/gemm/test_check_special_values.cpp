#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

#include "tests/miniapps/gemm/checked_products.hpp"

namespace steelyard::test_check_special_values {

using namespace steelyard::gemm;
using namespace steelyard::tests;

TEMPLATE_PRODUCT_TEST_CASE("NaN and Inf must be where they are in A, B and C before, and nowhere else", "",
                           (ByVectors, ByElements), (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(9);
  constexpr std::int64_t m = 9, n = 70, k = 66;
  for (const Scalar special : {nan_of<Scalar>, infinity_of<Scalar>, -infinity_of<Scalar>}) {
    for (const auto& [alpha, beta] : factors) {
      Product<Scalar> right(problem_of(m, n, k, alpha, beta), random);
      right.a.at(2, 65) = special;
      right.b.at(0, 64) = special;
      right.b.at(30, 5) = special;
      right.before.at(6, 10) = special;
      right.before.at(6, 5) = special;
      right.multiply();
      require_right<TestType>(right);
      right.multiply(Order::forward);
      require_right<TestType>(right);

      for (const auto& [i, j] : {std::pair{2, 0}, {2, 69}, {0, 64}, {8, 5}, {6, 5}}) {
        Product<Scalar> x = right;
        x.c.at(i, j) = Scalar{1};
        require_wrong<TestType>(x, i);
      }
      for (const auto& [i, j] : {std::pair{0, 0}, {1, 63}, {6, 11}, {8, 69}}) {
        for (const Scalar wrong : {nan_of<Scalar>, infinity_of<Scalar>}) {
          Product<Scalar> x = right;
          x.c.at(i, j) = wrong;
          require_wrong<TestType>(x, i);
        }
      }
      Product<Scalar> x = right;
      x.c.at(7, 20) += Scalar{1};
      require_wrong<TestType>(x, 7);
      if (beta != 0.0) {
        x = right;
        x.c.at(6, 10) = Scalar{1};
        require_wrong<TestType>(x, 6);
      }
    }
  }
}

TEMPLATE_PRODUCT_TEST_CASE("factors that are not finite leave nothing finite", "", (ByVectors, ByElements),
                           (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(10);
  for (const double special : {std::nan(""), double{infinity_of<double>}}) {
    for (const auto& [alpha, beta] : {std::pair{special, 0.0}, {1.0, special}, {special, 1.0}}) {
      Product<Scalar> x(problem_of(4, 5, 6, alpha, beta), random);
      x.multiply(Order::forward);
      require_right<TestType>(x);
      x.c.at(3, 3) = Scalar{0};
      require_wrong<TestType>(x, 3);
    }
  }
}

TEMPLATE_PRODUCT_TEST_CASE("Inf is right where the sum is too large for the type, and only there", "",
                           (ByVectors, ByElements), (double, float)) {
  using Scalar = typename TestType::Scalar;
  std::mt19937_64 random(11);
  const auto large = static_cast<Scalar>(std::is_same_v<Scalar, float> ? 1e25 : 1e200);
  Product<Scalar> x(problem_of(5, 20, 10), random, 0.5);
  for (std::int64_t l = 0; l < 10; ++l) x.a.at(2, l) *= large;
  for (std::int64_t l = 0; l < 10; ++l) x.b.at(l, 3) *= large;
  x.multiply();
  REQUIRE(std::isinf(x.c.at(2, 3)));
  require_right<TestType>(x);
  x.c.at(0, 0) = infinity_of<Scalar>;
  require_wrong<TestType>(x, 0);
}

TEMPLATE_TEST_CASE("NaN is NaN and Inf the same Inf, and elsewhere neither", "", double, float) {
  constexpr TestType nan = nan_of<TestType>, infinity = infinity_of<TestType>;
  std::mt19937_64 random(5);
  for (const double beta : {0.0, 1.0}) {
    Product<TestType> right(problem_of(6, 66, 5, 1.0, beta), random, 0.5);
    right.a.at(1, 2) = infinity;
    right.b.at(0, 65) = -infinity;
    right.b.at(2, 4) = TestType{0};
    right.a.at(2, 3) = nan;
    right.multiply();
    require_right<ByElements<TestType>>(right);
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
        require_wrong<ByElements<TestType>>(x, i);
      }
    }
    right.before.at(5, 8) = -infinity;
    right.multiply();
    require_right<ByElements<TestType>>(right);
    REQUIRE(std::isinf(right.c.at(5, 8)) == (beta != 0.0));
  }
}

TEMPLATE_TEST_CASE("where a sum may be too large for the type, its order decides", "", double, float) {
  const auto large = std::numeric_limits<TestType>::max();
  Product<TestType> x(problem_of(1, 1, 3));
  x.a.fill([&](auto, std::int64_t l) { return l == 2 ? -large : large; });
  x.b.fill([](auto, auto) { return 1.0; });
  for (const TestType right : {large, infinity_of<TestType>}) {
    x.c.at(0, 0) = right;
    require_right<ByElements<TestType>>(x);
  }
  x.c.at(0, 0) = TestType{1};
  require_wrong<ByElements<TestType>>(x, 0);
}

}  // namespace steelyard::test_check_special_values
