#include "models/communication/loggph.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"

namespace steelyard::models {

const LogGP& LogGPH::level(int level) const {
  const auto index = static_cast<std::size_t>(level);
  if (level < 0 || index >= levels.size()) {
    throw InvalidArgument(fmt::format("level {} of the hierarchy (it has {})", level, levels.size()));
  }
  return levels[index];
}

double LogGPH::time_s(int level, double bytes) const { return this->level(level).time_s(bytes); }

}  // namespace steelyard::models
