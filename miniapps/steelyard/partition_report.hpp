#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "partition/column.hpp"
#include "partition/distribution.hpp"

namespace steelyard::tool {

/// What was asked for.
struct PartitionInput {
  std::string algorithm;
  std::int64_t total = 0;
  std::vector<std::string> names;  ///< of the units' models
};

/// A row per unit and the makespan; as JSON {"algorithm", "total", "units", "predicted_s", "makespan_s"}.
/// @param groups computation units of each node, where there are two levels: a line more, and "nodes" in JSON
std::string distribution_table(const PartitionInput& input, const partition::Distribution& distribution,
                               const std::vector<std::int64_t>& groups = {});
std::string distribution_json(const PartitionInput& input, const partition::Distribution& distribution,
                              const std::vector<std::int64_t>& groups = {});

/// The same with each unit's rectangle of blocks; JSON also has "rectangles" and "columns".
std::string columns_table(const PartitionInput& input, const partition::Distribution& distribution,
                          const partition::ColumnPartition& columns);
std::string columns_json(const PartitionInput& input, const partition::Distribution& distribution,
                         const partition::ColumnPartition& columns);

/// What one algorithm makes of the input, predicted by the same models for all.
struct ComparedAlgorithm {
  std::string name;
  partition::Distribution distribution;
};

/// A row per algorithm; as JSON {"total", "algorithms": [as above]}.
std::string compared_table(const PartitionInput& input, const std::vector<ComparedAlgorithm>& compared);
std::string compared_json(const PartitionInput& input, const std::vector<ComparedAlgorithm>& compared);

}  // namespace steelyard::tool
