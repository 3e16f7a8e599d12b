#include "partition/unit_subsets.hpp"

#include <algorithm>
#include <iterator>

namespace steelyard::partition {

UnitSet without(const UnitSet& set, std::size_t unit) {
  UnitSet rest;
  std::copy_if(set.begin(), set.end(), std::back_inserter(rest), [&](std::size_t other) { return other != unit; });
  return rest;
}

std::vector<UnitSet> without_one(const UnitSet& set) {
  std::vector<UnitSet> sets;
  for (const std::size_t unit : set) sets.push_back(without(set, unit));
  return sets;
}

UnitSet with(const UnitSet& set, std::size_t unit) {
  UnitSet joined = set;
  const auto place = std::lower_bound(joined.begin(), joined.end(), unit);
  if (place == joined.end() || *place != unit) joined.insert(place, unit);
  return joined;
}

std::vector<UnitSet> all_subsets(std::size_t count, int most) {
  constexpr std::size_t most_bits = 20;
  std::vector<UnitSet> sets;
  if (count > most_bits || (std::uint64_t{1} << count) - 1 > static_cast<std::uint64_t>(std::max(0, most))) return sets;
  for (std::uint64_t bits = (std::uint64_t{1} << count) - 1; bits > 0; --bits) {
    UnitSet set;
    for (std::size_t unit = 0; unit < count; ++unit) {
      if ((bits >> unit & 1) != 0) set.push_back(unit);
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace steelyard::partition
