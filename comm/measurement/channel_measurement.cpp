#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <type_traits>
#include <utility>

#include "comm/collective.hpp"
#include "comm/measurement/calibration.hpp"
#include "comm/measurement/message_exchange.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "models/estimate.hpp"

namespace steelyard {
namespace {

/// A ring of some ranks, in the order of `ranks`; its messages on those that take part.
struct Ring {
  Ring(MPI_Comm comm, std::span<const int> ranks, const CalibrationDepth& depth) {
    const auto place = std::ranges::find(ranks, rank_in(comm));
    const bool takes_part = place != ranks.end();
    communicator = std::make_unique<Communicator>(comm, takes_part ? 1 : 0, static_cast<int>(place - ranks.begin()));
    if (!takes_part) return;
    exchange = std::make_unique<MessageExchange>(communicator->get(), depth.largest_bytes, depth.footprint_bytes);
  }

  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<MessageExchange> exchange;
};

template <class Number>
void broadcast(MPI_Comm comm, int root, MPI_Datatype type, std::vector<Number>& numbers) {
  auto count = static_cast<int>(numbers.size());
  STEELYARD_MPI(MPI_Bcast(&count, 1, MPI_INT, root, comm));
  numbers.resize(static_cast<std::size_t>(count));
  STEELYARD_MPI(MPI_Bcast(numbers.data(), count, type, root, comm));
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
  ChannelRun(MPI_Comm comm, const ChannelPlan& plan, const CalibrationDepth& depth)
      : comm_(comm), root_(plan.ranks.front()), depth_(depth) {
    has_pair_ring_ = !plan.concurrencies.empty() && plan.concurrencies.front() == 2;
    const auto add_ring = [&](int ranks) { rings_.emplace_back(comm, std::span(plan.ranks.begin(), ranks), depth); };
    // The first ring is the pair that plays ping-pong.
    if (!has_pair_ring_) add_ring(2);
    std::ranges::for_each(plan.concurrencies, add_ring);
    std::vector<int> steps;
    if (MessageExchange* pair = rings_.front().exchange.get()) {
      eager_limit_ = pair->eager_limit();
      steps = pair->protocol_steps(depth.smallest_bytes);
    }
    sleeping_barrier(comm);
    broadcast(comm, root_, MPI_INT, steps);
    sizes_ = calibration_sizes(depth, steps);
  }

  void round() {
    for (const auto& [communicator, exchange] : rings_) {
      if (exchange == nullptr) continue;
      const int ranks = communicator->size();
      const bool is_pair = ranks == 2;
      if (is_pair) measure_empty(*exchange);
      for (const int bytes : sizes_) {
        if (is_pair) measure_pair(*exchange, bytes);
        if (!is_pair || has_pair_ring_) measure_ring(*exchange, ranks, bytes);
      }
    }
  }

  /// On every rank what the first one of the plan has found. Collective.
  MeasuredChannel result() const {
    MeasuredChannel channel{{}, quality_};
    auto& [times, quality] = channel;
    std::vector<double> seconds;  // with what they are of, each
    std::vector<double> errors, next_errors;
    for (const auto& [key, rounds_s] : rounds_s_) {
      const double time_s = median(rounds_s);
      seconds.insert(seconds.end(), {static_cast<double>(key.first), static_cast<double>(key.second), time_s});
      if (key.first <= 0 || rounds_s.size() < 2 || !(time_s > 0.0)) continue;
      errors.push_back(confidence_half_width(rounds_s, 0.95) / time_s);
      // The mean of n rounds and one more: sqrt(1 / n + 1) s, where the mean's own is sqrt(1 / n) s.
      const double further = std::sqrt(static_cast<double>(rounds_s.size()) + 1.0);
      next_errors.push_back(further * confidence_half_width(rounds_s, models::interval_level) / time_s);
    }
    if (!errors.empty()) {
      times.error = median(next_errors);
      quality.typical_error = median(errors);
      quality.largest_error = *std::max_element(errors.begin(), errors.end());
    }
    times.eager_limit_bytes = eager_limit_;
    STEELYARD_MPI(MPI_Bcast(&times.eager_limit_bytes, 1, MPI_DOUBLE, root_, comm_));
    STEELYARD_MPI(MPI_Bcast(&times.error, 1, MPI_DOUBLE, root_, comm_));
    static_assert(std::is_trivially_copyable_v<MeasuringQuality>);
    STEELYARD_MPI(MPI_Bcast(&quality, static_cast<int>(sizeof quality), MPI_BYTE, root_, comm_));
    broadcast(comm_, root_, MPI_DOUBLE, seconds);
    for (std::size_t i = 0; i < seconds.size(); i += 3) {
      add_time(times, {static_cast<int>(seconds[i]), static_cast<int>(seconds[i + 1])}, seconds[i + 2]);
    }
    return channel;
  }

 private:
  /// Concurrency, or one of these; and bytes.
  using Key = std::pair<int, int>;
  static constexpr int empty = 0, empty_synchronous = -1, send_overhead = -2, receive_overhead = -3, train = -4;

  static void add_time(models::ChannelTimes& times, const Key& key, double time_s) {
    const auto& [what, bytes] = key;
    const std::map<int, double*> of_empty{{empty, &times.empty_s},
                                          {empty_synchronous, &times.empty_synchronous_s},
                                          {send_overhead, &times.loggp.send_overhead_s},
                                          {receive_overhead, &times.loggp.receive_overhead_s}};
    if (const auto found = of_empty.find(what); found != of_empty.end()) {
      *found->second = time_s;
    } else {
      auto& messages = what == train ? times.loggp.trains : what == 1 ? times.one_way : times.rings[what];
      messages.push_back({static_cast<double>(bytes), time_s});
    }
  }

  /// Keeps a round's repetitions.
  void add(const Key& key, const std::vector<double>& round_s) {
    rounds_s_[key].push_back(median(round_s));
    quality_.outliers += count_outliers(round_s);
    quality_.repetitions += static_cast<int>(round_s.size());
  }

  /// Repetitions that take about `share` of a round's time, from the time of one with all that goes with it.
  int repetitions(double one_s, double share = 1.0) const {
    return static_cast<int>(std::clamp(share * depth_.time_s / std::max(one_s, 1e-9), 3.0, 20000.0));
  }

  /// Measures many short batches, of which those that something disturbs do not move the median; single repetitions
  /// where other memory is gone through before each.
  /// @param one_s seconds of one repetition @param sweep_s of going through other memory before it
  /// @param time_s seconds by number of repetitions
  void measure_batches(const Key& key, double one_s, double sweep_s, const std::function<double(int)>& time_s) {
    constexpr double batch_s = 1e-4;
    one_s = std::max(one_s, 1e-9);
    const double per_batch = sweep_s > 0.0 ? 1.0 : std::clamp(std::floor(batch_s / one_s), 1.0, 1000.0);
    // Each has a repetition more, to warm up.
    const double batches = sweep_s > 0.0 ? repetitions(one_s + sweep_s)
                                         : std::clamp(depth_.time_s / ((per_batch + 1.0) * one_s), 3.0, 1000.0);
    std::vector<double> times_s;
    while (std::ssize(times_s) < static_cast<int>(batches)) times_s.push_back(time_s(static_cast<int>(per_batch)));
    add(key, times_s);
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
    const auto gap_s = [&] { return exchange.gap_s(bytes, messages); };
    add({train, bytes}, {gap_s(), gap_s(), gap_s()});
  }

  void measure_ring(MessageExchange& exchange, int ranks, int bytes) {
    const double one_s = median(exchange.ring_s(bytes, 3));
    add({ranks, bytes}, exchange.ring_s(bytes, repetitions(one_s + exchange.sweep_s())));
  }

  MPI_Comm comm_;
  int root_;  ///< the rank that knows all times
  CalibrationDepth depth_;
  bool has_pair_ring_ = false;
  int eager_limit_ = 0;
  std::vector<Ring> rings_;
  std::vector<int> sizes_;
  std::map<Key, std::vector<double>> rounds_s_;  ///< medians of the rounds' repetitions
  MeasuringQuality quality_;                     ///< of these its counts alone
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
  for (const ChannelPlan& channel : channels) runs_.emplace_back(comm, channel, depth);
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
  for (const ChannelRun& run : runs_) result.push_back(run.result());
  return result;
}

}  // namespace steelyard
