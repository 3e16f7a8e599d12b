#include "models/communication/platform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/errors.hpp"

namespace steelyard::models {

double Channel::time_s(double bytes) const {
  if (hockney.empty()) throw InvalidArgument(fmt::format("channel {} ({}) has no Hockney parameters", id, name));
  return PiecewiseHockney{hockney}.time_s(bytes);
}

double Platform::error() const {
  double largest = 0.0;
  for (const Channel& channel : channels) largest = std::max(largest, channel.error);
  return largest;
}

double Platform::memory_bytes_per_s() const {
  double slowest = 0.0;
  for (const PlatformNode& node : nodes) {
    const double known = node.memory_bytes_per_s;
    if (known > 0.0) slowest = slowest > 0.0 ? std::min(slowest, known) : known;
  }
  return slowest;
}

const Channel& Platform::channel(int id) const {
  std::vector<int> ids;
  for (const Channel& channel : channels) {
    if (channel.id == id) return channel;
  }
  for (const Channel& channel : channels) ids.push_back(channel.id);
  throw InvalidArgument(
      fmt::format("{}: has no channel {} ({})", path.empty() ? "platform" : path, id,
                  ids.empty() ? "it has none" : fmt::format("expected one of {}", fmt::join(ids, ", "))));
}

}  // namespace steelyard::models
