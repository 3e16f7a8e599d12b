#include "partition/balancing/search_range.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"
#include "models/kinds/constant_model.hpp"

namespace steelyard::partition {

SearchRange search_range(std::int64_t total, const SearchOptions& options) {
  require_repetition(options.repetition);
  if (options.resolution < 1) {
    throw InvalidArgument(fmt::format("resolution of {} computation units (expected >= 1)", options.resolution));
  }
  const std::int64_t even = start_or_even(total, 2, {}, options.max_units).front();
  const models::ConstantModel first(1.0, options.max_units[0]);
  const models::ConstantModel second(1.0, options.max_units[1]);
  return {total - capacity(second, total), capacity(first, total), even};
}

}  // namespace steelyard::partition
