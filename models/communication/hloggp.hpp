#pragma once

#include <functional>
#include <vector>

#include "models/communication/loggp.hpp"

namespace steelyard::models {

/// LogGP between processes that differ: what a processor takes is a vector over the P processes, what a link takes a
/// P x P matrix. Source: 001, section 2 and its reference 23 (Bosque and Pastor, A parallel computational model for
/// heterogeneous clusters, IEEE TPDS 17, 2006).
class HLogGP {
 public:
  /// Overheads of a processor with every message, whoever the other one is.
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
