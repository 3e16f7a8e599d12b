#pragma once

#include <vector>

#include "models/communication/hockney.hpp"

namespace steelyard::models {

/// Seconds for messages by five parameters. Source: 001, section 2 and its reference 24 (Alexandrov et al., LogGP:
/// incorporating long messages into the LogP model, SPAA 1995); the overhead apart for sender and receiver.
///
/// With parameters of its own for each channel, and so for each pair of processes, this is HLogGP, LogGP between
/// processes that differ (001, section 2 and its reference 23: Bosque and Pastor, A parallel computational model for
/// heterogeneous clusters, IEEE TPDS 17, 2006); for each level of the hierarchy, all processes being alike, it is
/// LogGPH (001, section 5.5 and its reference 40: Yuan et al., LogGPH, CSE 2010).
struct LogGP {
  double latency_s = 0.0;           ///< L: a byte's way through the network
  double send_overhead_s = 0.0;     ///< o_s: the sender's processor is busy with a message
  double receive_overhead_s = 0.0;  ///< o_r: the receiver's
  double gap_s = 0.0;               ///< g: least time from the last byte of a message to the first of the next
  double gap_per_byte_s = 0.0;      ///< G: time for each byte after the first, 1 / bandwidth

  /// From the start of sending to the end of receiving: T(m) = o_s + (m - 1) G + L + o_r. A message without bytes costs
  /// as one of one byte, since something has to tell that it came.
  /// @throws InvalidArgument for a negative size
  double time_s(double bytes) const;
};

/// Measured times that LogGP's parameters follow from. Source: 001, section 5.2.
struct LogGPTimes {
  std::vector<MessageTime> one_way;  ///< half of a round trip
  double send_overhead_s = 0.0;      ///< the sender's time in a send
  double receive_overhead_s = 0.0;   ///< the receiver's time in a receive whose message has come
  std::vector<MessageTime> trains;   ///< time per message of a long train of messages of that size
};

/// Parameters whose trains and shortest message take the measured times, each message of a train max(g + (m - 1) G,
/// o_s, o_r). G: slope of the time per message in a train over the size, least squares of relative misses as
/// fit_hockney(). g: what the trains of the smallest size take beside (m - 1) G. L: what the smallest one-way messages
/// take beside o_s + (m - 1) G + o_r. Medians where that size was measured several times; g and L below 0 become 0,
/// which happens where an overhead hides one in the other.
/// @throws InvalidArgument for no one-way time, trains of fewer than two sizes, times per message that do not grow with
/// size, or impossible sizes and times
LogGP fit_loggp(const LogGPTimes& times);

}  // namespace steelyard::models
