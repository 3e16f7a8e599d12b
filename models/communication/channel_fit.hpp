#pragma once

#include <map>
#include <vector>

#include "models/communication/platform.hpp"

namespace steelyard::models {

/// Times measured of a channel. Times in seconds, sizes growing.
struct ChannelTimes {
  std::vector<MessageTime> one_way;               ///< single transmissions, by size > 0
  std::map<int, std::vector<MessageTime>> rings;  ///< by number of concurrent transmissions (>= 2), for the same sizes
  double empty_s = 0.0;                           ///< of a message of 0 bytes, one way
  double empty_synchronous_s = 0.0;               ///< the same if the receiver has to answer
  double eager_limit_bytes = 0.0;                 ///< largest message that does not wait for its receiver
  LogGPTimes loggp;                               ///< `one_way` is filled in
  double error = 0.0;                             ///< see Channel::error
};

/// tau-Lop parameters.
///
/// Overhead: what an empty message takes, by the protocol of the size: o(m) = RTT(0)/2 up to the eager limit, with
/// synchronous sends beyond it. That contains times which concurrent messages do share, and then no transfer times can
/// satisfy L(m, tau) <= tau L(m, 1); so that they can, o(m) is at most R(m, tau) and (tau R(m, 1) - R(m, tau)) /
/// (tau - 1) for all tau, where R(m, tau) is T(m, tau) without the transfers of other channels on the path. Transfer
/// times: R(m, tau) - o(m), divided by the channel's own transfers.
/// Source: 001, section 3 (equations 1-3 and the restrictions of L) and section 5.2.
/// @param path of the channel, whose own id is `id`; other channels on it are in `platform` with tau-Lop parameters
/// @throws InvalidArgument for missing, repeated and impossible sizes and times, where another channel lacks a
/// concurrency, and where others take more than T(m, tau) (the path has transfers that do not happen)
TauLopTables fit_tau_lop(const ChannelTimes& times, int id, const std::vector<int>& path, const Platform& platform);

/// All models of a channel. LogGP is fitted to trains of the shortest messages and of those beyond the last boundary of
/// piecewise Hockney: its gap per byte is that of long messages. @param channel says what it is: id, name, scope, path,
/// between
/// @throws InvalidArgument as fit_tau_lop(), fit_piecewise_hockney() and fit_loggp()
Channel fit_channel(const ChannelTimes& times, Channel channel, const Platform& platform);

}  // namespace steelyard::models
