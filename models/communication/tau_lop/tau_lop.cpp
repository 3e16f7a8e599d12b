#include "models/communication/tau_lop/tau_lop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

const TauLopTables& tables(const Channel& channel) {
  if (!channel.tau_lop) {
    throw InvalidArgument(fmt::format("channel {} ({}) has no tau-Lop parameters", channel.id, channel.name));
  }
  return *channel.tau_lop;
}

/// Returns `seconds` of the tables, naming the channel where it throws.
template <typename Seconds>
double of_channel(const Channel& channel, const Seconds& seconds) {
  const TauLopTables& own = tables(channel);
  try {
    return seconds(own);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("channel {} ({}): {}", channel.id, channel.name, error.what()));
  }
}

double overhead_of(const Channel& channel, double bytes) {
  return of_channel(channel, [=](const TauLopTables& own) { return own.overhead.time_s(bytes); });
}

}  // namespace

double TauLop::overhead_s(int channel, double bytes) const { return overhead_of(platform_->channel(channel), bytes); }

double TauLop::overhead_matters_up_to_bytes(double share) const {
  std::set<int> channels;
  for (const Channel& channel : platform_->channels) {
    if (channel.tau_lop) channels.insert(channel.id);
  }
  return overhead_matters_up_to_bytes(channels, share);
}

double TauLop::overhead_matters_up_to_bytes(const std::set<int>& channels, double share) const {
  double largest = 0.0;
  for (const int id : channels) {
    for (const SizeTable::Point& point : tables(platform_->channel(id)).overhead.points()) {
      const bool matters = point.time_s > share * transmission_s(id, point.bytes);
      if (matters) largest = std::max(largest, point.bytes);
    }
  }
  return largest;
}

double TauLop::transmission_s(int channel, double bytes, std::int64_t concurrency) const {
  const Channel& used = platform_->channel(channel);
  double seconds = overhead_of(used, bytes);
  for (const int id : used.path) {
    seconds += of_channel(id == channel ? used : platform_->channel(id), [=, this](const TauLopTables& own) {
      return own.transfer.time_s(bytes, concurrency, beyond_);
    });
  }
  return seconds;
}

}  // namespace steelyard::models
