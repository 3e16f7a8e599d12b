#pragma once

#include <string>
#include <vector>

#include "comm/channel_measurement.hpp"

namespace steelyard::tool {

/// Nodes of the run, their kinds and cores, and what is not measured.
std::string calibrate_header(const Nodes& nodes, const std::vector<NodeFacts>& facts, const CalibrationPlan& plan,
                             const CalibrationDepth& depth);

/// A channel: how it was measured and how well, a row for every size with the times of single and concurrent
/// transmissions and what tau-Lop makes of them, and the parameters of Hockney and LogGP.
std::string channel_text(const models::Channel& channel, const MeasuredChannel& measured);

/// Copies between host and device.
std::string copies_text(const models::Channel& channel, const std::vector<models::MessageTime>& times);

}  // namespace steelyard::tool
