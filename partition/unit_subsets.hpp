#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace steelyard::partition {

/// Processing units that take part, by number, increasing.
using UnitSet = std::vector<std::size_t>;

/// All units but one.
UnitSet without(const UnitSet& set, std::size_t unit);
/// The set without each of its units in turn.
std::vector<UnitSet> without_one(const UnitSet& set);
/// One unit more.
UnitSet with(const UnitSet& set, std::size_t unit);
/// Every set of `count` units but the empty one, all units first, or nothing where that is more than `most` sets.
std::vector<UnitSet> all_subsets(std::size_t count, int most);

/// The set of units with the shortest Result::total_s(), and in Result::left_out the others with what their taking part
/// would cost: the best of all sets where there are at most `most` of them, otherwise one unit left out after the
/// other, always the one whose loss shortens the total most. Of equals the first, so that units are left out only for a
/// gain.
/// @param feasible whether a set can do the work at all; all units can
/// @param result the best on a set
template <class Result>
Result best_subset(std::size_t count, int most, const std::function<bool(const UnitSet&)>& feasible,
                   const std::function<Result(const UnitSet&)>& result) {
  UnitSet set(count);
  for (std::size_t i = 0; i < count; ++i) set[i] = i;
  Result best = result(set);
  UnitSet best_set = set;
  const auto is_better = [&](const UnitSet& candidate_set) {
    if (candidate_set.empty() || !feasible(candidate_set)) return false;
    Result candidate = result(candidate_set);
    if (!(candidate.total_s() < best.total_s())) return false;
    best = std::move(candidate);
    best_set = candidate_set;
    return true;
  };
  const std::vector<UnitSet> all = all_subsets(count, most);
  for (const UnitSet& subset : all) is_better(subset);
  for (bool shorter = all.empty(); shorter;) {
    shorter = false;
    for (const UnitSet& subset : without_one(best_set)) shorter = is_better(subset) || shorter;
  }
  for (std::size_t unit = 0; unit < count; ++unit) {
    const UnitSet joined = with(best_set, unit);
    if (joined.size() == best_set.size()) continue;
    best.left_out.push_back({static_cast<int>(unit), result(joined).total_s() - best.total_s()});
  }
  return best;
}

}  // namespace steelyard::partition
