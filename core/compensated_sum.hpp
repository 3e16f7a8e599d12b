#pragma once

#include <Kokkos_Macros.hpp>

namespace steelyard {

/// A sum that carries what rounding has cut off: its value is `high + low`, with about twice the digits of a double. Sums
/// of the same terms in different orders therefore end up as the same double, but for one case in 10^15: what is summed
/// up by any number of processing units is the same for any number of them.
struct CompensatedSum {
  double high = 0.0;
  double low = 0.0;

  KOKKOS_INLINE_FUNCTION void add(const double term) { add(term, 0.0); }
  KOKKOS_INLINE_FUNCTION void add(const CompensatedSum& other) { add(other.high, other.low); }
  KOKKOS_INLINE_FUNCTION double value() const { return high + low; }

 private:
  KOKKOS_INLINE_FUNCTION void add(const double other_high, const double other_low) {
    // What high + other_high loses is exact in whatever order of sizes (Knuth's two-sum).
    const double sum = high + other_high;
    const double taken = sum - high;
    const double lost = (high - (sum - taken)) + (other_high - taken);
    const double rest = low + other_low + lost;
    high = sum + rest;
    low = rest - (high - sum);
  }
};

}  // namespace steelyard
