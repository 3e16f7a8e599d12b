#include "models/communication/platform_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/errors.hpp"
#include "core/base/json_file.hpp"

namespace steelyard::models {
namespace {

bool is_id(double id) { return id >= 0.0 && id <= std::numeric_limits<int>::max() && id == std::floor(id); }

int read_id(const JsonReader& reader) {
  const double id = reader.number("id");
  if (!is_id(id)) reader.fail("id", fmt::format("is {} (expected 0, 1, …)", id));
  return static_cast<int>(id);
}

std::vector<int> read_path(const JsonReader& reader) {
  std::vector<int> path;
  if (!reader.has("path")) reader.fail("path", "is missing");
  const nlohmann::json& elements = reader.value()["path"];
  const bool fits = elements.is_array() && !elements.empty() &&
                    std::all_of(elements.begin(), elements.end(), [](const nlohmann::json& id) {
                      return id.is_number_integer() && is_id(id.get<double>());
                    });
  if (!fits) reader.fail("path", fmt::format("is {} (expected channel ids such as [0, 0])", elements.dump()));
  return elements.get<std::vector<int>>();
}

std::vector<HockneySegment> read_segments(const JsonReader& hockney) {
  std::vector<HockneySegment> segments;
  double previous = 0.0;
  for (const JsonReader& reader : hockney.array("segments")) {
    HockneySegment segment;
    segment.up_to_bytes = reader.number("up_to_bytes", std::numeric_limits<double>::infinity());
    if (!(segment.up_to_bytes > previous)) reader.fail("up_to_bytes", "does not grow from segment to segment");
    previous = segment.up_to_bytes;
    segment.hockney.latency_s = reader.number("latency_s");
    if (segment.hockney.latency_s < 0.0) reader.fail("latency_s", "is negative");
    segment.hockney.bandwidth_bytes_per_s = reader.number("bandwidth_bytes_per_s");
    if (!(segment.hockney.bandwidth_bytes_per_s > 0.0)) reader.fail("bandwidth_bytes_per_s", "is not positive");
    segments.push_back(segment);
  }
  if (segments.empty() || previous != std::numeric_limits<double>::infinity()) {
    hockney.fail("segments", "does not end with \"up_to_bytes\": null");
  }
  return segments;
}

}  // namespace

Platform read_platform_file(const std::filesystem::path& path) {
  const nlohmann::json json = read_json_file(path);
  const JsonReader reader(path.string(), json);
  reader.require_schema("steelyard.platform/1");
  Platform platform;
  platform.path = path.string();
  std::set<int> seen;
  for (const JsonReader& entry : reader.array("channels")) {
    Channel channel;
    channel.id = read_id(entry);
    if (!seen.insert(channel.id).second) entry.fail("id", fmt::format("{} is there twice", channel.id));
    channel.name = entry.text("name", fmt::format("channel {}", channel.id));
    channel.path = read_path(entry);
    if (entry.has("hockney")) channel.hockney = read_segments(entry.object("hockney"));
    platform.channels.push_back(std::move(channel));
  }
  return platform;
}

}  // namespace steelyard::models
