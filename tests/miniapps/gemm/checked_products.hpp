#pragma once

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <memory>
#include <utility>

#include "miniapps/gemm/check/freivalds.hpp"
#include "miniapps/gemm/check/full_comparison.hpp"
#include "tests/miniapps/gemm/product.hpp"

// Both checks of C obey the same laws: Freivalds' by random vectors and that of every element.
namespace steelyard::tests {

template <class Element>
using View = gemm::ConstHostMatrix<Element>;

template <class Element>
struct ByVectors {
  using Scalar = Element;
  static constexpr double most = 0.5;  ///< error of a right product
  static double error(const gemm::Problem& problem, const View<Scalar>& a, const View<Scalar>& b,
                      const View<Scalar>& before, const View<Scalar>& c, std::uint64_t seed = 1) {
    return gemm::Freivalds<Scalar>(problem, seed, std::make_shared<gemm::Sharing>(problem), a, b, before).check(c);
  }
};

template <class Element>
struct ByElements {
  using Scalar = Element;
  static constexpr double most = 1.0;
  static double error(const gemm::Problem& problem, const View<Scalar>& a, const View<Scalar>& b,
                      const View<Scalar>& before, const View<Scalar>& c, std::uint64_t /*seed*/ = 1) {
    return gemm::full_comparison<Scalar>(problem, a, b, before, c);
  }
};

template <class Check, class Scalar>
double checked(const Product<Scalar>& x, std::uint64_t seed = 1) {
  return Check::error(x.problem, x.a.view(), x.b.view(), x.before.view(), x.c.view(), seed);
}

/// Of one row alone.
template <class Check, class Scalar>
double checked_row(const Product<Scalar>& x, std::int64_t row, std::uint64_t seed = 1) {
  const auto only = [row](const RoomyMatrix<Scalar>& matrix) {
    return matrix_block(matrix.view(), row, 1, 0, matrix.columns());
  };
  return Check::error(x.problem, only(x.a), x.b.view(), only(x.before), only(x.c), seed);
}

template <class Check, class Scalar>
void require_right(const Product<Scalar>& x) {
  CAPTURE(x.problem.m, x.problem.n, x.problem.k, x.problem.alpha, x.problem.beta);
  REQUIRE(checked<Check>(x) <= 1.0);
}

/// Whatever the signs are; in that row where it is not -1.
template <class Check, class Scalar>
void require_wrong(const Product<Scalar>& x, std::int64_t row) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(x.problem.m, x.problem.n, x.problem.k, x.problem.beta, row);
    REQUIRE(checked<Check>(x, seed) > 1.0);
    if (row >= 0) REQUIRE(checked_row<Check>(x, row, seed) > 1.0);
  }
}

inline constexpr std::array<std::pair<double, double>, 3> factors{{{1.0, 0.0}, {-0.3, 0.7}, {2.5, -1.0}}};

}  // namespace steelyard::tests
