#include "models/communication/platform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"
#include "core/base/text_file.hpp"

namespace steelyard::models {

double Channel::time_s(double bytes) const {
  for (const HockneySegment& segment : hockney) {
    if (bytes <= segment.up_to_bytes) return segment.hockney.time_s(bytes);
  }
  throw InvalidArgument(fmt::format("channel {} ({}) has no Hockney parameters for {} bytes", id, name, bytes));
}

double Platform::error() const {
  double largest = 0.0;
  for (const Channel& channel : channels) largest = std::max(largest, channel.error);
  return largest;
}

double Platform::memory_bytes_per_s() const {
  double slowest = 0.0;
  for (const PlatformNode& node : nodes) {
    const double known = node.memory_bytes_per_s;
    if (known > 0.0) slowest = slowest > 0.0 ? std::min(slowest, known) : known;
  }
  return slowest;
}

std::optional<bool> Platform::is_faster_direct(double bytes) const {
  const auto direct = std::ranges::find(channels, "device to device, direct", &Channel::name);
  const auto staged = std::ranges::find(channels, "device to device, staged", &Channel::name);
  if (direct == channels.end() || staged == channels.end()) return std::nullopt;
  return direct->time_s(bytes) <= staged->time_s(bytes);
}

const Channel& Platform::channel(int id) const {
  std::vector<int> ids;
  for (const Channel& channel : channels) {
    if (channel.id == id) return channel;
    ids.push_back(channel.id);
  }
  throw InvalidArgument(
      fmt::format("{}: has no channel {} ({})", path.empty() ? "platform" : path, id,
                  ids.empty() ? "it has none" : fmt::format("expected one of {}", fmt::join(ids, ", "))));
}

namespace {

using nlohmann::ordered_json;

constexpr const char* platform_schema = "steelyard.platform/1";
constexpr double no_end = std::numeric_limits<double>::infinity();

/// Names of the elements of Channel::Scope in files, in their order.
constexpr std::array<const char*, 3> scope_names{"node", "network", "device"};

constexpr std::array<std::pair<const char*, double LogGP::*>, 5> loggp_keys{
    {{"latency_s", &LogGP::latency_s},
     {"send_overhead_s", &LogGP::send_overhead_s},
     {"receive_overhead_s", &LogGP::receive_overhead_s},
     {"gap_s", &LogGP::gap_s},
     {"gap_per_byte_s", &LogGP::gap_per_byte_s}}};

ordered_json channel_json(const Channel& channel) {
  ordered_json json;
  json["id"] = channel.id;
  json["name"] = channel.name;
  json["scope"] = scope_names.at(static_cast<std::size_t>(channel.scope));
  json["path"] = channel.path;
  if (!channel.between.empty()) json["between"] = channel.between;
  for (const HockneySegment& segment : channel.hockney) {
    const bool ends = segment.up_to_bytes != no_end;
    json["hockney"]["segments"].push_back(
        {{"up_to_bytes", ends ? ordered_json(segment.up_to_bytes) : ordered_json(nullptr)},
         {"latency_s", segment.hockney.latency_s},
         {"bandwidth_bytes_per_s", segment.hockney.bandwidth_bytes_per_s}});
  }
  if (channel.loggp) {
    for (const auto& [key, parameter] : loggp_keys) json["loggp"][key] = *channel.loggp.*parameter;
  }
  if (channel.error > 0.0) json["error"] = channel.error;
  if (channel.tau_lop) {
    ordered_json& tables = json["tau_lop"];
    for (const auto& [bytes, time_s] : channel.tau_lop->overhead.points()) {
      tables["overhead"].push_back({{"bytes", bytes}, {"time_s", time_s}});
    }
    for (const auto& [bytes, concurrency, time_s] : channel.tau_lop->transfer.points()) {
      tables["transfer"].push_back({{"bytes", bytes}, {"concurrency", concurrency}, {"time_s", time_s}});
    }
  }
  return json;
}

ordered_json platform_json(const Platform& platform) {
  ordered_json json;
  json["schema"] = platform_schema;
  if (!platform.commit.empty()) json["commit"] = platform.commit;
  if (!platform.mpi.empty()) json["mpi"] = platform.mpi;
  if (!platform.note.empty()) json["note"] = platform.note;
  json["channels"] = ordered_json::array();
  for (const Channel& channel : platform.channels) json["channels"].push_back(channel_json(channel));
  json["nodes"] = ordered_json::array();
  for (const PlatformNode& node : platform.nodes) {
    json["nodes"].push_back({{"host", node.host}, {"kind", node.kind}, {"cores", node.cores}});
    if (node.memory_bytes_per_s != 0.0) json["nodes"].back()["memory_bytes_per_s"] = node.memory_bytes_per_s;
  }
  return json;
}

bool is_integer(double value, int least) {
  return value >= least && value <= std::numeric_limits<int>::max() && value == std::floor(value);
}

int read_integer(const JsonReader& reader, const std::string& key, int least) {
  const double value = reader.number(key);
  if (!is_integer(value, least)) {
    reader.fail(key, fmt::format("is {} (expected {}, {}, …)", value, least, least + 1));
  }
  return static_cast<int>(value);
}

double read_not_negative(const JsonReader& reader, const std::string& key) {
  const double value = reader.number(key);
  if (value < 0.0) reader.fail(key, fmt::format("is {} (expected a number >= 0)", value));
  return value;
}

/// Where the file does not say: channel 0 is shared memory, the others are networks.
Channel::Scope read_scope(const JsonReader& reader, int id) {
  if (!reader.has("scope")) return id == 0 ? Channel::Scope::node : Channel::Scope::network;
  const std::string name = reader.text("scope");
  const auto known = std::ranges::find(scope_names, name);
  if (known == scope_names.end()) {
    reader.fail("scope", fmt::format("is \"{}\" (expected one of {})", excerpt(name), fmt::join(scope_names, ", ")));
  }
  return static_cast<Channel::Scope>(known - scope_names.begin());
}

std::vector<int> read_path(const JsonReader& reader) {
  if (!reader.has("path")) reader.fail("path", "is missing (expected channel ids such as [0, 0])");
  const nlohmann::json& elements = reader.value()["path"];
  const bool fits =
      elements.is_array() && !elements.empty() && std::ranges::all_of(elements, [](const nlohmann::json& id) {
        return id.is_number_integer() && is_integer(id.get<double>(), 0);
      });
  if (!fits) reader.fail("path", fmt::format("is {} (expected channel ids such as [0, 0])", excerpt(elements)));
  return elements.get<std::vector<int>>();
}

std::vector<std::string> read_between(const JsonReader& reader) {
  if (!reader.has("between")) return {};
  const nlohmann::json& kinds = reader.value()["between"];
  const bool fits = kinds.is_array() && kinds.size() == 2 && kinds[0].is_string() && kinds[1].is_string();
  if (!fits) reader.fail("between", fmt::format("is {} (expected the kinds of two nodes)", excerpt(kinds)));
  return kinds.get<std::vector<std::string>>();
}

std::vector<HockneySegment> read_segments(const JsonReader& all) {
  std::vector<HockneySegment> segments;
  double previous = 0.0;
  for (const JsonReader& reader : all.array("segments")) {
    const double up_to_bytes = reader.number("up_to_bytes", no_end);
    if (!(up_to_bytes > previous)) {
      reader.fail("up_to_bytes",
                  fmt::format("is {} after {} (expected growing sizes > 0, and null in the last segment)", up_to_bytes,
                              previous));
    }
    previous = up_to_bytes;
    const Hockney hockney{read_not_negative(reader, "latency_s"), reader.number("bandwidth_bytes_per_s")};
    if (const double bandwidth = hockney.bandwidth_bytes_per_s; !(bandwidth > 0.0)) {
      reader.fail("bandwidth_bytes_per_s", fmt::format("is {} (expected a number > 0)", bandwidth));
    }
    segments.push_back({up_to_bytes, hockney});
  }
  if (previous != no_end) {
    all.fail("segments", "do not reach every size (expected \"up_to_bytes\": null in the last)");
  }
  return segments;
}

TauLopTables read_tau_lop(const JsonReader& reader) {
  std::vector<SizeTable::Point> overhead;
  for (const JsonReader& point : reader.array("overhead")) {
    overhead.push_back({read_not_negative(point, "bytes"), read_not_negative(point, "time_s")});
  }
  std::vector<TransferPoint> transfer;
  for (const JsonReader& point : reader.array("transfer")) {
    transfer.push_back(
        {read_not_negative(point, "bytes"), read_integer(point, "concurrency", 1), read_not_negative(point, "time_s")});
  }
  const char* key = "overhead";
  try {
    SizeTable overhead_table(std::move(overhead), SizeTable::Outside::constant);
    key = "transfer";
    return {std::move(overhead_table), TransferTable(std::move(transfer))};
  } catch (const InvalidArgument& error) {
    reader.fail(key, error.what());
  }
}

Channel read_channel(const JsonReader& reader) {
  Channel channel;
  channel.id = read_integer(reader, "id", 0);
  channel.name = reader.text("name", fmt::format("channel {}", channel.id));
  channel.scope = read_scope(reader, channel.id);
  channel.path = read_path(reader);
  channel.between = read_between(reader);
  if (reader.has("hockney")) channel.hockney = read_segments(reader.object("hockney"));
  if (reader.has("loggp")) {
    channel.loggp.emplace();
    for (const auto& [key, parameter] : loggp_keys) {
      *channel.loggp.*parameter = read_not_negative(reader.object("loggp"), key);
    }
  }
  if (reader.has("error")) channel.error = read_not_negative(reader, "error");
  if (reader.has("tau_lop")) channel.tau_lop = read_tau_lop(reader.object("tau_lop"));
  return channel;
}

std::vector<Channel> read_channels(const std::vector<JsonReader>& readers) {
  std::vector<Channel> channels;
  std::map<int, bool> has_tau_lop;
  std::vector<int> ids;
  for (const JsonReader& reader : readers) {
    const Channel& channel = channels.emplace_back(read_channel(reader));
    ids.push_back(channel.id);
    if (!has_tau_lop.emplace(channel.id, channel.tau_lop.has_value()).second) {
      reader.fail("id", fmt::format("{} is there twice (expected every channel once)", channel.id));
    }
  }
  for (std::size_t i = 0; i < channels.size(); ++i) {
    for (const int id : channels[i].path) {
      const auto on_path = has_tau_lop.find(id);
      if (on_path == has_tau_lop.end()) {
        readers[i].fail("path", fmt::format("names channel {}, which is not in the file (expected some of {})", id,
                                            fmt::join(ids, ", ")));
      }
      if (channels[i].tau_lop && !on_path->second) {
        readers[i].fail("path", fmt::format("names channel {}, which has no \"tau_lop\" (expected it on all channels "
                                            "of the path, because channel {} has it)",
                                            id, channels[i].id));
      }
    }
  }
  return channels;
}

Platform platform_from_json(const std::string& name, const nlohmann::json& json) {
  const JsonReader reader(name, json);
  reader.require_schema(platform_schema);
  Platform platform;
  platform.path = name;
  platform.commit = reader.text("commit", "");
  platform.mpi = reader.text("mpi", "");
  platform.note = reader.text("note", "");
  platform.channels = read_channels(reader.array("channels"));
  if (reader.has("nodes")) {
    for (const JsonReader& node : reader.array("nodes")) {
      platform.nodes.push_back({node.text("host", ""), node.text("kind", ""),
                                node.has("cores") ? read_integer(node, "cores", 0) : 0,
                                node.has("memory_bytes_per_s") ? read_not_negative(node, "memory_bytes_per_s") : 0.0});
    }
  }
  return platform;
}

}  // namespace

std::string format_platform(const Platform& platform) { return platform_json(platform).dump(); }

Platform read_platform_file(const std::filesystem::path& path) {
  return platform_from_json(path.string(), read_json_file(path));
}

void write_platform_file(const std::filesystem::path& path, const Platform& platform) {
  const nlohmann::ordered_json json = platform_json(platform);
  try {
    platform_from_json(path.string(), json);
  } catch (const FileFormatError& error) {
    throw InvalidArgument(fmt::format("{} (a platform that could not be read back is not written)", error.what()));
  }
  write_json_file(path, json);
}

}  // namespace steelyard::models
