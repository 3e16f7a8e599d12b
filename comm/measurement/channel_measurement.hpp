#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "comm/measurement/calibration.hpp"

namespace steelyard {

/// How thoroughly channels are measured.
struct CalibrationDepth {
  int smallest_bytes = 8;
  int largest_bytes = 4 << 20;
  double time_s = 0.01;             ///< for one size and concurrency in a round, about
  std::size_t footprint_bytes = 0;  ///< memory that a rank goes through between messages; 0: caches keep their buffers
};

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

/// The smallest and the largest size, powers of two and of `more` what lies between them.
/// @throws InvalidArgument unless 1 <= smallest < largest <= 1 GiB
std::vector<int> calibration_sizes(const CalibrationDepth& depth, const std::vector<int>& more = {});

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

}  // namespace steelyard
