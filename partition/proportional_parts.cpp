#include "partition/proportional_parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace steelyard::partition {

std::vector<std::int64_t> proportional_parts(std::int64_t total, std::span<const double> shares,
                                             std::span<const double> seconds_per_part) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::int64_t> parts;
  std::vector<std::size_t> by_time;
  std::int64_t left = total;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double quota = static_cast<double>(total) * (shares[i] / sum);
    // A quota that is whole but for rounding errors counts as whole, else its unit would lose a part to another.
    parts.push_back(static_cast<std::int64_t>(std::floor(quota * (1.0 + 1e-12))));
    left -= parts.back();
    if (shares[i] > 0.0) by_time.push_back(i);
  }
  const auto time_s = [&](std::size_t i) { return static_cast<double>(parts[i] + 1) * seconds_per_part[i]; };
  std::stable_sort(by_time.begin(), by_time.end(), [&](std::size_t a, std::size_t b) { return time_s(a) < time_s(b); });
  for (std::int64_t i = 0; i < left; ++i) ++parts[by_time[static_cast<std::size_t>(i)]];
  return parts;
}

}  // namespace steelyard::partition
