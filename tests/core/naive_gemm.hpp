#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace steelyard::tests {

/// An element of alpha A B + beta C in long double, and how far any order of summation in Scalar may be from it.
struct NaiveElement {
  long double value = 0.0L;
  long double bound = 0.0L;
};

/// All elements, row after row; `at(i, j)` of each matrix gives an element. As in a BLAS, A and B do not count where
/// alpha is 0, nor C where beta is.
template <class Scalar, class A, class B, class C>
std::vector<NaiveElement> naive_gemm(std::int64_t m, std::int64_t n, std::int64_t k, Scalar alpha, const A& a,
                                     const B& b, Scalar beta, const C& c) {
  std::vector<NaiveElement> result;
  result.reserve(static_cast<std::size_t>(m * n));
  const long double unit = std::numeric_limits<Scalar>::epsilon();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      long double sum = 0.0L, magnitude = 0.0L;
      for (std::int64_t l = 0; l < k && alpha != Scalar{0}; ++l) {
        const long double product = static_cast<long double>(a.at(i, l)) * b.at(l, j);
        sum += product;
        magnitude += std::fabs(product);
      }
      const long double before = beta == Scalar{0} ? 0.0L : static_cast<long double>(beta) * c.at(i, j);
      const long double products = alpha == Scalar{0} ? 0.0L : static_cast<long double>(alpha) * sum;
      result.push_back(
          {products + before, static_cast<long double>(k + 3) * unit *
                                  (std::fabs(static_cast<long double>(alpha)) * magnitude + std::fabs(before))});
    }
  }
  return result;
}

/// Whether an element is as it should be: within the bound, or the same NaN or infinity.
template <class Scalar>
bool agrees(Scalar found, const NaiveElement& expected) {
  if (std::isnan(expected.value)) return std::isnan(found);
  if (std::isinf(expected.value)) return static_cast<long double>(found) == expected.value;
  return std::fabs(static_cast<long double>(found) - expected.value) <= expected.bound;
}

}  // namespace steelyard::tests
