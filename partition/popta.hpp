#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "partition/time_table.hpp"

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

/// The least makespan of identical processors: min max_i t(x_i) subject to x_1 + … + x_p = total, every x_i in the one
/// table or 0. Equal loads are not assumed: where times fall with size, unequal ones are faster. Bisects over the times
/// that occur; within a time, RepeatedSums tells whether p sizes sum to the total, in about 2 log2 p steps instead of
/// one per processor. Sizes count in steps of their greatest common divisor. The larger slices come first.
/// Source: 002, section 6.3 (POPTA as cited there), for clusters of identical nodes.
/// @param processors >= 1
/// @throws InvalidArgument as require_feasible(), for a total above 2^27 steps, and where no sum of sizes is `total`
Distribution popta(std::int64_t total, const TimeTable& table, std::int64_t processors);

/// Solves for models, tabulated at every size from 1 to `total`. It cannot be among algorithms(), which take any
/// models, but is of their signature. @throws InvalidArgument where models are not the same (see same_model()) and as
/// above
Distribution popta(std::int64_t total, Models models);

}  // namespace steelyard::partition
