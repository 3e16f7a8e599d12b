#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "models/communication/channel_fit.hpp"

namespace steelyard {

/// Facts about a node that decide on the plan of a calibration.
struct NodeFacts {
  std::string kind;  ///< nodes of one kind have channels of the same cost
  int cores = 0;     ///< that the node's ranks may run on
};

/// Facts about every node. Collective.
std::vector<NodeFacts> gather_node_facts(const Session& session);

/// A channel and the ranks between which it is measured.
struct ChannelPlan {
  models::Channel channel;         ///< name, scope and between; the rest is what is sought
  std::vector<int> ranks;          ///< neighbours communicate through this channel; the first two play ping-pong
  std::vector<int> concurrencies;  ///< growing, each at least 2: each a ring of that many of the first `ranks`
};

struct CalibrationPlan {
  std::vector<ChannelPlan> channels;
  std::vector<std::string> refused;  ///< what is not measured, and why
};

/// Channels that these ranks can measure: shared memory of each kind of node, on the first node of the kind that has
/// two ranks, then the network between each two kinds, on the first two such nodes, where the ring's ranks alternate.
/// Rings have 2, 3, 4, 6, 8, 12, … ranks (even numbers on a network), the largest all ranks, but never more ranks than
/// cores on a node: times of ranks that share a core say nothing about the channel. Source: 001, section 5.2.
/// @throws InvalidArgument where the ranks or cores do not suffice for any channel
CalibrationPlan plan_calibration(const Nodes& nodes, const std::vector<NodeFacts>& facts);

/// How thoroughly channels are measured.
struct CalibrationDepth {
  int smallest_bytes = 8;
  int largest_bytes = 4 << 20;
  double time_s = 0.01;             ///< for one size and concurrency in a round, about
  std::size_t footprint_bytes = 0;  ///< memory that a rank goes through between messages; 0: caches keep their buffers
};

/// The smallest and the largest size, powers of two and of `more` what lies between them.
/// @throws InvalidArgument unless 1 <= smallest < largest <= 1 GiB
std::vector<int> calibration_sizes(const CalibrationDepth& depth, const std::vector<int>& more = {});

/// How far measured times can be trusted.
struct MeasuringQuality {
  /// Median over sizes and concurrencies of the half width of the 95 % confidence interval, as a share of the time;
  /// infinity where there was one round.
  double typical_error = std::numeric_limits<double>::infinity();
  double largest_error = std::numeric_limits<double>::infinity();
  int outliers = 0;  ///< repetitions far from the others of the same size
  int repetitions = 0;

  /// In a line of words, without its newline.
  std::string text() const;
};

struct MeasuredChannel {
  models::ChannelTimes times;
  MeasuringQuality quality;
};

/// Measures the channels of a plan in rounds, between which others may measure something else. Ranks that are not
/// needed sleep. Sizes are those of calibration_sizes(), and both sides of steps that a protocol makes between them.
class ChannelMeasurement {
 public:
  /// Finds the protocols of the channels. Collective.
  /// @throws InvalidArgument as calibration_sizes(), MpiError
  ChannelMeasurement(MPI_Comm comm, const std::vector<ChannelPlan>& channels, const CalibrationDepth& depth);
  ~ChannelMeasurement();
  ChannelMeasurement(const ChannelMeasurement&) = delete;
  ChannelMeasurement& operator=(const ChannelMeasurement&) = delete;

  /// Goes through all channels and sizes once. Collective.
  void round();

  /// Returns the times of each channel, on every rank: a time is the median over the rounds of the median of a round's
  /// repetitions (ping-pong: of means of short batches). Collective.
  std::vector<MeasuredChannel> result() const;

 private:
  class ChannelRun;
  MPI_Comm comm_;
  std::vector<ChannelRun> runs_;
};

/// Adds a measured channel to a platform, in place of the one of the same scope between the same kinds of nodes if
/// there is one. Inside a node a message moves through a buffer, path [c, c] (001, equation 1); between nodes through
/// those of both nodes, path [s, c, s] (equation 2), or where these are not known or alone take longer than what was
/// measured, directly, path [c] (equation 3).
/// @return the channel's id: 0 for the first inside a node, 1 and up for others
/// @throws InvalidArgument as models::fit_channel(); the platform then stays as it is
int add_channel(models::Platform& platform, const ChannelPlan& plan, const models::ChannelTimes& times);

/// Adds a channel as it is, in place of the one of the same scope, name and kinds of nodes if there is one; its id is
/// chosen. @return the channel in the platform
models::Channel& put_channel(models::Platform& platform, models::Channel channel);

}  // namespace steelyard
