#include "miniapps/app/channels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "comm/collective.hpp"
#include "comm/measurement/calibration.hpp"
#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/timing.hpp"
#include "models/communication/platform_file.hpp"

namespace steelyard {
namespace {

constexpr int rounds = 3;

CalibrationDepth depth_for(const MessageFacts& message) {
  constexpr double least = 1 << 16, most = 1 << 24;
  CalibrationDepth depth;
  depth.largest_bytes =
      static_cast<int>(std::exp2(std::ceil(std::log2(std::clamp(message.largest_bytes, least, most)))));
  // Some sizes more, or no model can tell latency from bandwidth.
  const double smallest = std::clamp(message.smallest_bytes, 8.0, static_cast<double>(depth.largest_bytes) / 64.0);
  depth.smallest_bytes = static_cast<int>(std::exp2(std::floor(std::log2(smallest))));
  depth.time_s = 0.003;
  // More than today's caches hold for a core.
  constexpr double most_footprint = 1 << 26;
  depth.footprint_bytes = static_cast<std::size_t>(std::min(message.footprint_bytes, most_footprint));
  return depth;
}

/// @throws CollectiveError where no or only some channels can be measured, which would predict only some messages, and
/// where noise of the short measurement looks like nothing that a channel does
models::Platform measure_channels(const Session& session, const MessageFacts& message) {
  const std::vector<NodeFacts> facts = gather_node_facts(session);
  CalibrationPlan plan;
  collectively(session.comm(), [&] {
    plan = plan_calibration(session.nodes(), facts);
    if (!plan.refused.empty()) throw InvalidArgument(fmt::format("{}", fmt::join(plan.refused, "; ")));
  });
  ChannelMeasurement measurement(session.comm(), plan.channels, depth_for(message));
  for (int round = 0; round < rounds; ++round) measurement.round();
  const std::vector<MeasuredChannel> measured = measurement.result();
  models::Platform platform;
  collectively(session.comm(), [&] {
    for (std::size_t i = 0; i < measured.size(); ++i) add_channel(platform, plan.channels[i], measured[i].times);
  });
  return platform;
}

}  // namespace

std::optional<models::Platform> obtain_platform(const Session& session, const RunOptions& options,
                                                const MessageFacts& message, RunRecord& record) {
  std::optional<models::Platform> platform;
  if (!options.platform.empty()) {
    collectively(session.comm(), [&] { platform = models::read_platform_file(options.platform); });
  } else if (session.size() > 1) {
    const double start_s = now_s();
    try {
      platform = measure_channels(session, message);
    } catch (const CollectiveError& error) {
      session.print(fmt::format("note: communication is not predicted: {}\n", error.what()));
      return std::nullopt;
    }
    record.figures["channel_time_s"] = all_max(session.comm(), now_s() - start_s);
    session.print(fmt::format("channels measured in {}\n", format_seconds(record.figures["channel_time_s"])));
  }
  return platform;
}

models::Placement place_ranks(const Session& session, const models::Platform& platform) {
  std::vector<std::string> kinds;
  for (const NodeFacts& node : gather_node_facts(session)) kinds.push_back(node.kind);
  std::optional<models::Placement> placement;
  collectively(session.comm(), [&] { placement.emplace(platform, session.nodes().node_of_rank, kinds); });
  return *placement;
}

}  // namespace steelyard
