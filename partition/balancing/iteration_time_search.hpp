#pragma once

#include <functional>
#include <span>

#include "partition/balancing/search_range.hpp"

namespace steelyard::partition {

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
