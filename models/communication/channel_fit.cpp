#include "models/communication/channel_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"

namespace steelyard::models {
namespace {

void require_measured(const MessageTime& message) {
  const auto& [bytes, time_s] = message;
  if (std::isfinite(bytes) && bytes >= 0.0 && std::isfinite(time_s) && time_s > 0.0) return;
  throw InvalidArgument(
      fmt::format("message of {} bytes took {} s (expected finite sizes >= 0 and times > 0)", bytes, time_s));
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t least_sizes = 3;        // of a segment: two parameters are no evidence for themselves
constexpr double least_growth = 1e-6;         // of a segment's times, over its sizes
constexpr double least_relative_miss = 1e-6;  // what is missed by less counts as met: no measured time is that exact

/// The line of least squared relative misses through messages that come one by one. Rows (1, m | t) / t are rotated
/// into a triangle (Givens), which loses nothing where times span many orders of magnitude, unlike sums of squares.
class RelativeLine {
 public:
  void add(const MessageTime& message) {
    std::array<double, 3> row{1.0 / message.time_s, message.bytes / message.time_s, 1.0};
    for (std::size_t i = 0; i < 3; ++i) {
      const double length = std::hypot(triangle_[i][i], row[i]);
      if (length == 0.0) continue;
      const double c = triangle_[i][i] / length, s = row[i] / length;
      for (std::size_t j = i; j < 3; ++j) {
        const double upper = triangle_[i][j];
        triangle_[i][j] = c * upper + s * row[j];
        row[j] = c * row[j] - s * upper;
      }
    }
    shortest_s_ = std::min(shortest_s_, message.time_s);
    most_bytes_ = std::max(most_bytes_, message.bytes);
  }

  struct Fit {
    Hockney hockney;
    double squares = infinity;
    bool grows = false;
  };

  /// With latency >= 0 and growth by at least least_growth; squares are infinite where sizes are as good as one.
  Fit fit() const {
    const auto& [a, b, c] = triangle_;
    if (!(b[1] * b[1] > 1e-12 * (a[1] * a[1] + b[1] * b[1]))) return {};
    const double least_slope = least_growth * shortest_s_ / most_bytes_;
    double slope = b[2] / b[1];
    const bool grows = slope > least_slope;
    slope = std::max(slope, least_slope);
    double latency_s = (a[2] - a[1] * slope) / a[0];
    if (latency_s < 0.0) {
      latency_s = 0.0;
      slope = (a[1] * a[2] + b[1] * b[2]) / (a[1] * a[1] + b[1] * b[1]);
    }
    const double first = a[0] * latency_s + a[1] * slope - a[2], second = b[1] * slope - b[2];
    return {{latency_s, 1.0 / slope}, first * first + second * second + c[2] * c[2], grows};
  }

 private:
  std::array<std::array<double, 3>, 3> triangle_{};
  double shortest_s_ = infinity;
  double most_bytes_ = 0.0;
};

/// Criterion that fit_piecewise_hockney() minimizes over the number of segments; infinity where nothing is left to
/// judge it by.
double criterion(double squares, double messages, std::size_t segments) {
  const double parameters = 4.0 * static_cast<double>(segments) - 2.0;
  if (!(parameters < messages)) return infinity;
  const double variance = std::max(squares / (messages - parameters), least_relative_miss * least_relative_miss);
  return std::log(variance) + 0.299 * parameters * std::pow(std::log(messages), 2.1) / messages;
}

/// The cheapest ways to cut sorted messages of at least two sizes into 1, 2, … segments.
class Segmentation {
 public:
  Segmentation(std::span<const MessageTime> sorted, std::size_t most_segments) : sorted_(sorted) {
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (i == 0 || sorted[i].bytes != sorted[i - 1].bytes) starts_.push_back(i);
    }
    starts_.push_back(sorted.size());
    const std::size_t least = std::min(least_sizes, sizes());
    ways_.assign(std::min(most_segments, sizes() / least) + 1, std::vector<Way>(sizes() + 1));
    ways_[0][0].squares = 0.0;
    for (std::size_t from = 0; from + least <= sizes(); ++from) extend_from(from, least);
  }

  /// How many segments are the best by the criterion; 0 where no last segment grows.
  std::size_t best_count() const {
    std::size_t best = 0;
    double least = infinity;
    for (std::size_t count = 1; count < ways_.size(); ++count) {
      const double squares = ways_[count][sizes()].squares;
      if (squares == infinity) continue;
      const double value = criterion(squares, static_cast<double>(sorted_.size()), count);
      if (best == 0 || value < least) {
        best = count;
        least = value;
      }
    }
    return best;
  }

  std::vector<HockneySegment> segments(std::size_t count) const {
    std::vector<HockneySegment> segments(count);
    std::size_t to = sizes();
    for (std::size_t i = count; i > 0; --i) {
      const Way& way = ways_[i][to];
      const double end = i < count ? boundary(way.last, segments[i].hockney, to) : infinity;
      segments[i - 1] = {end, way.last};
      to = way.last_from;
    }
    return segments;
  }

 private:
  /// Sizes [0, to) in some number of segments.
  struct Way {
    double squares = infinity;
    std::size_t last_from = 0;  ///< first size of the last segment
    Hockney last;
  };

  std::size_t sizes() const { return starts_.size() - 1; }

  /// Appends each segment that begins with size `from` to the best ways to come there, which are known by then.
  void extend_from(std::size_t from, std::size_t least) {
    RelativeLine line;
    for (std::size_t to = from + 1; to <= sizes(); ++to) {
      for (std::size_t i = starts_[to - 1]; i < starts_[to]; ++i) line.add(sorted_[i]);
      if (to - from < least) continue;
      const RelativeLine::Fit fit = line.fit();
      if (to == sizes() && !fit.grows) continue;
      for (std::size_t count = 1; count < ways_.size(); ++count) {
        const double squares = ways_[count - 1][from].squares + fit.squares;
        if (squares < ways_[count][to].squares) ways_[count][to] = {squares, from, fit.hockney};
      }
    }
  }

  double boundary(const Hockney& lower, const Hockney& upper, std::size_t first_of_upper) const {
    const double last = sorted_[starts_[first_of_upper] - 1].bytes, next = sorted_[starts_[first_of_upper]].bytes;
    const double meeting =
        (upper.latency_s - lower.latency_s) / (1.0 / lower.bandwidth_bytes_per_s - 1.0 / upper.bandwidth_bytes_per_s);
    return meeting > last && meeting < next ? meeting : last;
  }

  std::span<const MessageTime> sorted_;
  std::vector<std::size_t> starts_;  ///< first message of each different size, and the number of messages
  std::vector<std::vector<Way>> ways_;
};

}  // namespace

Hockney fit_hockney(std::span<const MessageTime> messages) {
  return fit_piecewise_hockney(messages, 1).front().hockney;
}

std::vector<HockneySegment> fit_piecewise_hockney(std::span<const MessageTime> messages, int most_segments) {
  if (most_segments < 1) throw InvalidArgument(fmt::format("at most {} segments (expected >= 1)", most_segments));
  std::ranges::for_each(messages, require_measured);
  std::vector<MessageTime> sorted(messages.begin(), messages.end());
  std::ranges::stable_sort(sorted, {}, &MessageTime::bytes);
  if (sorted.empty() || sorted.front().bytes == sorted.back().bytes) {
    throw InvalidArgument("messages of one size (expected at least two sizes)");
  }
  const Segmentation segmentation(sorted, static_cast<std::size_t>(most_segments));
  const std::size_t count = segmentation.best_count();
  if (count == 0) throw InvalidArgument("message times do not grow with size: no bandwidth to fit");
  return segmentation.segments(count);
}

namespace {

double require_time(double time_s, const char* of) {
  if (std::isfinite(time_s) && time_s >= 0.0) return time_s;
  throw InvalidArgument(fmt::format("{}: {} s (expected a finite time >= 0)", of, time_s));
}

/// Median time of the smallest size.
MessageTime shortest(std::span<const MessageTime> messages) {
  if (messages.empty()) throw InvalidArgument("no one-way message time (expected at least one)");
  std::ranges::for_each(messages, require_measured);
  const double bytes = std::ranges::min(messages, {}, &MessageTime::bytes).bytes;
  std::vector<double> times_s;
  for (const MessageTime& message : messages) {
    if (message.bytes == bytes) times_s.push_back(message.time_s);
  }
  return {bytes, median(times_s)};
}

}  // namespace

LogGP fit_loggp(const LogGPTimes& times) {
  LogGP model;
  model.send_overhead_s = require_time(times.send_overhead_s, "send overhead");
  model.receive_overhead_s = require_time(times.receive_overhead_s, "receive overhead");
  const MessageTime message = shortest(times.one_way);
  model.gap_per_byte_s = 1.0 / fit_hockney(times.trains).bandwidth_bytes_per_s;
  const MessageTime train = shortest(times.trains);
  model.gap_s = std::max(0.0, train.time_s - std::max(train.bytes - 1.0, 0.0) * model.gap_per_byte_s);
  model.latency_s = std::max(0.0, message.time_s - model.time_s(message.bytes));
  return model;
}

namespace {

/// Seconds by size, by concurrency.
using Times = std::map<int, std::map<double, double>>;

/// T(m, tau).
Times by_concurrency(const ChannelTimes& times) {
  Times result;
  const auto add = [&](int concurrency, const std::vector<MessageTime>& messages) {
    for (const auto& [bytes, time_s] : messages) {
      if (!(std::isfinite(bytes) && bytes > 0.0 && std::isfinite(time_s) && time_s >= 0.0)) {
        throw InvalidArgument(
            fmt::format("{} bytes in {} s, {} at once (expected a finite size > 0 and a finite time >= 0)", bytes,
                        time_s, concurrency));
      }
      if (!result[concurrency].emplace(bytes, time_s).second) {
        throw InvalidArgument(fmt::format("two times of {} bytes, {} at once", bytes, concurrency));
      }
    }
  };
  add(1, times.one_way);
  for (const auto& [concurrency, ring] : times.rings) {
    if (concurrency < 2) throw InvalidArgument(fmt::format("a ring of {} (expected at least 2)", concurrency));
    add(concurrency, ring);
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

}  // namespace

TauLopTables fit_tau_lop(const ChannelTimes& times, int id, const std::vector<int>& path, const Platform& platform) {
  const auto own = static_cast<double>(std::count(path.begin(), path.end(), id));
  if (own == 0.0) throw InvalidArgument(fmt::format("channel {} is not on its own path", id));
  if (times.one_way.empty()) throw InvalidArgument("no times of single transmissions (expected some)");
  const double empty_s = require_time(times.empty_s, "empty message");
  const double empty_synchronous_s = require_time(times.empty_synchronous_s, "synchronous empty message");
  const Times rests = without_others(by_concurrency(times), id, path, platform);
  std::vector<SizeTable::Point> overheads;
  std::vector<TransferPoint> transfers;
  for (const auto& [bytes, single_s] : rests.at(1)) {
    double overhead_s = bytes <= times.eager_limit_bytes ? empty_s : empty_synchronous_s;
    // At most what leaves all transfers >= 0 and L(m, tau) <= tau L(m, 1).
    for (const auto& [tau, by_size] : rests) {
      const double rest_s = by_size.at(bytes);
      overhead_s = std::min(overhead_s, rest_s);
      if (tau > 1) overhead_s = std::min(overhead_s, (tau * single_s - rest_s) / (tau - 1));
    }
    overhead_s = std::max(0.0, overhead_s);
    overheads.push_back({bytes, overhead_s});
    for (const auto& [tau, by_size] : rests) transfers.push_back({bytes, tau, (by_size.at(bytes) - overhead_s) / own});
  }
  return {SizeTable(std::move(overheads), SizeTable::Outside::constant), TransferTable(std::move(transfers))};
}

Channel fit_channel(const ChannelTimes& times, Channel channel, const Platform& platform) {
  channel.error = times.error;
  channel.tau_lop = fit_tau_lop(times, channel.id, channel.path, platform);
  channel.hockney = fit_piecewise_hockney(times.one_way);
  LogGPTimes loggp = times.loggp;
  loggp.one_way = times.one_way;
  if (channel.hockney.size() > 1 && !loggp.trains.empty()) {
    // The gap per byte is that of long messages: trains of the shortest, and of those in the last protocol.
    const double shortest = std::ranges::min(loggp.trains, {}, &MessageTime::bytes).bytes;
    const double last_protocol = channel.hockney[channel.hockney.size() - 2].up_to_bytes;
    std::erase_if(loggp.trains,
                  [&](const MessageTime& train) { return train.bytes > shortest && train.bytes <= last_protocol; });
  }
  channel.loggp = fit_loggp(loggp);
  return channel;
}

}  // namespace steelyard::models
