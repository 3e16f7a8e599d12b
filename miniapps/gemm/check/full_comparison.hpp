#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/sweep/host_row.hpp"
#include "miniapps/gemm/check/row_products.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Whether the full comparison takes well below a second on one core.
inline bool worth_full_comparison(const Problem& problem) { return problem.flops() <= 2e8; }

/// The comparison of a row's elements; see full_comparison().
template <class Scalar>
struct CompareRow {
  static constexpr bool is_float = std::is_same_v<Scalar, float>;
  using Wide = std::conditional_t<is_float, double, long double>;
  /// Elements of a row that are summed up side by side: SIMD for double, as many as registers hold for long double.
  static constexpr std::int64_t at_once = is_float ? 64 : 2;
  struct Sums {
    std::array<Wide, at_once> value{}, magnitude{};
  };

  Wide alpha, beta;  ///< as the multiplication rounds them to Scalar
  std::int64_t k;    ///< 0 where A and B are not read
  ConstHostMatrix<Scalar> a, b, c_before, c;

  /// The largest error of a row.
  double operator()(const std::int64_t row) const {
    const auto columns = static_cast<std::int64_t>(c.extent(1));
    double largest = 0.0;
    std::int64_t column = 0;
    for (; column + at_once <= columns; column += at_once) {
      const Sums sums = add_products<at_once>(row, column);
      for (std::int64_t j = 0; j < at_once; ++j) largest = std::max(largest, error(row, column + j, sums, j));
    }
    for (; column < columns; ++column) largest = std::max(largest, error(row, column, add_products<1>(row, column), 0));
    return largest;
  }

 private:
  template <std::int64_t columns>
  Sums add_products(const std::int64_t row, const std::int64_t column) const {
    Sums sums;
    for (std::int64_t l = 0; l < k; ++l) {
      const Wide element = a(row, l);
      const Scalar* const elements = &b(l, column);
      for_columns(columns, [&](const std::int64_t j) {
        const Wide product = element * static_cast<Wide>(elements[j]);
        sums.value[j] += product;
        sums.magnitude[j] += std::fabs(product);
      });
    }
    return sums;
  }

  double error(const std::int64_t row, const std::int64_t column, const Sums& sums, const std::int64_t j) const {
    const Wide before = beta == 0 ? Wide{0} : beta * static_cast<Wide>(c_before(row, column));
    const Wide product = k == 0 ? Wide{0} : alpha * sums.value[j];
    const Wide expected = product + before;
    const auto found = static_cast<Wide>(c(row, column));
    if (std::isfinite(expected) && std::isfinite(found)) {
      const Wide size = (k == 0 ? Wide{0} : std::fabs(alpha) * sums.magnitude[j]) + std::fabs(before);
      return static_cast<double>(std::fabs(found - expected) / tolerance(size));
    }
    const bool same = std::isnan(expected) ? std::isnan(found) : expected == found;
    if (same || order_decides(row, column, !std::isfinite(found))) return 0.0;
    return std::numeric_limits<double>::infinity();
  }

  Wide tolerance(const Wide size) const {
    constexpr Wide unit = static_cast<Wide>(std::numeric_limits<Scalar>::epsilon()) / 2;
    constexpr Wide own_unit = std::numeric_limits<Wide>::epsilon() / 2;
    const Wide terms = static_cast<Wide>(k);
    // A device may take numbers below the least normal one for 0.
    const Wide underflow = std::numeric_limits<Scalar>::min() * (terms * std::max(Wide{1}, std::fabs(alpha)) + 3);
    return (unit + own_unit) * (terms + 3) * size + underflow;
  }

  /// Whether numbers that are not finite themselves leave open what the element is.
  bool order_decides(const std::int64_t row, const std::int64_t column, const bool found_special) const {
    const bool special_factor = (k > 0 && !std::isfinite(alpha)) || !std::isfinite(beta);
    if (special_factor) return found_special && ((k > 0 && std::isinf(alpha)) || std::isinf(beta));
    Wide size = 0;
    bool special = false;
    const auto add = [&](const Wide term) {
      if (std::isfinite(term)) {
        size += std::fabs(term);
      } else {
        special = true;
      }
    };
    for (std::int64_t l = 0; l < k; ++l) add(static_cast<Wide>(a(row, l)) * static_cast<Wide>(b(l, column)));
    if (k > 0) size *= std::max(Wide{1}, std::fabs(alpha));
    if (beta != 0) add(std::max(Wide{1}, std::fabs(beta)) * static_cast<Wide>(c_before(row, column)));
    return (found_special || !special) && !(size < std::numeric_limits<Scalar>::max());
  }
};

/// Compares every element of some rows of C with its own inner product, computed in double for float and in long double
/// for double, on the host unit's threads.
///
/// NaN must be NaN and Inf the same Inf. Only where the order of operations decides which of them it is are they
/// equally right: where alpha or beta is Inf, and where a sum on the way may leave the range of Scalar; and there, too,
/// a number. A and B are not read where alpha or k is 0, nor C' where beta is.
/// @param a, b, c_before, c rows x k, k x n, rows x n, rows x n in host memory; c_before: before the multiplication
/// @return the largest deviation, as a share of (u + w) (k + 3) (|alpha| sum_l |A_il B_lj| + |beta C'_ij|) and losses
/// to underflow, with the unit roundoffs u of Scalar and w of the comparison: the worst case for sums in any order;
/// infinity where a NaN or Inf is missing or should not be there
/// @throws InvalidArgument for extents that do not fit, of matrices that are read
template <class Scalar>
double full_comparison(const Problem& problem, const ConstHostMatrix<Scalar>& a, const ConstHostMatrix<Scalar>& b,
                       const ConstHostMatrix<Scalar>& c_before, const ConstHostMatrix<Scalar>& c) {
  const auto rows = static_cast<std::int64_t>(c.extent(0));
  const auto alpha = static_cast<Scalar>(problem.alpha), beta = static_cast<Scalar>(problem.beta);
  const std::int64_t k = alpha == Scalar{0} ? 0 : problem.k;
  expect_extents("C", c, rows, problem.n);
  if (k > 0) {
    expect_extents("A", a, rows, k);
    expect_extents("B", b, k, problem.n);
  }
  if (beta != Scalar{0}) expect_extents("C before", c_before, rows, problem.n);
  return largest_error(rows, CompareRow<Scalar>{alpha, beta, k, a, b, c_before, c});
}

}  // namespace steelyard::gemm
