#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/layout.hpp"
#include "core/machine.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// Emulated slowness of units: `host=F`, `device=F` (of every rank) or `rankN=F` (both of rank N), F >= 1, multiplied.
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

/// Slowdowns of a layout's line: `slowdown=F` (both units), `host_slowdown=F` and `device_slowdown=F`, multiplied.
/// @throws InvalidArgument for a factor below 1 and for suboptions that no layout has
PerUnit<double> unit_slowdowns(const LayoutEntry& entry);

/// Threads that the user's environment asks for, and the variable that says so.
struct ThreadRequest {
  std::string variable;
  int threads = 0;
};

/// From `KOKKOS_NUM_THREADS` or else the first number of `OMP_NUM_THREADS`; nothing where neither is set.
/// @throws InvalidArgument for what is no number of threads
std::optional<ThreadRequest> threads_of_environment();

/// Where a rank is and what it was asked to drive.
struct PlanRequest {
  std::optional<UnitChoice> units;  ///< nothing: all that the build has
  int rank = 0;
  int rank_on_node = 0;
  int ranks_on_node = 1;
  const Layout* layout = nullptr;  ///< its line for this rank overrides `units` and chooses the cores
  CoreList launcher_cores;         ///< what the launcher, or the user with `taskset`, bound this rank to
  int launcher_sharer = 0;         ///< this rank's number among those of the node that are bound to the same cores
  int launcher_sharers = 1;        ///< how many these are
  std::optional<ThreadRequest> threads;
  Slowdowns slowdowns;
};

/// Decides which units a rank drives and on which cores. Cores come from the layout; without one from the launcher,
/// whose cores are shared out evenly among the ranks that it bound to the same ones; otherwise the node's cores are
/// shared out evenly. A companion takes one core, near its GPU if it has one. The host unit then has one thread a core,
/// or fewer where the layout or else the environment says so.
/// @throws InvalidArgument for a companion that is not there, a core that is not there, unknown suboptions
RankUnits plan_units(const Machine& machine, const PlanRequest& request);

}  // namespace steelyard
