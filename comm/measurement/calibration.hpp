#pragma once

#include <string>
#include <vector>

#include "comm/session.hpp"
#include "models/communication/channel_fit.hpp"

namespace steelyard {

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

/// Facts about a node that decide on the plan.
struct NodeFacts {
  std::string kind;  ///< nodes of one kind have channels of the same cost
  int cores = 0;     ///< that the node's ranks may run on
};

/// Channels that these ranks can measure: shared memory of each kind of node, on the first node of the kind that has
/// two ranks, then the network between each two kinds, on the first two such nodes, where the ring's ranks alternate.
/// Rings have 2, 3, 4, 6, 8, 12, … ranks (even numbers on a network), the largest all ranks, but never more ranks than
/// cores on a node: times of ranks that share a core say nothing about the channel. Source: 001, section 5.2.
/// @param most_concurrency largest ring; 0: as large as possible
/// @throws InvalidArgument where the ranks or cores do not suffice for `most_concurrency`, or for any channel
CalibrationPlan plan_calibration(const Nodes& nodes, const std::vector<NodeFacts>& facts, int most_concurrency = 0);

/// Facts about every node for the plan of a calibration. Collective.
std::vector<NodeFacts> gather_node_facts(const Session& session);

/// Adds a measured channel to a platform, in place of the one of the same scope between the same kinds of nodes if
/// there is one. Inside a node a message moves through a buffer, path [c, c] (001, equation 1); between nodes through
/// those of both nodes, path [s, c, s] (equation 2), or where these are not known or alone take longer than what was
/// measured, directly, path [c] (equation 3).
/// @return the channel's id: 0 for the first inside a node, 1 and up for others
/// @throws InvalidArgument as models::fit_channel()
int add_channel(models::Platform& platform, const ChannelPlan& plan, const models::ChannelTimes& times);

/// Adds a channel as it is, in place of the one of the same scope, name and kinds of nodes if there is one; its id is
/// chosen. @return the channel in the platform
models::Channel& put_channel(models::Platform& platform, models::Channel channel);

}  // namespace steelyard
