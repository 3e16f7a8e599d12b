#include "models/communication/tau_lop.hpp"

#include <fmt/format.h>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

const TauLopTables& tables(const Channel& channel) {
  if (!channel.tau_lop) {
    throw InvalidArgument(fmt::format("channel {} ({}) has no tau-Lop parameters", channel.id, channel.name));
  }
  return *channel.tau_lop;
}

}  // namespace

double TauLop::overhead_s(int channel, double bytes) const {
  return tables(platform_->channel(channel)).overhead.time_s(bytes);
}

double TauLop::transmission_s(int channel, double bytes, std::int64_t concurrency) const {
  const Channel& used = platform_->channel(channel);
  double seconds = tables(used).overhead.time_s(bytes);
  for (const int id : used.path) {
    const Channel& transfers = id == channel ? used : platform_->channel(id);
    try {
      seconds += tables(transfers).transfer.time_s(bytes, concurrency, beyond_);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("channel {} ({}): {}", transfers.id, transfers.name, error.what()));
    }
  }
  return seconds;
}

}  // namespace steelyard::models
