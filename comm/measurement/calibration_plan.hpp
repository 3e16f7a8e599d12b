#pragma once

#include <string>
#include <vector>

#include "comm/session.hpp"
#include "models/communication/platform.hpp"

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
/// Rings have 2, 3, 4, 6, 8, 12, … ranks (even numbers on a network) and as many as there are, but on no node more than
/// cores: what ranks that share a core take says nothing about the channel. Source: 001, section 5.2.
/// @param most_concurrency largest ring; 0: as large as possible
/// @throws InvalidArgument where the ranks or cores do not suffice for `most_concurrency`, or for any channel
CalibrationPlan plan_calibration(const Nodes& nodes, const std::vector<NodeFacts>& facts, int most_concurrency = 0);

}  // namespace steelyard
