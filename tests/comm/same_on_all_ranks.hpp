#pragma once

#include <algorithm>
#include <vector>

#include "comm/collective.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::tests {

/// Whether all ranks have these values, as many and the same to the bit. Collective.
inline bool same_on_all_ranks(const std::vector<double>& values) {
  const std::vector<double> counts = all_gather(session().comm(), {static_cast<double>(values.size())});
  if (std::any_of(counts.begin(), counts.end(), [&](double count) { return count != counts.front(); })) return false;
  const std::vector<double> all = all_gather(session().comm(), values);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != all[i % values.size()]) return false;
  }
  return true;
}

}  // namespace steelyard::tests
