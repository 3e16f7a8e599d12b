#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>

#include "partition/balancing/outcome.hpp"

namespace steelyard::partition {

/// How a search for the dividing line between two units goes on and when it ends.
struct SearchOptions {
  std::int64_t resolution = 1;  ///< computation units within which the line is to be found
  Repetition repetition;
  std::array<double, 2> max_units = {std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::infinity()};  ///< the most that each of the two holds
};

/// Sizes of the first unit such that both slices fit: from `least` to `most`.
struct SearchRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t even = 0;  ///< the even share, or what is nearest to it
};

/// @throws InvalidArgument for a total that does not fit, a resolution < 1, or unusable repetitions
SearchRange search_range(std::int64_t total, const SearchOptions& options);

/// Balance inside a node: binary search for the dividing line between two units, such that their kernels take equally
/// long: whichever clearly takes less time gets more. Ends with one of the two lines about the balance (`settled`), or
/// as soon as the times cannot be told apart (`within_spread`, `balanced` where they are equal). Both ends of the last
/// bracket are measured once more, and left again where that shows that noise has led there: 003 found such runs stuck
/// (figure 7.32).
///
/// Takes about log2(total) measurements where each tells, provided that more work takes longer. Where it does not, any
/// of the lines with equal times may be found, but none that is clearly slower than the even one. Predictions are the
/// measured times. Source: 003, sections 2.6.2 and 4.1.1.
/// @throws InvalidArgument as search_range(), for points of other sizes, and what `measure` throws
Outcome equal_times_search(std::int64_t total, const Measure& measure, const SearchOptions& options = {});

/// Runs a whole iteration, with everything that happens in it besides the kernels, with the given slices. The point's
/// size does not count.
using MeasureIteration = std::function<models::MeasuredPoint(std::span<const std::int64_t> units)>;

/// Balance inside a node: ternary search for the dividing line between two units with which a whole iteration takes
/// the least time, whether or not the kernels then take equally long. Of each two lines, at a third and two thirds of
/// the bracket, the clearly slower one and all beyond it are discarded. Where neither is clearly slower, both ends are,
/// if a line between is clearly faster, and otherwise the search ends (`within_spread`). The even line is measured
/// first; the result is the fastest of all lines that were measured, those within the spread of it after all rounds.
///
/// Takes about 2 log1.5(total) measurements where each tells. Exact without noise if the time is unimodal and not flat
/// anywhere but at its minimum. Predicts the iteration's time for each unit with work. Source: 003, section 2.6.2.
/// @throws InvalidArgument as search_range(), for times or intervals that are no numbers, and what `measure` throws
Outcome iteration_time_search(std::int64_t total, const MeasureIteration& measure, const SearchOptions& options = {});

}  // namespace steelyard::partition
