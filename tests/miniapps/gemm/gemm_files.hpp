#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/core/naive_gemm.hpp"
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
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (found.rows != c.rows || found.columns != c.columns) return infinity;
    double largest = 0.0;
    auto next = found.values.begin();
    for (const auto& [value, bound] : naive_gemm(c.rows, c.columns, a.columns, static_cast<Scalar>(alpha), At{a}, At{b},
                                                 static_cast<Scalar>(beta), At{c})) {
      const auto element = static_cast<long double>(*next++);
      if (std::isfinite(value) ? std::isnan(element) : std::isnan(value) != std::isnan(element)) return infinity;
      if (std::isnan(value) || element == value) continue;
      // `bound` has two u, the distance of 1 and the next number.
      const long double share = std::isinf(value) ? infinity : std::abs(element - value) / (bound / 2.0L);
      largest = std::max(largest, static_cast<double>(share));
    }
    return largest;
  }

 private:
  struct At {
    const Grid<Scalar>& grid;
    Scalar at(std::int64_t i, std::int64_t j) const { return grid(i, j); }
  };
};

}  // namespace steelyard::tests
