#pragma once

#include <functional>
#include <vector>

#include "comm/measurement/channel_measurement.hpp"
#include "comm/session.hpp"

namespace steelyard {

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
