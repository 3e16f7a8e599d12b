#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "comm/calibration_plan.hpp"
#include "models/communication/channel_fit.hpp"

namespace steelyard {

/// How thoroughly channels are measured.
struct CalibrationDepth {
  int smallest_bytes = 8;
  int largest_bytes = 4 << 20;
  int rounds = 7;        ///< times that everything is gone through, against a drifting machine
  double time_s = 0.01;  ///< for one size and concurrency in a round, about
};

/// How far measured times can be trusted.
struct MeasuringQuality {
  double typical_error = 0.0;  ///< median over sizes and concurrencies of the half width of the 95 % confidence
                               ///< interval, as a share of the time
  double largest_error = 0.0;
  int outliers = 0;  ///< repetitions far from the others of the same size
  int repetitions = 0;
};

struct MeasuredChannel {
  models::ChannelTimes times;
  MeasuringQuality quality;
};

/// Powers of two from the smallest to the largest size, and both sides of an eager limit between them.
/// @throws InvalidArgument unless 1 <= smallest < largest <= 1 GiB
std::vector<int> calibration_sizes(const CalibrationDepth& depth, int eager_limit);

/// Measures all channels of the plan, in rounds; ranks that are not needed sleep. A time is the median over the rounds
/// of the median (ping-pong: of five means) of a round. Collective; every rank has the result.
/// @param show called after every channel of every round
/// @throws InvalidArgument as calibration_sizes(), MpiError
std::vector<MeasuredChannel> measure_channels(MPI_Comm comm, const std::vector<ChannelPlan>& channels,
                                              const CalibrationDepth& depth, const std::function<void()>& show = {});

}  // namespace steelyard
