#pragma once

#include <functional>
#include <vector>

#include "partition/algorithms.hpp"
#include "partition/distribution.hpp"
#include "partition/rectangles/column.hpp"

namespace steelyard::partition {

/// Seconds that each unit communicates when the units have these rectangles; 0 for one that sends and receives nothing.
using RectangleCost = std::function<std::vector<double>(const ColumnPartition& partition)>;

/// Rectangles with what their computation and communication cost.
struct CostedColumns {
  ColumnPartition partition;
  std::vector<double> computation_s;    ///< of each unit
  std::vector<double> communication_s;  ///< of each unit

  /// Seconds until the last unit has computed and communicated.
  double total_s() const;
};

/// Rectangles of blocks with the least max_i of t_i(x_i) + c_i(x) that this search finds; a unit whose communication
/// costs more than its computation gains gets none. For a set of units, areas come from `algorithm` over the models
/// delayed by c_i, t_i(x) + c_i, and are arranged in every number of columns that there can be; distribution and costs
/// take turns as long as that shortens the total. Of the sets of units it tries all where there are at most
/// `most_subsets` of them, otherwise it leaves out one unit at a time, always the one whose loss shortens the total
/// most, while one does. Never longer than `algorithm` on all units in the best number of columns. Source: 001, section
/// 1, figure 2 (models of computation and of communication together choose among distributions), and section 4.1.
/// @param cost one entry per unit, none negative
/// @throws InvalidArgument as the algorithm does, and for costs that are not as many as units, negative or NaN
CostedColumns communication_aware(const Extents& extents, Models models, const Algorithm& algorithm,
                                  const RectangleCost& cost, int most_subsets = 256);

}  // namespace steelyard::partition
