#include "models/communication/platform_json.hpp"

#include <limits>

namespace steelyard::models {
namespace {

using nlohmann::ordered_json;

ordered_json segments_json(const std::vector<HockneySegment>& segments) {
  auto json = ordered_json::array();
  for (const HockneySegment& segment : segments) {
    const bool ends = segment.up_to_bytes != std::numeric_limits<double>::infinity();
    json.push_back({{"up_to_bytes", ends ? ordered_json(segment.up_to_bytes) : ordered_json(nullptr)},
                    {"latency_s", segment.hockney.latency_s},
                    {"bandwidth_bytes_per_s", segment.hockney.bandwidth_bytes_per_s}});
  }
  return json;
}

ordered_json loggp_json(const LogGP& loggp) {
  return {{"latency_s", loggp.latency_s},
          {"send_overhead_s", loggp.send_overhead_s},
          {"receive_overhead_s", loggp.receive_overhead_s},
          {"gap_s", loggp.gap_s},
          {"gap_per_byte_s", loggp.gap_per_byte_s}};
}

ordered_json tau_lop_json(const TauLopTables& tables) {
  ordered_json json;
  json["overhead"] = ordered_json::array();
  for (const SizeTable::Point& point : tables.overhead.points()) {
    json["overhead"].push_back({{"bytes", point.bytes}, {"time_s", point.time_s}});
  }
  json["transfer"] = ordered_json::array();
  for (const TransferPoint& point : tables.transfer.points()) {
    json["transfer"].push_back({{"bytes", point.bytes}, {"concurrency", point.concurrency}, {"time_s", point.time_s}});
  }
  return json;
}

ordered_json channel_json(const Channel& channel) {
  ordered_json json;
  json["id"] = channel.id;
  json["name"] = channel.name;
  json["scope"] = scope_names.at(static_cast<std::size_t>(channel.scope));
  json["path"] = channel.path;
  if (!channel.between.empty()) json["between"] = channel.between;
  if (!channel.hockney.empty()) json["hockney"]["segments"] = segments_json(channel.hockney);
  if (channel.loggp) json["loggp"] = loggp_json(*channel.loggp);
  if (channel.error > 0.0) json["error"] = channel.error;
  if (channel.tau_lop) json["tau_lop"] = tau_lop_json(*channel.tau_lop);
  return json;
}

}  // namespace

ordered_json platform_json(const Platform& platform) {
  ordered_json json;
  json["schema"] = platform_schema;
  if (!platform.commit.empty()) json["commit"] = platform.commit;
  if (!platform.mpi.empty()) json["mpi"] = platform.mpi;
  json["channels"] = ordered_json::array();
  for (const Channel& channel : platform.channels) json["channels"].push_back(channel_json(channel));
  json["nodes"] = ordered_json::array();
  for (const PlatformNode& node : platform.nodes) {
    json["nodes"].push_back({{"host", node.host}, {"kind", node.kind}, {"cores", node.cores}});
    if (node.memory_bytes_per_s != 0.0) json["nodes"].back()["memory_bytes_per_s"] = node.memory_bytes_per_s;
  }
  return json;
}

}  // namespace steelyard::models
