#include "comm/measurement/channel_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "comm/communicator.hpp"
#include "comm/measurement/message_exchange.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "models/estimate.hpp"

namespace steelyard {
namespace {

/// Ranks of one ring among all.
class Participants {
 public:
  /// Collective on `comm`.
  Participants(MPI_Comm comm, std::vector<int> ranks, const CalibrationDepth& depth) {
    int rank = 0;
    STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
    takes_part_ = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
    communicator_ = std::make_unique<Communicator>(comm, takes_part_ ? 1 : 0);
    if (!takes_part_) return;
    // In the new communicator ranks are in the order of the old one.
    std::vector<int> sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    for (int& member : ranks) {
      member = static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), member) - sorted.begin());
    }
    exchange_ =
        std::make_unique<MessageExchange>(communicator_->get(), ranks, depth.largest_bytes, depth.footprint_bytes);
  }
  /// Nothing for ranks that do not take part.
  MessageExchange* exchange() const { return exchange_.get(); }

 private:
  bool takes_part_ = false;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<MessageExchange> exchange_;
};

/// Values of the rounds for one size and concurrency.
struct Sample {
  std::vector<double> rounds_s;
  int outliers = 0;
  int repetitions = 0;

  void add(const std::vector<double>& round_s) {
    rounds_s.push_back(median(round_s));
    outliers += count_outliers(round_s);
    repetitions += static_cast<int>(round_s.size());
  }
};

void append(std::vector<double>& values, const std::vector<models::MessageTime>& messages) {
  values.push_back(static_cast<double>(messages.size()));
  for (const models::MessageTime& message : messages) {
    values.push_back(message.bytes);
    values.push_back(message.time_s);
  }
}

std::vector<models::MessageTime> take_messages(const std::vector<double>& values, std::size_t& next) {
  std::vector<models::MessageTime> messages(static_cast<std::size_t>(values[next++]));
  for (models::MessageTime& message : messages) {
    message.bytes = values[next++];
    message.time_s = values[next++];
  }
  return messages;
}

std::vector<double> packed(const MeasuredChannel& channel) {
  const models::ChannelTimes& times = channel.times;
  const MeasuringQuality& quality = channel.quality;
  std::vector<double> values{times.eager_limit_bytes,
                             times.empty_s,
                             times.empty_synchronous_s,
                             times.loggp.send_overhead_s,
                             times.loggp.receive_overhead_s,
                             times.error,
                             quality.typical_error,
                             quality.largest_error,
                             static_cast<double>(quality.outliers),
                             static_cast<double>(quality.repetitions)};
  append(values, times.one_way);
  append(values, times.loggp.trains);
  values.push_back(static_cast<double>(times.rings.size()));
  for (const auto& [concurrency, ring] : times.rings) {
    values.push_back(concurrency);
    append(values, ring);
  }
  return values;
}

MeasuredChannel unpacked(const std::vector<double>& values) {
  MeasuredChannel channel;
  models::ChannelTimes& times = channel.times;
  MeasuringQuality& quality = channel.quality;
  std::size_t next = 0;
  for (double* value :
       {&times.eager_limit_bytes, &times.empty_s, &times.empty_synchronous_s, &times.loggp.send_overhead_s,
        &times.loggp.receive_overhead_s, &times.error, &quality.typical_error, &quality.largest_error}) {
    *value = values[next++];
  }
  quality.outliers = static_cast<int>(values[next++]);
  quality.repetitions = static_cast<int>(values[next++]);
  times.one_way = take_messages(values, next);
  times.loggp.trains = take_messages(values, next);
  for (auto rings = static_cast<int>(values[next++]); rings > 0; --rings) {
    const auto concurrency = static_cast<int>(values[next++]);
    times.rings[concurrency] = take_messages(values, next);
  }
  return channel;
}

MeasuredChannel broadcast(MPI_Comm comm, int root, const MeasuredChannel& channel) {
  std::vector<double> values = packed(channel);
  auto count = static_cast<int>(values.size());
  STEELYARD_MPI(MPI_Bcast(&count, 1, MPI_INT, root, comm));
  values.resize(static_cast<std::size_t>(count));
  STEELYARD_MPI(MPI_Bcast(values.data(), count, MPI_DOUBLE, root, comm));
  return unpacked(values);
}

}  // namespace

std::string MeasuringQuality::text() const {
  const std::string counts = fmt::format("{} repetitions, {} outliers", repetitions, outliers);
  if (!std::isfinite(largest_error)) return counts + "; one round alone gives no confidence interval";
  return fmt::format("{}; 95 % confidence within {:.1f} % (median), {:.1f} % (worst)", counts, 100.0 * typical_error,
                     100.0 * largest_error);
}

/// One channel on the ranks that measure it.
class ChannelMeasurement::ChannelRun {
 public:
  ChannelRun(MPI_Comm comm, const ChannelPlan& plan, const CalibrationDepth& depth) : depth_(depth) {
    // The first ring is the pair that plays ping-pong.
    std::vector<int> rings{2};
    for (const int concurrency : plan.concurrencies) {
      if (concurrency > 2) rings.push_back(concurrency);
    }
    has_pair_ring_ = !plan.concurrencies.empty() && plan.concurrencies.front() == 2;
    for (const int ranks : rings) {
      rings_.emplace_back(ranks, Participants(comm, {plan.ranks.begin(), plan.ranks.begin() + ranks}, depth));
    }
    std::vector<int> steps;
    if (MessageExchange* pair = rings_.front().second.exchange()) {
      eager_limit_ = pair->eager_limit();
      steps = pair->protocol_steps(depth.smallest_bytes);
    }
    sleeping_barrier(comm);
    auto count = static_cast<int>(steps.size());
    STEELYARD_MPI(MPI_Bcast(&count, 1, MPI_INT, plan.ranks.front(), comm));
    steps.resize(static_cast<std::size_t>(count));
    STEELYARD_MPI(MPI_Bcast(steps.data(), count, MPI_INT, plan.ranks.front(), comm));
    sizes_ = calibration_sizes(depth, steps);
  }

  void round() {
    for (auto& [ranks, participants] : rings_) {
      MessageExchange* exchange = participants.exchange();
      if (exchange == nullptr) continue;
      const bool is_pair = ranks == 2;
      if (is_pair) measure_empty(*exchange);
      for (const int bytes : sizes_) {
        if (is_pair) measure_pair(*exchange, bytes);
        if (!is_pair || has_pair_ring_) measure_ring(*exchange, ranks, bytes);
      }
    }
  }

  /// Complete on the first rank of the plan.
  MeasuredChannel result() const {
    MeasuredChannel channel;
    channel.times.eager_limit_bytes = eager_limit_;
    std::vector<double> errors, next_errors;
    for (const auto& [key, sample] : samples_) {
      const double time_s = median(sample.rounds_s);
      add_time(channel.times, key, time_s);
      channel.quality.outliers += sample.outliers;
      channel.quality.repetitions += sample.repetitions;
      if (key.first <= 0 || sample.rounds_s.size() < 2 || !(time_s > 0.0)) continue;
      errors.push_back(confidence_half_width(sample.rounds_s, 0.95) / time_s);
      // The mean of n rounds and one more: sqrt(1 / n + 1) s, where the mean's own is sqrt(1 / n) s.
      const double further = std::sqrt(static_cast<double>(sample.rounds_s.size()) + 1.0);
      next_errors.push_back(further * confidence_half_width(sample.rounds_s, models::interval_level) / time_s);
    }
    if (!errors.empty()) {
      channel.times.error = median(next_errors);
      channel.quality.typical_error = median(errors);
      channel.quality.largest_error = *std::max_element(errors.begin(), errors.end());
    }
    return channel;
  }

 private:
  /// Concurrency, or one of these; and bytes.
  using Key = std::pair<int, int>;
  static constexpr int empty = 0, empty_synchronous = -1, send_overhead = -2, receive_overhead = -3, train = -4;

  static void add_time(models::ChannelTimes& times, const Key& key, double time_s) {
    const auto& [what, bytes] = key;
    const models::MessageTime message{static_cast<double>(bytes), time_s};
    switch (what) {
      case empty:
        times.empty_s = time_s;
        break;
      case empty_synchronous:
        times.empty_synchronous_s = time_s;
        break;
      case send_overhead:
        times.loggp.send_overhead_s = time_s;
        break;
      case receive_overhead:
        times.loggp.receive_overhead_s = time_s;
        break;
      case train:
        times.loggp.trains.push_back(message);
        break;
      case 1:
        times.one_way.push_back(message);
        break;
      default:
        times.rings[what].push_back(message);
    }
  }

  /// Repetitions that take about `share` of a round's time, from the time of one with all that goes with it.
  int repetitions(double one_s, double share = 1.0) const {
    return static_cast<int>(std::clamp(share * depth_.time_s / std::max(one_s, 1e-9), 3.0, 20000.0));
  }

  /// Many short batches, of which those that something disturbs do not move the median.
  /// @param one_s seconds of one repetition
  /// @param sweep_s of going through other memory before it
  /// @param time_s seconds by number of repetitions
  void measure_batches(const Key& key, double one_s, double sweep_s, const std::function<double(int)>& time_s) {
    if (sweep_s > 0.0) {
      std::vector<double> times_s;
      for (int left = repetitions(one_s + sweep_s); left > 0; --left) times_s.push_back(time_s(1));
      samples_[key].add(times_s);
      return;
    }
    constexpr double batch_s = 1e-4;
    const double per_batch = std::clamp(std::floor(batch_s / std::max(one_s, 1e-9)), 1.0, 1000.0);
    // Each has a repetition more, to warm up.
    const double batches = std::clamp(depth_.time_s / ((per_batch + 1.0) * std::max(one_s, 1e-9)), 3.0, 1000.0);
    std::vector<double> times_s;
    for (int batch = 0; batch < static_cast<int>(batches); ++batch) {
      times_s.push_back(time_s(static_cast<int>(per_batch)));
    }
    samples_[key].add(times_s);
  }

  void measure_ping_pong(MessageExchange& exchange, const Key& key, bool synchronous) {
    measure_batches(key, 2.0 * exchange.ping_pong_s(key.second, 3, synchronous), exchange.sweep_s(),
                    [&](int repetitions) { return exchange.ping_pong_s(key.second, repetitions, synchronous); });
  }

  void measure_empty(MessageExchange& exchange) {
    measure_ping_pong(exchange, {empty, 0}, false);
    measure_ping_pong(exchange, {empty_synchronous, 0}, true);
    const int bytes = depth_.smallest_bytes;
    const double one_s = exchange.ping_pong_s(bytes, 3);
    measure_batches({send_overhead, 0}, 2.0 * one_s, 0.0,
                    [&](int count) { return exchange.send_overhead_s(bytes, count); });
    measure_batches({receive_overhead, 0}, 12.0 * one_s, 0.0,
                    [&](int count) { return exchange.receive_overhead_s(bytes, count); });
  }

  void measure_pair(MessageExchange& exchange, int bytes) {
    measure_ping_pong(exchange, {1, bytes}, false);
    // A train must be long enough that its start does not count.
    const int messages = std::min(1000, repetitions(exchange.ping_pong_s(bytes, 3), 0.3));
    samples_[{train, bytes}].add(
        {exchange.gap_s(bytes, messages), exchange.gap_s(bytes, messages), exchange.gap_s(bytes, messages)});
  }

  void measure_ring(MessageExchange& exchange, int ranks, int bytes) {
    const double one_s = median(exchange.ring_s(bytes, 3));
    samples_[{ranks, bytes}].add(exchange.ring_s(bytes, repetitions(one_s + exchange.sweep_s())));
  }

  CalibrationDepth depth_;
  bool has_pair_ring_ = false;
  int eager_limit_ = 0;
  std::vector<std::pair<int, Participants>> rings_;  ///< by their number of ranks
  std::vector<int> sizes_;
  std::map<Key, Sample> samples_;
};

std::vector<int> calibration_sizes(const CalibrationDepth& depth, const std::vector<int>& more) {
  const int smallest = depth.smallest_bytes;
  const int largest = depth.largest_bytes;
  if (!(1 <= smallest && smallest < largest && largest <= 1 << 30)) {
    throw InvalidArgument(
        fmt::format("messages from {} to {} bytes (expected 1 <= from < to <= {})", smallest, largest, 1 << 30));
  }
  std::set<int> sizes{smallest, largest};
  for (std::int64_t size = 1; size < largest; size *= 2) {
    if (size > smallest) sizes.insert(static_cast<int>(size));
  }
  for (const int size : more) {
    if (smallest < size && size < largest) sizes.insert(size);
  }
  return {sizes.begin(), sizes.end()};
}

ChannelMeasurement::ChannelMeasurement(MPI_Comm comm, const std::vector<ChannelPlan>& channels,
                                       const CalibrationDepth& depth)
    : comm_(comm) {
  for (const ChannelPlan& channel : channels) {
    roots_.push_back(channel.ranks.front());
    runs_.emplace_back(comm, channel, depth);
  }
}

ChannelMeasurement::~ChannelMeasurement() = default;

void ChannelMeasurement::round() {
  for (ChannelRun& run : runs_) {
    run.round();
    sleeping_barrier(comm_);
  }
}

std::vector<MeasuredChannel> ChannelMeasurement::result() const {
  std::vector<MeasuredChannel> result;
  for (std::size_t i = 0; i < runs_.size(); ++i) result.push_back(broadcast(comm_, roots_[i], runs_[i].result()));
  return result;
}

}  // namespace steelyard
