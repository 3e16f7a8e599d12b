#include <catch2/catch_approx.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "miniapps/gemm/check/row_products.hpp"
#include "tests/miniapps/gemm/product.hpp"

namespace steelyard::test_row_products {

using namespace steelyard::gemm;
using namespace steelyard::tests;

namespace {

VectorBundle random_vectors(std::int64_t length, std::mt19937_64& random) {
  VectorBundle x(length);
  for (std::int64_t i = 0; i < length; ++i) {
    for (int v = 0; v < vectors; ++v) x.at(i)[v] = uniform(random, -1.0, 1.0)(i, v);
  }
  return x;
}

template <class Scalar>
RowProducts products_of(const RoomyMatrix<Scalar>& matrix, const VectorBundle& x,
                        const std::vector<unsigned char>& skipped = {}) {
  return row_products<Scalar>(matrix.view(), x, skipped);
}

}  // namespace

TEMPLATE_TEST_CASE("rows are multiplied with every vector, and their norms found, whatever their number", "", double,
                   float) {
  std::mt19937_64 random(1);
  for (const std::int64_t rows : {0, 1, 2, 3, 4, 5, 9, 31}) {
    for (const std::int64_t columns : {0, 1, 7, 63, 64, 65, 200}) {
      RoomyMatrix<TestType> matrix(rows, columns);
      matrix.fill(uniform(random, -1.0, 1.0));
      const VectorBundle x = random_vectors(columns, random);
      std::vector<unsigned char> skipped(static_cast<std::size_t>(columns));
      for (unsigned char& skip : skipped) skip = random() % 4 == 0 ? 1 : 0;
      for (std::int64_t j = 0; j < columns; ++j) {
        if (skipped[static_cast<std::size_t>(j)] == 0) continue;
        for (std::int64_t i = 0; i < rows; ++i) matrix.at(i, j) = std::numeric_limits<TestType>::quiet_NaN();
      }
      const RowProducts found = products_of(matrix, x, skipped);
      for (std::int64_t i = 0; i < rows; ++i) {
        double squares = 0.0;
        std::vector<double> sums(static_cast<std::size_t>(vectors));
        for (std::int64_t j = 0; j < columns; ++j) {
          if (skipped[static_cast<std::size_t>(j)] != 0) continue;
          const double element = matrix.at(i, j);
          squares += element * element;
          for (int v = 0; v < vectors; ++v) sums[static_cast<std::size_t>(v)] += element * x.at(j)[v];
        }
        const auto row = static_cast<std::size_t>(i);
        REQUIRE(found.finite[row] == 1);
        REQUIRE(found.norms[row] == Catch::Approx(std::sqrt(squares)).epsilon(1e-13));
        for (int v = 0; v < vectors; ++v) {
          REQUIRE(found.products.at(i)[v] == Catch::Approx(sums[static_cast<std::size_t>(v)]).margin(1e-13));
        }
      }
    }
  }
}

TEST_CASE("norms are right where squares leave the range of double") {
  std::mt19937_64 random(2);
  for (const double scale : {1e-320, 1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    RoomyMatrix<double> ones(5, 100);
    ones.fill([&](auto, auto) { return scale; });
    const RowProducts found = products_of(ones, random_vectors(100, random));
    for (const double norm : found.norms) CHECK(norm == Catch::Approx(10.0 * scale));
    CHECK(euclidean_norm(found.norms) == Catch::Approx(10.0 * std::sqrt(5.0) * scale));
  }
  RoomyMatrix<double> mixed(1, 3);
  mixed.at(0, 1) = 3e-200;
  mixed.at(0, 2) = -4e-200;
  CHECK(products_of(mixed, random_vectors(3, random)).norms.front() == Catch::Approx(5e-200));
  mixed.at(0, 0) = 1e200;
  CHECK(products_of(mixed, random_vectors(3, random)).norms.front() == Catch::Approx(1e200));
  CHECK(euclidean_norm({}) == 0.0);
  CHECK(euclidean_norm({0.0, 0.0}) == 0.0);
}

TEMPLATE_TEST_CASE("rows with NaN or Inf are found, and large finite ones are none of them", "", double, float) {
  std::mt19937_64 random(3);
  using Limits = std::numeric_limits<TestType>;
  for (const TestType special : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
    for (const std::int64_t column : {0, 63, 64, 99}) {
      RoomyMatrix<TestType> matrix(6, 100);
      matrix.fill([](auto, auto) { return Limits::max(); });
      matrix.at(2, column) = special;
      matrix.at(5, column) = special;
      const RowProducts found = products_of(matrix, random_vectors(100, random));
      CHECK(found.finite == std::vector<unsigned char>{1, 1, 0, 1, 1, 0});
    }
  }
}

TEST_CASE("the partial sums' norm is that of sums of 64, 128, … columns") {
  RoomyMatrix<float> ones(3, 150);
  ones.fill([](auto, auto) { return 1.0; });
  VectorBundle x(150);
  for (std::int64_t j = 0; j < 150; ++j) {
    for (int v = 0; v < vectors; ++v) x.at(j)[v] = v % 2 == 0 ? 1.0 : -2.0;
  }
  const double expected = std::sqrt(2.5 * (64.0 * 64.0 + 128.0 * 128.0 + 150.0 * 150.0) / 3.0);
  for (const double norm : products_of(ones, x).partial_norms) CHECK(norm == Catch::Approx(expected));
}

}  // namespace steelyard::test_row_products
