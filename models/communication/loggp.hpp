#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/communication/hockney.hpp"

namespace steelyard::models {

/// Seconds for messages by five parameters. Source: 001, section 2 and its reference 24 (Alexandrov et al., LogGP:
/// incorporating long messages into the LogP model, SPAA 1995); the overhead apart for sender and receiver.
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

  /// Messages of one size, one after the other from one sender to one receiver, until the last one is received:
  /// T(m) + (n - 1) max(g + (m - 1) G, o_s, o_r). 0 for no message.
  /// @throws InvalidArgument for a negative size or number
  double train_s(std::int64_t messages, double bytes) const;
};

/// Measured times that LogGP's parameters follow from. Source: 001, section 5.2.
struct LogGPTimes {
  std::vector<MessageTime> one_way;  ///< half of a round trip
  double send_overhead_s = 0.0;      ///< the sender's time in a send
  double receive_overhead_s = 0.0;   ///< the receiver's time in a receive whose message has come
  std::vector<MessageTime> trains;   ///< time per message of a long train of messages of that size
};

/// Parameters whose trains and shortest message take the measured times. G: slope of the time per message in a train
/// over the size, least squares of relative misses as fit_hockney(). g: what the trains of the smallest size take
/// beside (m - 1) G. L: what the smallest one-way messages take beside o_s + (m - 1) G + o_r. Medians where that size
/// was measured several times; g and L below 0 become 0, which happens where an overhead hides one in the other.
/// @throws InvalidArgument for no one-way time, trains of fewer than two sizes, times per message that do not grow with
/// size, or impossible sizes and times
LogGP fit_loggp(const LogGPTimes& times);

/// LogGP between processes that differ: what a processor takes is a vector over the P processes, what a link takes a
/// P x P matrix. Source: 001, section 2 and its reference 23 (Bosque and Pastor, A parallel computational model for
/// heterogeneous clusters, IEEE TPDS 17, 2006).
class HLogGP {
 public:
  /// Overheads of a processor for every message, whichever processor is at the other end.
  struct Process {
    double send_overhead_s = 0.0;
    double receive_overhead_s = 0.0;
    double gap_s = 0.0;
  };
  /// Costs of a message on the way from one process to another.
  struct Link {
    double latency_s = 0.0;
    double gap_per_byte_s = 0.0;
  };

  /// @param links P x P, row by row: element `from` * P + `to`; the diagonal is not used
  /// @throws InvalidArgument for no process, another number of links, or parameters that are negative or not finite
  HLogGP(std::vector<Process> processes, std::vector<Link> links);

  /// From what LogGP's parameters are between each two different processes. A process keeps the least overheads and gap
  /// of its links; what a link's overheads are above those goes into its latency. So time_s() is that of each link's
  /// LogGP; trains are, too, where a link's gap is that of the slower of its processes, the only gaps of this model.
  /// @throws InvalidArgument for no process, or parameters that are negative or not finite
  static HLogGP from_links(int processes, const std::function<LogGP(int from, int to)>& link);

  int processes() const { return static_cast<int>(processes_.size()); }

  /// The parameters between two processes; the gap is that of the slower one.
  /// @throws InvalidArgument for processes that are not there or the same
  LogGP link(int from, int to) const;

  /// Seconds for one message: T(m) = o_s[from] + (m - 1) G[from][to] + L[from][to] + o_r[to].
  /// @throws InvalidArgument as link(), and for a negative size
  double time_s(int from, int to, double bytes) const;

 private:
  std::vector<Process> processes_;
  std::vector<Link> links_;
};

}  // namespace steelyard::models
