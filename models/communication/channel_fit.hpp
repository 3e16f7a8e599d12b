#pragma once

#include <map>
#include <span>
#include <vector>

#include "models/communication/platform.hpp"

namespace steelyard::models {

/// A measured message: one way.
struct MessageTime {
  double bytes = 0.0;
  double time_s = 0.0;
};

/// Least squares fit of Hockney's model (003, equation 2.8 and section 6.3.1), each message weighted by 1 / time so
/// that short and long ones count alike; a latency below 0 becomes 0. This is fit_piecewise_hockney() with one segment.
/// @throws InvalidArgument for fewer than two different sizes, impossible sizes or times, or times that do not grow
Hockney fit_hockney(std::span<const MessageTime> messages);

/// Segments and their parameters with the least sum of squared relative misses R = sum ((T(m) - t) / t)^2 among all
/// ways to cut the sorted sizes into runs of at least three different sizes, by dynamic programming over the sizes:
/// O(n^2) in time, O(n) in memory. Source: 003, section 8.2 (the model), 6.3.1 (regression within a segment).
///
/// How many segments k, up to `most_segments`: the least of ln(R / (n - p)) + 0.299 p (ln n)^2.1 / n over the n
/// messages, p = 4 k - 2 < n and R / (n - p) at least 1e-12: the criterion of Liu, Wu and Zidek, On segmented
/// multivariate regression, Statistica Sinica 7, 1997, with one more parameter a boundary as Kim and Kim, Consistent
/// model selection in segmented line regression, J. Stat. Plan. Inference 170, 2016, propose. Boundaries are chosen by
/// the data, which lets noise look like them: of linear channels measured at about twenty sizes with normal noise,
/// Schwarz's criterion (BIC) cuts a quarter, this one at most 3 in 100.
///
/// A segment ends where its line meets the next one if that lies between the neighbouring measured sizes of the two, so
/// that the model is continuous there; otherwise (a jump, somewhere between them) at its own largest measured size.
/// Latencies are >= 0. Where times do not grow within a segment, its bandwidth is the one at which its largest message
/// takes a millionth of its shortest time for its bytes: finite, so that a file can hold it, and without effect on
/// these sizes. The last segment has no end, so its times must grow.
/// @throws InvalidArgument for fewer than two different sizes, impossible sizes or times, most_segments < 1, or times
/// that do not grow towards the longest messages
std::vector<HockneySegment> fit_piecewise_hockney(std::span<const MessageTime> messages, int most_segments = 4);

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

/// All models of a channel, of which id, name, scope, path and between are given. LogGP is fitted to trains of the
/// shortest messages and of those beyond Hockney's last boundary: its gap per byte is that of long messages.
/// @throws InvalidArgument as fit_tau_lop(), fit_piecewise_hockney() and fit_loggp()
Channel fit_channel(const ChannelTimes& times, Channel channel, const Platform& platform);

}  // namespace steelyard::models
