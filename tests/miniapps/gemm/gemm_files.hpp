#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tests/miniapps/app_runs.hpp"
#include "tests/miniapps/grid.hpp"

namespace steelyard::tests {

/// A, B and C of a multiplication: as NumPy files for gemm and summa, and what they have to make of them.
template <class Scalar>
struct GemmFiles {
  Grid<Scalar> a, b, c;

  /// Random elements in [-1, 1).
  GemmFiles(std::int64_t m, std::int64_t n, std::int64_t k, unsigned seed = 1)
      : a(random_grid<Scalar>(m, k, seed)),
        b(random_grid<Scalar>(k, n, seed + 1)),
        c(random_grid<Scalar>(m, n, seed + 2)) {}

  void write(const TemporaryFolder& folder) const {
    write_grid(folder / "a.npy", a);
    write_grid(folder / "b.npy", b);
    write_grid(folder / "c.npy", c);
  }
  static Words arguments(bool with_c = true) {
    const Words words{"--type", sizeof(Scalar) == 8 ? "double" : "float", "--input", "a.npy", "b.npy"};
    return with_c ? words + Words{"c.npy"} : words;
  }

  /// The largest deviation of an element from alpha A B + beta C, as a share of what rounding may make of it when its
  /// terms are added up in any order: (k + 3) u (|alpha| sum_l |A_il B_lj| + |beta C_ij|). Infinite for other extents
  /// and where a NaN or Inf is not the one of a naive multiplication.
  double deviation(const Grid<Scalar>& found, double alpha, double beta) const {
    if (found.rows != c.rows || found.columns != c.columns) return std::numeric_limits<double>::infinity();
    double largest = 0.0;
    for (std::int64_t i = 0; i < c.rows; ++i) {
      for (std::int64_t j = 0; j < c.columns; ++j) {
        largest = std::max(largest, deviation(i, j, found(i, j), alpha, beta));
      }
    }
    return largest;
  }

 private:
  using Wide = std::conditional_t<std::is_same_v<Scalar, float>, double, long double>;

  double deviation(std::int64_t i, std::int64_t j, Scalar found, double alpha, double beta) const {
    Wide product = 0, size = 0;
    for (std::int64_t l = 0; l < a.columns && alpha != 0.0; ++l) {
      const Wide term = static_cast<Wide>(a(i, l)) * static_cast<Wide>(b(l, j));
      product += term;
      size += std::abs(term);
    }
    product *= static_cast<Wide>(alpha);
    const Wide before = beta == 0.0 ? Wide{0} : static_cast<Wide>(beta) * static_cast<Wide>(c(i, j));
    const Wide expected = product + before;
    if (!std::isfinite(expected)) {
      const bool same = std::isnan(expected) ? std::isnan(found) : static_cast<Wide>(found) == expected;
      return same ? 0.0 : std::numeric_limits<double>::infinity();
    }
    const Wide error = std::abs(static_cast<Wide>(found) - expected);
    if (error == 0) return 0.0;
    const Wide unit = static_cast<Wide>(std::numeric_limits<Scalar>::epsilon()) / 2;
    const Wide most =
        static_cast<Wide>(a.columns + 3) * unit * (size * static_cast<Wide>(std::abs(alpha)) + std::abs(before));
    return std::isnan(found) ? std::numeric_limits<double>::infinity() : static_cast<double>(error / most);
  }
};

}  // namespace steelyard::tests
