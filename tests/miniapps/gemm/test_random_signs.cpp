#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>

#include "miniapps/gemm/random_signs.hpp"

namespace steelyard::test_random_signs {

using namespace steelyard::gemm;

namespace {

constexpr std::int64_t columns = 10000;

/// Sum over all columns of the product of two vectors' signs; for independent ones about as large as sqrt(columns).
double inner_product(std::uint64_t seed, int vector, std::uint64_t other_seed, int other_vector, std::int64_t shift) {
  double sum = 0.0;
  for (std::int64_t j = 0; j < columns; ++j) {
    sum += random_sign(seed, j, vector) * random_sign(other_seed, j + shift, other_vector);
  }
  return sum;
}

}  // namespace

TEST_CASE("signs are +1 and -1, as many of each as chance makes") {
  for (const std::uint64_t seed : {0U, 1U, 42U}) {
    for (const int vector : {0, 1, 7, 63, 64, 200}) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < columns; ++j) {
        const double sign = random_sign(seed, j, vector);
        REQUIRE(std::fabs(sign) == 1.0);
        sum += sign;
      }
      CHECK(std::fabs(sum) < 5.0 * std::sqrt(columns));
    }
  }
}

TEST_CASE("signs of different vectors, columns and seeds are independent") {
  for (const int vector : {0, 7, 63, 64}) {
    CHECK(std::fabs(inner_product(1, vector, 1, vector + 1, 0)) < 5.0 * std::sqrt(columns));
    CHECK(std::fabs(inner_product(1, vector, 1, vector + 64, 0)) < 5.0 * std::sqrt(columns));
    CHECK(std::fabs(inner_product(1, vector, 1, vector, 1)) < 5.0 * std::sqrt(columns));
    CHECK(std::fabs(inner_product(1, vector, 2, vector, 0)) < 5.0 * std::sqrt(columns));
  }
}

TEST_CASE("signs know nothing of random matrices of the same seed") {
  for (const MatrixName name : {MatrixName::a, MatrixName::b, MatrixName::c}) {
    for (const std::uint64_t seed : {0U, 1U}) {
      double sum = 0.0;
      for (std::int64_t j = 0; j < columns; ++j)
        sum += random_sign(seed, j, 0) * RandomMatrix(seed, name).element(0, j);
      CHECK(std::fabs(sum) < 5.0 * std::sqrt(columns));
    }
  }
}

}  // namespace steelyard::test_random_signs
