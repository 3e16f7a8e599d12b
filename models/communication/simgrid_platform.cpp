#include <fmt/format.h>

#include <algorithm>

#include "core/base/errors.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::models {
namespace {

const Channel& channel_of(const Platform& platform, Channel::Scope scope, const char* where) {
  const auto found = std::ranges::find(platform.channels, scope, &Channel::scope);
  if (found == platform.channels.end() || found->hockney.empty()) {
    throw InvalidArgument(fmt::format("no channel {} nodes with Hockney parameters (expected one)", where));
  }
  return *found;
}

double latency_s(const Channel& channel) { return channel.hockney.front().hockney.latency_s; }
double bytes_per_s(const Channel& channel) { return channel.hockney.back().hockney.bandwidth_bytes_per_s; }

/// `0:1;4096:2.5`: from a number of bytes on, a factor.
template <class Factor>
std::string factors(const Channel& channel, const Factor& factor) {
  std::string list;
  double from_bytes = 0.0;
  for (const HockneySegment& segment : channel.hockney) {
    list += fmt::format("{}{:.0f}:{}", list.empty() ? "" : ";", from_bytes, factor(segment.hockney));
    from_bytes = segment.up_to_bytes;
  }
  return list;
}

/// Whether messages in both directions share the channel: two at once, one each way, move fewer bytes together than
/// halfway between Hockney's bandwidth and twice as many.
bool is_shared_by_directions(const Channel& channel) {
  if (!channel.tau_lop || channel.tau_lop->transfer.largest_concurrency() < 2) return false;
  const TransferTable& transfer = channel.tau_lop->transfer;
  const double bytes = transfer.points().back().bytes;
  return 2.0 * bytes < 1.5 * bytes_per_s(channel) * transfer.time_s(bytes, 2);
}

}  // namespace

std::string simgrid_platform(const Platform& platform, const SimgridCluster& cluster) {
  if (!(cluster.nodes > 0 && cluster.cores > 0 && cluster.flops_per_s > 0.0)) {
    throw InvalidArgument(fmt::format("{} nodes of {} cores of {} flop/s (expected positive numbers)", cluster.nodes,
                                      cluster.cores, cluster.flops_per_s));
  }
  const Channel& memory = channel_of(platform, Channel::Scope::node, "inside");
  const Channel& network = cluster.nodes > 1 ? channel_of(platform, Channel::Scope::network, "between") : memory;
  const double first_s = latency_s(network);
  const auto differs = [&](const HockneySegment& segment) { return segment.hockney.latency_s != first_s; };
  if (first_s <= 0.0 && std::ranges::any_of(network.hockney, differs)) {
    throw InvalidArgument(
        fmt::format("channel {} ({}) has no latency for the shortest messages (expected one, of "
                    "which others are multiples)",
                    network.id, network.name));
  }
  const std::string latency_factors =
      factors(network, [&](const Hockney& segment) { return first_s > 0.0 ? segment.latency_s / first_s : 1.0; });
  const std::string bandwidth_factors =
      factors(network, [&](const Hockney& segment) { return segment.bandwidth_bytes_per_s / bytes_per_s(network); });
  return fmt::format(
      "<?xml version='1.0'?>\n"
      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n"
      "  <config>\n"
      "    <prop id=\"smpi/lat-factor\" value=\"{}\"/>\n"
      "    <prop id=\"smpi/bw-factor\" value=\"{}\"/>\n"
      "  </config>\n"
      "  <cluster id=\"nodes\" prefix=\"node-\" suffix=\"\" radical=\"0-{}\" speed=\"{}f\" core=\"{}\"\n"
      "           lat=\"{}s\" bw=\"{}Bps\" loopback_lat=\"{}s\" loopback_bw=\"{}Bps\"\n"
      "           sharing_policy=\"{}\"/>\n"
      "</platform>\n",
      latency_factors, bandwidth_factors, cluster.nodes - 1, cluster.flops_per_s, cluster.cores, 0.5 * first_s,
      bytes_per_s(network), latency_s(memory), bytes_per_s(memory),
      is_shared_by_directions(network) ? "SHARED" : "SPLITDUPLEX");
}

}  // namespace steelyard::models
