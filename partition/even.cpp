#include "partition/even.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"

namespace steelyard::partition {

Distribution even(std::int64_t total, Models models) {
  require_feasible(total, models);
  const auto count = static_cast<std::int64_t>(models.size());
  std::vector<std::int64_t> units;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t share = total / count + (i < total % count ? 1 : 0);
    if (share > capacity(*models[static_cast<std::size_t>(i)], total)) {
      throw InvalidArgument(fmt::format("even share of {} computation units does not fit on unit {}, which holds {}",
                                        share, i, models[static_cast<std::size_t>(i)]->max_units()));
    }
    units.push_back(share);
  }
  return predict(std::move(units), models);
}

}  // namespace steelyard::partition
