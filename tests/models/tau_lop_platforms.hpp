#pragma once

#include <cmath>
#include <map>
#include <vector>

#include "models/communication/platform.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::tests {

/// A channel without overhead through which k transmissions of m bytes each take m k^alpha / bandwidth: 0 for one that
/// nobody shares, 1 for one without reserve.
struct SharedChannel {
  double bandwidth_bytes_per_s = 1.0;
  double alpha = 1.0;
};
using SharedChannels = std::map<int, SharedChannel>;

/// Tabulated so that it is exact for up to `most` concurrent transmissions. Times of its stages add up.
inline models::Platform additive_platform(const SharedChannels& channels, int most = 64) {
  models::Platform platform;
  for (const auto& [id, shared] : channels) {
    std::vector<models::TransferPoint> points;
    for (int k = 1; k <= most; ++k)
      points.push_back({1.0, k, std::pow(k, shared.alpha) / shared.bandwidth_bytes_per_s});
    models::Channel channel;
    channel.id = id;
    channel.path.push_back(id);
    channel.tau_lop = models::TauLopTables{models::SizeTable({{1.0, 0.0}}, models::SizeTable::Outside::constant),
                                           models::TransferTable(points)};
    platform.channels.push_back(channel);
  }
  return platform;
}

/// Channels 0, 1, … of bandwidth 1 without reserve: a byte of k transmissions each takes k seconds.
inline models::Platform unit_platform(int channels, int most = 64) {
  SharedChannels shared;
  for (int id = 0; id < channels; ++id) shared[id] = {};
  return additive_platform(shared, most);
}

inline SharedChannels random_shared_channels(Random& random, int count) {
  SharedChannels channels;
  for (int id = 0; id < count; ++id) {
    const int kind = whole(random, 0, 3);
    const double alpha = kind == 0 ? 0.0 : kind == 1 ? 1.0 : uniform(random, 0.0, 1.0);
    channels[id] = {kind == 3 ? 1.0 : std::exp(uniform(random, -1.0, 1.0)), alpha};
  }
  return channels;
}

/// As a machine is measured: overheads that grow with size, transfer times that are not proportional to it, networks
/// whose messages also pass through shared memory.
inline models::Platform measured_platform(Random& random, int channels) {
  models::Platform platform;
  for (int id = 0; id < channels; ++id) {
    std::vector<models::SizeTable::Point> overhead;
    std::vector<models::TransferPoint> transfer;
    double overhead_s = uniform(random, 0.0, 2.0);
    for (const double bytes : {1.0, 8.0, 64.0, 512.0}) {
      overhead.push_back({bytes, overhead_s});
      overhead_s += uniform(random, 0.0, 1.0);
    }
    std::map<int, double> total_s;
    double previous = 0.0;
    for (const double bytes : {0.5, 3.0, 10.0, 40.0, 200.0}) {
      for (const int concurrency : {1, 2, 3, 8, 64}) {
        total_s[concurrency] += (bytes - previous) * std::pow(concurrency, uniform(random, 0.2, 0.9)) *
                                std::exp(uniform(random, -0.5, 0.5));
        transfer.push_back({bytes, concurrency, total_s[concurrency]});
      }
      previous = bytes;
    }
    models::Channel channel;
    channel.id = id;
    channel.path.push_back(id);
    if (whole(random, 0, 1) == 1) channel.path = id == 0 ? std::vector<int>{0, 0} : std::vector<int>{0, id, 0};
    channel.tau_lop = models::TauLopTables{models::SizeTable(overhead, models::SizeTable::Outside::constant),
                                           models::TransferTable(transfer)};
    platform.channels.push_back(channel);
  }
  return platform;
}

}  // namespace steelyard::tests
