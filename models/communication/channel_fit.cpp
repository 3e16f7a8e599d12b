#include "models/communication/channel_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

/// T(m, tau) by concurrency and then size.
using TimesBySize = std::map<double, double>;

std::map<int, TimesBySize> by_concurrency(const ChannelTimes& times) {
  std::map<int, TimesBySize> result;
  for (const MessageTime& message : times.one_way) result[1][message.bytes] = message.time_s;
  for (const auto& [concurrency, ring] : times.rings) {
    for (const MessageTime& message : ring) result[concurrency][message.bytes] = message.time_s;
    if (result[concurrency].size() != result[1].size()) {
      throw InvalidArgument(
          fmt::format("{} sizes of {} concurrent transmissions and {} of single ones (expected the same)",
                      result[concurrency].size(), concurrency, result[1].size()));
    }
  }
  return result;
}

/// The most that can be overhead if transfers are to satisfy L(m, tau) <= tau L(m, 1).
double unshared_s(const std::map<int, TimesBySize>& measured, double bytes, double overhead_s) {
  const double single_s = measured.at(1).at(bytes);
  double most_s = std::min(overhead_s, single_s);
  for (const auto& [tau, times] : measured) {
    const auto concurrent = times.find(bytes);
    if (concurrent == times.end()) throw InvalidArgument(fmt::format("no time of {} bytes, {} at once", bytes, tau));
    if (tau > 1) most_s = std::min(most_s, (tau * single_s - concurrent->second) / (tau - 1));
  }
  return std::max(0.0, most_s);
}

}  // namespace

TauLopTables fit_tau_lop(const ChannelTimes& times, int id, const std::vector<int>& path, const Platform& platform) {
  const auto own = static_cast<double>(std::count(path.begin(), path.end(), id));
  if (own == 0.0) throw InvalidArgument(fmt::format("channel {} is not on its own path", id));
  const std::map<int, TimesBySize> measured = by_concurrency(times);
  if (measured.empty()) throw InvalidArgument("no times of single transmissions (expected some)");
  std::vector<SizeTable::Point> overheads;
  std::vector<TransferPoint> transfers;
  for (const auto& [bytes, single_s] : measured.at(1)) {
    const bool is_eager = bytes <= times.eager_limit_bytes;
    const double overhead_s = unshared_s(measured, bytes, is_eager ? times.empty_s : times.empty_synchronous_s);
    overheads.push_back({bytes, overhead_s});
    for (const auto& [tau, by_size] : measured) {
      double rest_s = by_size.at(bytes) - overhead_s;
      for (const int other : path) {
        if (other == id) continue;
        const Channel& channel = platform.channel(other);
        if (!channel.tau_lop) throw InvalidArgument(fmt::format("channel {} has no tau-Lop parameters", other));
        rest_s -= channel.tau_lop->transfer.time_s(bytes, tau);
      }
      if (rest_s < 0.0) {
        throw InvalidArgument(fmt::format(
            "{} bytes, {} at once: the other transfers of the path take longer than the transmission", bytes, tau));
      }
      transfers.push_back({bytes, tau, rest_s / own});
    }
  }
  return {SizeTable(std::move(overheads), SizeTable::Outside::constant), TransferTable(std::move(transfers))};
}

Channel fit_channel(const ChannelTimes& times, Channel channel, const Platform& platform) {
  channel.tau_lop = fit_tau_lop(times, channel.id, channel.path, platform);
  channel.hockney = fit_piecewise_hockney(times.one_way).segments;
  LogGPTimes loggp = times.loggp;
  loggp.one_way = times.one_way;
  channel.loggp = fit_loggp(loggp);
  return channel;
}

}  // namespace steelyard::models
