#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace steelyard::partition {

/// Whole numbers from 0 on, a bit each.
using Bits = std::vector<std::uint64_t>;

/// @param number any; false beyond the last bit
inline bool has(const Bits& bits, std::int64_t number) {
  const auto word = static_cast<std::size_t>(number >> 6);
  return word < bits.size() && (bits[word] >> (number & 63) & 1U) != 0;
}

/// Greatest common divisor of numbers >= 0; 0 where none is larger.
std::int64_t common_divisor(std::span<const std::int64_t> numbers);

/// The sums below `length` of a number of the set and one of `sizes`, in O(runs log(longest run) length / 64), where a
/// run of sizes rises by `stride`. @param sizes increasing, >= 0
Bits sumset(const Bits& set, std::span<const std::int64_t> sizes, std::int64_t stride, std::int64_t length);

/// Which totals up to a limit are sums with one summand from each set added so far: sumsets S_1 + S_2 + … in Z, the
/// decision behind exact().
///
/// Bits for the small sums; from some point on most sumsets repeat themselves with a period (1 where every total can be
/// reached, 2 where only even ones can, …), and there one period stands for all the rest. That it does repeat is read
/// off the bits, never assumed, so contains() is exact for every input. Adding a set costs a sumset() of `length` bits,
/// at most limit + 1 and about the largest summand once the sums repeat.
class SumSet {
 public:
  /// Holds the sum 0 only. Sums above `limit` >= 0 are forgotten.
  explicit SumSet(std::int64_t limit) : limit_(limit) {}

  /// Adds a summand. @param sizes increasing, the first one 0
  void add(std::span<const std::int64_t> sizes);

  /// @param sum any; false below 0 and above the limit
  bool contains(std::int64_t sum) const;

  /// Equally spaced totals that can all be reached.
  struct Run {
    std::int64_t first = 0;
    std::int64_t last = -1;  ///< below `first` where there is none
  };
  /// The longest run residue, residue + stride, … without a hole, the first of the longest; empty only where no sum has
  /// this residue. @param stride >= 1 @param residue 0 <= residue < stride
  Run longest_run(std::int64_t residue, std::int64_t stride) const;

 private:
  /// Writes repeated sums out, up to `length` bits.
  void unroll(std::int64_t length);
  /// Keeps one period where the sums repeat with `period`.
  void shorten(std::int64_t period);
  /// The last x for which sums x and x + period differ; -1 where none do.
  std::int64_t last_difference(std::int64_t period) const;

  std::int64_t limit_;
  std::int64_t length_ = 1;  ///< bits in use
  std::int64_t reach_ = 0;   ///< largest sum, or the limit
  std::int64_t period_ = 0;  ///< of the sums from length_ - period_ up to the limit; 0: there are none from length_ on
  std::int64_t common_ = 0;  ///< greatest common divisor of all sizes so far
  Bits bits_{1};
};

}  // namespace steelyard::partition
