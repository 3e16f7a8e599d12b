#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace steelyard::partition {

/// Whole sizes from `first` to `last`, both included.
struct SizeRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

/// Increasing, with gaps in between.
using SizeRanges = std::vector<SizeRange>;

/// All sums up to `most` of a size of the one and a size of the other.
SizeRanges sum_of(const SizeRanges& one, const SizeRanges& other, std::int64_t most);

/// One size out of the ranges of each, so that they sum to `total`; nothing where none was found. Who has no gaps, or
/// only such as the others fill, costs next to nothing. For the rest, sums are kept as ranges: at most `most_ranges`
/// over all steps together, and where sums break up into more, the shortest ranges are let go. Only then can a split
/// that exists be missed. @param ranges each with 0 in its first range
std::optional<std::vector<std::int64_t>> split_in_ranges(std::int64_t total, std::span<const SizeRanges> ranges,
                                                         std::size_t most_ranges = std::size_t{1} << 20);

}  // namespace steelyard::partition
