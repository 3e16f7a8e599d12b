#include "models/communication/channel_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

/// Seconds by size, by concurrency.
using Times = std::map<int, std::map<double, double>>;

void add(Times& times, int concurrency, const MessageTime& message) {
  const auto& [bytes, time_s] = message;
  if (!(std::isfinite(bytes) && bytes > 0.0 && std::isfinite(time_s) && time_s >= 0.0)) {
    throw InvalidArgument(
        fmt::format("{} bytes in {} s, {} at once (expected a finite size > 0 and a finite time >= 0)", bytes, time_s,
                    concurrency));
  }
  if (!times[concurrency].emplace(bytes, time_s).second) {
    throw InvalidArgument(fmt::format("two times of {} bytes, {} at once", bytes, concurrency));
  }
}

/// T(m, tau).
Times by_concurrency(const ChannelTimes& times) {
  Times result;
  for (const MessageTime& message : times.one_way) add(result, 1, message);
  for (const auto& [concurrency, ring] : times.rings) {
    if (concurrency < 2) throw InvalidArgument(fmt::format("a ring of {} (expected at least 2)", concurrency));
    for (const MessageTime& message : ring) add(result, concurrency, message);
    if (ring.size() != times.one_way.size()) {
      throw InvalidArgument(
          fmt::format("{} sizes of {} concurrent transmissions and {} of single ones (expected the same)", ring.size(),
                      concurrency, times.one_way.size()));
    }
    for (const auto& [bytes, unused] : result[1]) {
      if (!result[concurrency].contains(bytes)) {
        throw InvalidArgument(fmt::format("no time of {} bytes, {} at once", bytes, concurrency));
      }
    }
  }
  return result;
}

/// R(m, tau): what T(m, tau) leaves for overhead and own transfers.
Times without_others(Times times, int id, const std::vector<int>& path, const Platform& platform) {
  for (auto& [tau, by_size] : times) {
    for (auto& [bytes, rest_s] : by_size) {
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
    }
  }
  return times;
}

/// The most that can be overhead if the rest is to be the transfers, none of them negative, with L(m, tau) <= tau
/// L(m, 1).
double unshared_s(const Times& rests, double bytes, double overhead_s) {
  const double single_s = rests.at(1).at(bytes);
  double most_s = overhead_s;
  for (const auto& [tau, by_size] : rests) {
    const double rest_s = by_size.at(bytes);
    most_s = std::min(most_s, rest_s);
    if (tau > 1) most_s = std::min(most_s, (tau * single_s - rest_s) / (tau - 1));
  }
  return std::max(0.0, most_s);
}

/// LogGP's gap per byte is that of long messages: trains of the shortest, and of those in the last protocol.
LogGPTimes long_message_times(const ChannelTimes& times, const std::vector<HockneySegment>& protocols) {
  LogGPTimes result = times.loggp;
  result.one_way = times.one_way;
  if (protocols.size() < 2 || result.trains.empty()) return result;
  const double shortest = std::ranges::min(result.trains, {}, &MessageTime::bytes).bytes;
  const double last_protocol = protocols[protocols.size() - 2].up_to_bytes;
  std::erase_if(result.trains,
                [&](const MessageTime& train) { return train.bytes > shortest && train.bytes <= last_protocol; });
  return result;
}

double require_empty(double time_s) {
  if (!(std::isfinite(time_s) && time_s >= 0.0)) {
    throw InvalidArgument(fmt::format("an empty message in {} s (expected a finite time >= 0)", time_s));
  }
  return time_s;
}

}  // namespace

TauLopTables fit_tau_lop(const ChannelTimes& times, int id, const std::vector<int>& path, const Platform& platform) {
  const auto own = static_cast<double>(std::count(path.begin(), path.end(), id));
  if (own == 0.0) throw InvalidArgument(fmt::format("channel {} is not on its own path", id));
  if (times.one_way.empty()) throw InvalidArgument("no times of single transmissions (expected some)");
  const double empty_s = require_empty(times.empty_s);
  const double empty_synchronous_s = require_empty(times.empty_synchronous_s);
  const Times rests = without_others(by_concurrency(times), id, path, platform);
  std::vector<SizeTable::Point> overheads;
  std::vector<TransferPoint> transfers;
  for (const auto& [bytes, unused] : rests.at(1)) {
    const bool is_eager = bytes <= times.eager_limit_bytes;
    const double overhead_s = unshared_s(rests, bytes, is_eager ? empty_s : empty_synchronous_s);
    overheads.push_back({bytes, overhead_s});
    for (const auto& [tau, by_size] : rests) transfers.push_back({bytes, tau, (by_size.at(bytes) - overhead_s) / own});
  }
  return {SizeTable(std::move(overheads), SizeTable::Outside::constant), TransferTable(std::move(transfers))};
}

Channel fit_channel(const ChannelTimes& times, Channel channel, const Platform& platform) {
  channel.error = times.error;
  channel.tau_lop = fit_tau_lop(times, channel.id, channel.path, platform);
  channel.hockney = fit_piecewise_hockney(times.one_way).segments;
  channel.loggp = fit_loggp(long_message_times(times, channel.hockney));
  return channel;
}

}  // namespace steelyard::models
