#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/layout.hpp"
#include "core/machine.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// Emulated slowness that the command line asks for: `host=F`, `device=F` (that unit of every rank) or `rankN=F` (every
/// unit of rank N), F >= 1. Factors for the same unit multiply.
class Slowdowns {
 public:
  Slowdowns() = default;
  /// @throws InvalidArgument naming the word
  explicit Slowdowns(const std::vector<std::string>& words);
  double factor(int rank, ProcessingUnit::Kind kind) const;
  /// The highest rank named; -1 for none.
  int highest_rank() const;

 private:
  std::map<std::string, double> factors_;
};

/// Where a rank is and what it was asked to drive.
struct PlanRequest {
  std::optional<UnitChoice> units;  ///< nothing: all that the build has
  int rank = 0;
  int rank_on_node = 0;
  int ranks_on_node = 1;
  const Layout* layout = nullptr;  ///< its line for this rank overrides `units` and chooses the cores
  CoreList launcher_cores;         ///< what the launcher bound this rank, and no other, to
  Slowdowns slowdowns;
};

/// Decides which units a rank drives and on which cores. Cores come from the layout; without one from the launcher,
/// where it bound the rank alone to two cores or more; otherwise the node's cores are shared out evenly, for a binding
/// to a single core is Open MPI's silent default for small jobs. A companion takes one core, near its GPU if it has
/// one.
/// @throws InvalidArgument for a companion that this build or machine lacks, a core that is not there, unknown
/// suboptions
RankUnits plan_units(const Machine& machine, const PlanRequest& request);

}  // namespace steelyard
