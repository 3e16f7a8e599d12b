#include "models/communication/loggph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"

namespace steelyard::models {

const LogGP& LogGPH::level(int level) const {
  const auto index = static_cast<std::size_t>(level);
  if (level < 0 || index >= levels.size()) {
    throw InvalidArgument(fmt::format("level {} of the hierarchy (it has {})", level, levels.size()));
  }
  return levels[index];
}

LogGPH LogGPH::of(const Platform& platform) {
  LogGPH model;
  for (const Channel& channel : platform.channels) {
    if (channel.id != static_cast<int>(model.levels.size()) || !channel.loggp) break;
    model.levels.push_back(*channel.loggp);
  }
  return model;
}

double LogGPH::time_s(int level, double bytes) const { return this->level(level).time_s(bytes); }

double LogGPH::time_s(const Expression& expression, double bytes_per_unit) const {
  if (expression.kind == Expression::Kind::transmission) {
    return time_s(expression.channel.channel, bytes_per_unit * expression.size);
  }
  double sum_s = 0.0, longest_s = 0.0;
  for (const Expression& part : expression.parts) {
    const double part_s = time_s(part, bytes_per_unit);
    sum_s += part_s;
    longest_s = std::max(longest_s, part_s);
  }
  return expression.kind == Expression::Kind::sequence ? sum_s : longest_s;
}

}  // namespace steelyard::models
