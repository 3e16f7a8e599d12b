#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "partition/algorithms.hpp"
#include "partition/column.hpp"
#include "partition/distribution.hpp"

namespace steelyard::partition {

/// Seconds that each unit communicates when the units have these slices; 0 for a unit that sends and receives nothing.
using SliceCost = std::function<std::vector<double>(std::span<const std::int64_t> units)>;

/// The same for rectangles.
using RectangleCost = std::function<std::vector<double>(const ColumnPartition& partition)>;

/// A unit that is better left without work.
struct LeftOut {
  int unit = -1;
  double gain_s = 0.0;  ///< by how much the total time would be longer if it took part as well, as well as it can
};

/// A distribution with what its communication costs.
struct CostedDistribution {
  Distribution distribution;            ///< predicted_s without communication
  std::vector<double> communication_s;  ///< of each unit
  std::vector<LeftOut> left_out;

  /// Seconds until the last unit has computed and communicated.
  double total_s() const;
};

/// The distribution with the least max_i of t_i(x_i) + c_i(x) that this search finds. For a set of units it takes turns
/// between distributing by `algorithm` over the models delayed by c_i, t_i(x) + c_i, and asking for the costs again,
/// as long as that shortens the total. Of the sets of units it tries all where there are at most `most_subsets` of
/// them, otherwise it leaves out one unit at a time, always the one whose loss shortens the total most, while one does.
/// Never longer than `algorithm` on all units. Source: 001, section 4 (cost of computation and communication together).
/// @param cost of one entry per unit, none negative
/// @throws InvalidArgument as the algorithm does, and for costs that are not as many as units, negative or NaN
CostedDistribution communication_aware(std::int64_t total, Models models, const Algorithm& algorithm,
                                       const SliceCost& cost, int most_subsets = 256);

/// Rectangles with what their communication costs.
struct CostedColumns {
  ColumnPartition partition;
  std::vector<double> computation_s;
  std::vector<double> communication_s;
  std::vector<LeftOut> left_out;

  double total_s() const;
};

/// The same for a matrix of blocks: areas from `algorithm` over the units of a set, arranged in every number of
/// columns that there can be. A computation unit is a block. Source: 001, section 4.1.
/// @throws InvalidArgument likewise
CostedColumns communication_aware(const Extents& extents, Models models, const Algorithm& algorithm,
                                  const RectangleCost& cost, int most_subsets = 256);

}  // namespace steelyard::partition
