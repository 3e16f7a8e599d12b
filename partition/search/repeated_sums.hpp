#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace steelyard::partition {

/// Which sums there are of `count` sizes out of one set, any of them as often as wanted, and which sizes they are made
/// of. Sums of k sizes are sums of two sums, of k / 2 and of the rest, so only about 2 log2(count) sets are needed:
/// bits from 0 to `total`. Each costs the lesser of (runs of neighbours in the one) (runs in the other) + total, and
/// (sizes in the one) total / 64.
class RepeatedSums {
 public:
  /// @param sizes > 0, increasing; 0 counts as one of them. @param count >= 1
  RepeatedSums(std::span<const std::int64_t> sizes, std::int64_t count, std::int64_t total);

  /// Whether `total` is a sum.
  bool reaches_total() const { return first_of(count_, total_) >= 0; }
  /// `count` sizes, decreasing, that sum to `total`: of equal numbers as close to each other as the halves that are
  /// tried from the middle on allow. Only where reaches_total().
  std::vector<std::int64_t> split() const;

 private:
  using Bits = std::vector<std::uint64_t>;

  void add_sums_of(std::int64_t count);
  std::int64_t first_of(std::int64_t count, std::int64_t sum) const;

  std::int64_t count_;
  std::int64_t total_;
  std::map<std::int64_t, Bits> sums_;  ///< of as many sizes; all but those of `count` themselves
};

}  // namespace steelyard::partition
