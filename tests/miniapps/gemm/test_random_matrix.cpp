#include <algorithm>
#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <unordered_set>
#include <vector>

#include "miniapps/gemm/random_matrix.hpp"

namespace steelyard::test_random_matrix {

using namespace steelyard::gemm;
using Catch::Generators::from_range;

namespace {

constexpr std::array<MatrixName, 3> names{MatrixName::a, MatrixName::b, MatrixName::c};
constexpr std::array<std::uint64_t, 5> seeds{0, 1, 2, 12345, ~std::uint64_t{0}};

template <class Scalar>
std::vector<Scalar> filled(const RandomMatrix& matrix, std::int64_t first_row, std::int64_t rows,
                           std::int64_t columns) {
  std::vector<Scalar> elements(static_cast<std::size_t>(rows * columns), Scalar{7});
  fill_random(matrix, first_row, 0, columns, std::span(elements));
  return elements;
}

double mean_product(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum / static_cast<double>(x.size());
}

/// Six standard deviations of a mean of `count` values of variance `variance`.
double six_sigma(double variance, std::size_t count) { return 6.0 * std::sqrt(variance / static_cast<double>(count)); }

constexpr std::int64_t signs = 10000;

/// Sum over all columns of the product of two vectors' signs; for independent ones about as large as sqrt(signs).
double inner_product(std::uint64_t seed, int vector, std::uint64_t other_seed, int other_vector, std::int64_t shift) {
  double sum = 0.0;
  for (std::int64_t j = 0; j < signs; ++j) {
    sum += random_sign(seed, j, vector) * random_sign(other_seed, j + shift, other_vector);
  }
  return sum;
}

}  // namespace

TEST_CASE("elements are multiples of 2^-52, at least -1 and below 1, with the moments of a uniform distribution") {
  const std::uint64_t seed = GENERATE(from_range(seeds.begin(), seeds.end()));
  const MatrixName name = GENERATE(from_range(names.begin(), names.end()));
  const std::vector<double> x = filled<double>(RandomMatrix(seed, name), 0, 300, 300);
  std::vector<double> squares;
  for (const double element : x) {
    REQUIRE(element >= -1.0);
    REQUIRE(element < 1.0);
    REQUIRE(std::ldexp(element, 52) == std::trunc(std::ldexp(element, 52)));
    squares.push_back(element * element);
  }
  const std::vector<double> ones(x.size(), 1.0);
  CAPTURE(seed, static_cast<int>(name));
  CHECK(std::abs(mean_product(x, ones)) < six_sigma(1.0 / 3.0, x.size()));
  CHECK(std::abs(mean_product(squares, ones) - 1.0 / 3.0) < six_sigma(1.0 / 5.0 - 1.0 / 9.0, x.size()));
  CHECK(std::abs(mean_product(squares, squares) - 1.0 / 5.0) < six_sigma(1.0 / 9.0 - 1.0 / 25.0, x.size()));
}

TEST_CASE("neighbours in a row and in a column are independent") {
  for (const MatrixName name : names) {
    const RandomMatrix matrix(7, name);
    const std::int64_t rows = 301, columns = 301;
    std::vector<double> here, right, below;
    for (std::int64_t i = 0; i + 1 < rows; ++i) {
      for (std::int64_t j = 0; j + 1 < columns; ++j) {
        here.push_back(matrix.element(i, j));
        right.push_back(matrix.element(i, j + 1));
        below.push_back(matrix.element(i + 1, j));
      }
    }
    CHECK(std::abs(mean_product(here, right)) < six_sigma(1.0 / 9.0, here.size()));
    CHECK(std::abs(mean_product(here, below)) < six_sigma(1.0 / 9.0, here.size()));
  }
}

TEST_CASE("no element is that of another place, another matrix or another seed, also far from the origin") {
  std::unordered_set<double> seen;
  std::size_t count = 0;
  const auto see = [&](double element) {
    seen.insert(element);
    ++count;
  };
  constexpr std::int64_t far = (std::int64_t{1} << 31) - 50;
  for (const std::uint64_t seed : seeds) {
    for (const MatrixName name : names) {
      const RandomMatrix matrix(seed, name);
      for (std::int64_t i = 0; i < 40; ++i) {
        for (std::int64_t j = 0; j < 40; ++j) {
          see(matrix.element(i, j));
          see(matrix.element(far + i, j));
          see(matrix.element(i, far + j));
          see(matrix.element(far + i, far + j));
        }
      }
    }
  }
  // Of 53 random bits, 96000 numbers hardly ever share all.
  CHECK(seen.size() == count);
}

TEST_CASE("the three matrices of a seed, and those of different seeds, are independent") {
  std::vector<std::vector<double>> matrices;
  for (const std::uint64_t seed : seeds) {
    for (const MatrixName name : names) matrices.push_back(filled<double>(RandomMatrix(seed, name), 0, 100, 100));
  }
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      CAPTURE(i, j);
      CHECK(std::abs(mean_product(matrices[i], matrices[j])) < six_sigma(1.0 / 9.0, matrices[i].size()));
    }
  }
}

TEMPLATE_TEST_CASE("rows are the same in whatever parts and on whatever host threads they are filled", "", double,
                   float) {
  std::mt19937_64 random(8);
  for (const std::int64_t columns : {1, 3, 64, 257}) {
    const std::int64_t rows = 101;
    const RandomMatrix matrix(9, MatrixName::a);
    const std::vector<TestType> whole = filled<TestType>(matrix, 0, rows, columns);
    std::size_t wrong = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        wrong +=
            whole[static_cast<std::size_t>(i * columns + j)] == static_cast<TestType>(matrix.element(i, j)) ? 0 : 1;
      }
    }
    CHECK(wrong == 0);

    std::vector<TestType> in_parts(whole.size());
    for (std::int64_t first = 0; first < rows;) {
      const std::int64_t count =
          std::uniform_int_distribution<std::int64_t>(0, std::min<std::int64_t>(rows - first, 9))(random);
      const std::span<TestType> part(in_parts.data() + first * columns, static_cast<std::size_t>(count * columns));
      fill_random(matrix, first, 0, columns, part);
      first += count;
    }
    CHECK(in_parts == whole);
  }
}

TEST_CASE("signs are +1 and -1, as many of each as chance makes, independent of other vectors, columns and seeds") {
  const int vector = GENERATE(0, 1, 7, 63, 64, 200);
  double sum = 0.0;
  for (std::int64_t j = 0; j < signs; ++j) {
    const double sign = random_sign(1, j, vector);
    REQUIRE(std::fabs(sign) == 1.0);
    sum += sign;
  }
  constexpr double most = 500.0;  // five standard deviations
  CHECK(std::fabs(sum) < most);
  CHECK(std::fabs(inner_product(1, vector, 1, vector + 1, 0)) < most);
  CHECK(std::fabs(inner_product(1, vector, 1, vector + 64, 0)) < most);
  CHECK(std::fabs(inner_product(1, vector, 1, vector, 1)) < most);
  CHECK(std::fabs(inner_product(1, vector, 2, vector, 0)) < most);
}

TEST_CASE("signs are independent of random matrices of the same seed") {
  const MatrixName name = GENERATE(MatrixName::a, MatrixName::b, MatrixName::c);
  const std::uint64_t seed = GENERATE(0U, 1U);
  double sum = 0.0;
  for (std::int64_t j = 0; j < signs; ++j) sum += random_sign(seed, j, 0) * RandomMatrix(seed, name).element(0, j);
  CHECK(std::fabs(sum) < 500.0);
}

}  // namespace steelyard::test_random_matrix
