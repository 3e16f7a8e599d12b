#include <functional>
#include <span>
#include <tuple>
#include <type_traits>

#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/gemm/problem.hpp"
#include "tests/catch.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_freivalds {

using namespace steelyard::gemm;
using namespace steelyard::tests;

namespace {

constexpr std::array<std::pair<double, double>, 3> factors{{{1.0, 0.0}, {-0.3, 0.7}, {2.5, -1.0}}};

/// The error of a product, or of one row of it alone.
template <class Scalar>
double checked(const Product<Scalar>& x, std::uint64_t seed = 1, std::int64_t row = -1) {
  Problem problem = x.problem;
  if (row >= 0) problem.m = 1;
  const auto rows = [&](const PinnedMatrix<Scalar>& matrix) {
    return row < 0 ? matrix.view() : matrix_block(matrix.view(), row, 1, 0, matrix.columns());
  };
  const Freivalds<Scalar> freivalds(problem, seed, rows(x.a), x.b.view(), rows(x.before));
  return freivalds.check(rows(x.c));
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
    if (row >= 0) REQUIRE(checked(x, seed, row) > 1.0);
  }
}

using Numbers = std::vector<double>;

/// Whether the mean of the products of two sequences is that, within six standard deviations.
void check_mean(const Numbers& x, const Numbers& y, double mean, double variance) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  const auto count = static_cast<double>(x.size());
  CHECK(std::abs(sum / count - mean) < 6.0 * std::sqrt(variance / count));
}

}  // namespace

TEMPLATE_TEST_CASE(
    "right products of any shape, factors and kind of matrices pass, however they are summed up, and none with a NaN",
    "", double, float) {
  std::mt19937_64 random(1);
  constexpr std::array<std::int64_t, 12> extents{0, 1, 2, 3, 5, 8, 31, 63, 64, 65, 100, 130};
  constexpr std::array<double, 6> all_factors{0.0, 1.0, -1.0, 0.3, -2.5, 1e-60};
  const auto pick = [&](const auto& from) { return from[random() % from.size()]; };
  for (int round = 0; round < 200; ++round) {
    Product<TestType> x({pick(extents), pick(extents), pick(extents), pick(all_factors), pick(all_factors)}, random,
                        round % 2 == 0 ? -1.0 : 0.0);
    x.spoil_what_is_not_read();
    x.multiply();
    require_right(x);
    x.multiply(Order::forward);
    require_right(x);
    if (x.problem.m == 0 || x.problem.n == 0) continue;
    x.c.at(0, x.problem.n - 1) = nan_of<TestType>;
    require_wrong(x, 0);
  }
  for (const MatrixKind<TestType>& kind : kinds_of_matrices<TestType>()) {
    for (const auto& [m, n, k] :
         {std::array<std::int64_t, 3>{2, 3, 100000}, {1, 1, 5000}, {3, 40, 2000}, {9, 70, 65}}) {
      Product<TestType> x(Problem{m, n, k, -0.3, 0.7});
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
  Product<float> x(Problem{1, 2, 20000});
  x.a.fill([](auto, auto) { return 0.1; });
  x.b.fill([](auto, std::int64_t j) { return j == 0 ? 0.1 : 0.1037; });
  x.multiply(Order::forward);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) REQUIRE(checked(x, seed) < 0.5);
}

TEMPLATE_TEST_CASE("a single wrong element of any product is found", "", double, float) {
  constexpr bool is_float = std::is_same_v<TestType, float>;
  std::mt19937_64 random(4);
  for (const auto& [alpha, beta] : factors) {
    for (const double low : {-1.0, 0.0}) {
      Product<TestType> x({6, 1000, 1000, alpha, beta}, random, low);
      x.multiply();
      require_right(x);
      double squares = 0.0;
      for (std::int64_t j = 0; j < 1000; ++j) squares += static_cast<double>(x.c.at(4, j)) * x.c.at(4, j);
      std::int64_t column = 400;
      while (std::fabs(x.c.at(4, column)) < std::sqrt(squares / 1000)) ++column;
      x.c.at(4, column) *= static_cast<TestType>(1.0 + (is_float ? 1e-2 : 1e-6));
      require_wrong(x, 4);
    }
  }
  // No rounding hides a wrong element of a small product.
  Product<TestType> x({3, 4, 5}, random);
  x.multiply();
  x.c.at(1, 2) += static_cast<TestType>(is_float ? 1e-4 : 1e-12);
  require_wrong(x, 1);
}

TEMPLATE_TEST_CASE(
    "panels left out or added twice, rows, columns and blocks in the wrong place or not written, and wrong factors, "
    "are found",
    "", double, float) {
  using P = Product<TestType>;
  const auto with_panel = [](P& x, TestType times) {
    const PinnedMatrix<TestType> a = x.a;
    for (std::int64_t l = 16; l < 48; ++l) x.a.at(2, l) *= times;
    x.multiply();
    x.a = a;
  };
  const std::vector<std::function<void(P&)>> damages = {
      [](P& x) {
        for (std::int64_t j = 0; j < 50; ++j) std::swap(x.c.at(3, j), x.c.at(17, j));
      },
      [](P& x) {
        for (std::int64_t i = 0; i < 40; ++i) std::swap(x.c.at(i, 0), x.c.at(i, 49));
      },
      [](P& x) {
        for (std::int64_t l = 0; l < 128; ++l) x.c.at(8 + l / 16, 16 + l % 16) = x.before.at(8 + l / 16, 16 + l % 16);
      },
      [](P& x) { std::swap(x.c.at(39, 1), x.c.at(39, 2)); },
      [](P& x) { x.problem.alpha *= 1.5; },
      [](P& x) { x.problem.alpha = 0.0; },
      [](P& x) { x.problem.beta = x.problem.beta == 0.0 ? 0.5 : 0.0; },
      [](P& x) { x.problem.beta -= 0.5; },
      [&](P& x) { with_panel(x, 0); },
      [&](P& x) { with_panel(x, 2); }};
  std::mt19937_64 random(6);
  for (const auto& [alpha, beta] : factors) {
    for (const std::int64_t k : {64, 5000}) {
      P right({40, 50, k, alpha, beta}, random);
      right.multiply();
      require_right(right);
      // Among so many products a panel shows, but not every element.
      for (std::size_t i = k > 64 ? damages.size() - 2 : 0; i < damages.size(); ++i) {
        P x = right;
        damages[i](x);
        require_wrong(x, -1);
      }
      if (k > 64) continue;
      // What is not read is not missed.
      right.before.at(7, 7) += beta == 0.0 ? infinity_of<TestType> : TestType{1};
      if (beta == 0.0) require_right(right);
      if (beta != 0.0) require_wrong(right, -1);
    }
  }
}

TEST_CASE("rows checked apart have the errors that they have together, and C may be checked again and again") {
  std::mt19937_64 random(13);
  Product<float> x({23, 40, 50, 1.0, 1.0}, random);
  x.multiply();
  x.c.at(9, 3) += 1.0F;
  double largest = 0.0;
  for (std::int64_t i = 0; i < 23; ++i) largest = std::max(largest, checked(x, 1, i));
  const double together = checked(x);
  CHECK(std::fabs(largest / together - 1.0) < 1e-9);
  const Freivalds<float> freivalds(x.problem, 1, x.a.view(), x.b.view(), x.before.view());
  // What it was made from is gone.
  for (PinnedMatrix<float>* matrix : {&x.a, &x.b, &x.before}) matrix->fill([](auto, auto) { return nan_of<float>; });
  for (int round = 0; round < 3; ++round) CHECK(freivalds.check(std::as_const(x.c).view()) == together);
}

TEMPLATE_TEST_CASE("matrices that a power of two multiplies have the same error", "", double, float) {
  std::mt19937_64 random(14);
  Product<TestType> x({20, 30, 40, -0.3, 0.7}, random);
  x.multiply();
  x.c.at(3, 5) *= TestType{2};
  for (const int exponent : {-30, 30}) {
    Product<TestType> scaled = x;
    for (PinnedMatrix<TestType>* matrix : {&scaled.a, &scaled.before, &scaled.c}) {
      matrix->fill([&](auto i, auto j) { return std::ldexp(matrix->at(i, j), exponent); });
    }
    CHECK(checked(scaled) == checked(x));
  }
}

TEMPLATE_TEST_CASE("NaN and Inf must be where they are in A, B, C before and the factors, and nowhere else", "", double,
                   float) {
  std::mt19937_64 random(9);
  constexpr std::int64_t m = 9, n = 70, k = 66;
  for (const TestType special : {nan_of<TestType>, infinity_of<TestType>, -infinity_of<TestType>}) {
    for (const auto& [alpha, beta] : factors) {
      Product<TestType> right({m, n, k, alpha, beta}, random);
      right.a.at(2, 65) = right.b.at(0, 64) = right.b.at(30, 5) = special;
      right.before.at(6, 10) = right.before.at(6, 5) = special;
      right.multiply();
      require_right(right);
      right.multiply(Order::forward);
      require_right(right);
      const auto with = [&](std::int64_t i, std::int64_t j, TestType value) {
        Product<TestType> x = right;
        x.c.at(i, j) = value;
        require_wrong(x, i);
      };
      for (const auto& [i, j] : {std::pair{2, 0}, {2, 69}, {0, 64}, {8, 5}, {6, 5}}) with(i, j, TestType{1});
      for (const auto& [i, j] : {std::pair{0, 0}, {1, 63}, {6, 11}, {8, 69}}) {
        with(i, j, nan_of<TestType>);
        with(i, j, infinity_of<TestType>);
      }
      with(7, 20, right.c.at(7, 20) + TestType{1});
      if (beta != 0.0) with(6, 10, TestType{1});
    }
    for (const auto& [alpha, beta] : {std::pair{special, TestType{0}}, {TestType{1}, special}, {special, special}}) {
      Product<TestType> x({4, 5, 6, alpha, beta}, random);
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
  Product<TestType> x({5, 20, 10}, random, 0.5);
  for (std::int64_t l = 0; l < 10; ++l) {
    x.a.at(2, l) *= large;
    x.b.at(l, 3) *= large;
  }
  x.multiply();
  REQUIRE(std::isinf(x.c.at(2, 3)));
  require_right(x);
  x.c.at(0, 0) = infinity_of<TestType>;
  require_wrong(x, 0);
}

TEST_CASE(
    "random elements are uniform from -1 to 1, signs are +1 and -1, and no element or sign tells another one, of a "
    "neighbour, far away, of another matrix, vector or seed") {
  constexpr std::int64_t extent = 100, far = (std::int64_t{1} << 31) - extent;
  std::vector<Numbers> matrices, signs;
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{12345}, ~std::uint64_t{0}}) {
    for (const MatrixName name : {MatrixName::a, MatrixName::b, MatrixName::c}) {
      const RandomMatrix matrix(seed, name);
      // The last two are the first one's neighbours.
      for (const auto& [row, column] :
           {std::pair{std::int64_t{0}, far}, {far, std::int64_t{0}}, {far, far}, {0, 0}, {0, 1}, {1, 0}}) {
        Numbers& numbers = matrices.emplace_back();
        for (std::int64_t i = 0; i < extent * extent; ++i) {
          numbers.push_back(matrix.element(row + i / extent, column + i % extent));
        }
      }
    }
    for (const int vector : {0, 1, 7, 63, 64, 200}) {
      for (const std::int64_t column : {0, 1}) {
        Numbers& numbers = signs.emplace_back();
        for (std::int64_t i = 0; i < extent * extent; ++i) numbers.push_back(random_sign(seed, column + i, vector));
      }
    }
  }
  for (const Numbers& x : matrices) {
    CHECK(std::ranges::all_of(x, [](double element) {
      return element >= -1.0 && element < 1.0 && std::ldexp(element, 52) == std::trunc(std::ldexp(element, 52));
    }));
    check_mean(x, x, 1.0 / 3.0, 1.0 / 5.0 - 1.0 / 9.0);
  }
  for (const Numbers& x : signs) CHECK(std::ranges::all_of(x, [](double sign) { return std::abs(sign) == 1.0; }));
  // Each with a sequence of ones and with those before it.
  std::vector<std::pair<Numbers, double>> before{{Numbers(extent * extent, 1.0), 1.0}};
  for (const auto& [sequences, square] : {std::pair{matrices, 1.0 / 3.0}, {signs, 1.0}}) {
    for (const Numbers& x : sequences) {
      for (const auto& [other, other_square] : before) check_mean(x, other, 0.0, square * other_square);
      before.emplace_back(x, square);
    }
  }
}

TEMPLATE_TEST_CASE("random rows are the same in whatever parts and on whatever host threads they are filled", "",
                   double, float) {
  std::mt19937_64 random(8);
  for (const std::int64_t columns : {1, 3, 64, 257}) {
    constexpr std::int64_t rows = 101;
    const RandomMatrix matrix(9, MatrixName::a);
    std::vector<TestType> expected, filled(static_cast<std::size_t>(rows * columns));
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      expected.push_back(static_cast<TestType>(matrix.element(i / columns, 5 + i % columns)));
    }
    for (std::int64_t first = 0; first < rows;) {
      const std::int64_t count = std::min(rows - first, any_of(random, 0, 9));
      fill_random(matrix, first, 5, columns,
                  std::span(filled.data() + first * columns, static_cast<std::size_t>(count * columns)));
      first += count;
    }
    CHECK(filled == expected);
  }
}

}  // namespace steelyard::test_freivalds
