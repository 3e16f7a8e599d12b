#pragma once

#include <cstddef>
#include <cstdint>

namespace steelyard {

/// C = alpha A B + beta C in the terms of a BLAS: C has m rows and n columns, A k columns. All matrices lie row after
/// row; a leading dimension is the distance of two rows.
template <class Scalar>
struct GemmCall {
  int m = 0, n = 0, k = 0;
  Scalar alpha{};
  const Scalar* a = nullptr;
  int a_leading = 1;
  const Scalar* b = nullptr;
  int b_leading = 1;
  Scalar beta{};
  Scalar* c = nullptr;
  int c_leading = 1;

  bool empty() const { return m == 0 || n == 0; }

  /// One of `parts` multiplications that together give C: a range of its rows, or of its columns where these are more.
  GemmCall part(int number, int parts) const {
    GemmCall result = *this;
    const auto bound = [parts](int extent, int i) { return static_cast<int>(std::int64_t{extent} * i / parts); };
    if (m >= n) {
      const int first = bound(m, number);
      result.m = bound(m, number + 1) - first;
      result.a += static_cast<std::ptrdiff_t>(first) * a_leading;
      result.c += static_cast<std::ptrdiff_t>(first) * c_leading;
    } else {
      const int first = bound(n, number);
      result.n = bound(n, number + 1) - first;
      result.b += first;
      result.c += first;
    }
    return result;
  }
};

}  // namespace steelyard
