#include "models/size_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

/// `size(share)` for shares from 0 to 1, with exact ends.
template <class Size>
std::vector<std::int64_t> spread(std::int64_t smallest, std::int64_t largest, int count, const Size& size) {
  if (!(smallest >= 1 && smallest <= largest)) {
    throw InvalidArgument(fmt::format("sizes from {} to {} (expected 1 <= from <= to)", smallest, largest));
  }
  if (count < 1 || (count == 1 && smallest != largest)) {
    throw InvalidArgument(fmt::format("{} sizes from {} to {} (expected at least {})", count, smallest, largest,
                                      smallest == largest ? 1 : 2));
  }
  std::vector<std::int64_t> sizes{smallest};
  for (int i = 1; i + 1 < count; ++i) {
    const std::int64_t next =
        std::clamp<std::int64_t>(std::llround(size(static_cast<double>(i) / (count - 1))), smallest, largest);
    if (next > sizes.back()) sizes.push_back(next);
  }
  if (largest > sizes.back()) sizes.push_back(largest);
  return sizes;
}

}  // namespace

std::vector<std::int64_t> linear_sizes(std::int64_t smallest, std::int64_t largest, int count) {
  return spread(smallest, largest, count, [&](double share) {
    return std::lerp(static_cast<double>(smallest), static_cast<double>(largest), share);
  });
}

std::vector<std::int64_t> geometric_sizes(std::int64_t smallest, std::int64_t largest, int count) {
  return spread(smallest, largest, count, [&](double share) {
    return static_cast<double>(smallest) *
           std::pow(static_cast<double>(largest) / static_cast<double>(smallest), share);
  });
}

}  // namespace steelyard::models
