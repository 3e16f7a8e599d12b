#pragma once

#include <Kokkos_Macros.hpp>

namespace steelyard {

/// A sum that carries what rounding has cut off, twice: its value is `high + middle + low`, with about three times the
/// digits of a double. Where no bit of the sum lies more than 2^100 or so below the largest sum on the way to it,
/// value() is the exact sum, rounded once: the same double in whatever order terms and partial sums are added, by any
/// number of processing units. Infinities, NaNs and sums on the way beyond a double's range make it not finite.
struct CompensatedSum {
  double high = 0.0;
  double middle = 0.0;
  double low = 0.0;

  KOKKOS_INLINE_FUNCTION void add(const double term) {
    const double lost = add_exactly(high, term);
    low += add_exactly(middle, lost);
  }
  KOKKOS_INLINE_FUNCTION void add(const CompensatedSum& other) {
    const double lost = add_exactly(high, other.high);
    const double first = add_exactly(middle, other.middle);
    const double second = add_exactly(middle, lost);
    low = (low + other.low) + (first + second);
  }

  KOKKOS_INLINE_FUNCTION double value() const {
    // An infinity has made NaNs of what it cut off.
    if (!(high - high == 0.0)) return high;
    double first = high, second = middle, third = low;
    third = add_exactly(second, third);
    second = add_exactly(first, second);
    third = add_exactly(second, third);
    // Parts that overlapped may do so once more.
    second = add_exactly(first, second);
    third = add_exactly(second, third);
    // `first` is the sum, rounded to nearest, but where `second` is half of its last digit: then `third` decides.
    const double twice = 2.0 * second;
    const double neighbour = first + twice;
    const bool same_side = (second > 0.0 && third > 0.0) || (second < 0.0 && third < 0.0);
    return same_side && neighbour - first == twice ? neighbour : first;
  }

 private:
  /// Rounding error of `sum + term`, exact in whatever order of sizes (Knuth's two-sum).
  static KOKKOS_INLINE_FUNCTION double add_exactly(double& sum, const double term) {
    const double total = sum + term;
    const double taken = total - sum;
    const double lost = (sum - (total - taken)) + (term - taken);
    sum = total;
    return lost;
  }
};

}  // namespace steelyard
