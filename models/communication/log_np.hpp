#pragma once

#include <functional>
#include <vector>

namespace steelyard::models {

/// Seconds for a message as the sum of the transfers that carry it, one after the other and without contention:
/// T(m) = sum over i < n of o_i(m) + l_i(m). Source: 001, sections 3 and 5.5, and its reference 31 (Cameron, Ge and
/// Sun, log_nP and log_3P, IEEE TC 56, 2007).
struct LogNP {
  using SecondsOfSize = std::function<double(double bytes)>;
  /// A copy between two memories on the way: from user to system buffer, to the other node, …
  struct Transfer {
    SecondsOfSize overhead_s;  ///< o_i: what the middleware takes
    SecondsOfSize latency_s;   ///< l_i: what moving the data adds
  };

  std::vector<Transfer> transfers;

  /// @throws InvalidArgument for a negative size, no transfer, or a function that is missing or gives a negative time
  double time_s(double bytes) const;
};

/// log_nP with transfers of their own for each level of the communication hierarchy, n_i transfers on level i.
/// Source: 001, section 5.5 and its reference 41 (Tu et al., The Journal of Supercomputing 60, 2012).
struct MLogNP {
  std::vector<LogNP> levels;  ///< by the channel's id: 0 is the nearest
  /// Seconds for a message that crosses `level`. @throws InvalidArgument as LogNP, and for a level that is not there
  double time_s(int level, double bytes) const;
};

}  // namespace steelyard::models
