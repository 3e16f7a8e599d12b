#include "models/communication/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

/// Id of the channel between nodes of two kinds; -1: there is none.
int find_channel(const Platform& platform, Channel::Scope scope, const std::string& one, const std::string& other) {
  int any = -1;
  for (const Channel& channel : platform.channels) {
    if (channel.scope != scope) continue;
    const std::vector<std::string>& kinds = channel.between;
    if (kinds.empty()) {
      if (any < 0) any = channel.id;
    } else if ((kinds.front() == one && kinds.back() == other) || (kinds.front() == other && kinds.back() == one)) {
      return channel.id;
    }
  }
  return any;
}

}  // namespace

Placement::Placement(const Platform& platform, std::vector<int> node_of_process,
                     const std::vector<std::string>& kind_of_node, Contention contention)
    : node_of_process_(std::move(node_of_process)), contention_(contention) {
  if (node_of_process_.empty()) throw InvalidArgument("placement of no processes");
  for (const int node : node_of_process_) {
    if (node < 0) throw InvalidArgument(fmt::format("a process on node {} (expected 0, 1, …)", node));
    if (!kind_of_node.empty() && static_cast<std::size_t>(node) >= kind_of_node.size()) {
      throw InvalidArgument(
          fmt::format("a process on node {} (expected 0 … {}, whose kinds are known)", node, kind_of_node.size() - 1));
    }
  }
  for (const std::string& kind : kind_of_node) {
    const auto known = std::find(kinds_.begin(), kinds_.end(), kind);
    kind_of_node_.push_back(static_cast<int>(known - kinds_.begin()));
    if (known == kinds_.end()) kinds_.push_back(kind);
  }
  if (kinds_.empty()) {
    // Whatever the platform's nodes are: if all are of one kind, its channels are meant.
    kinds_.push_back(platform.nodes.empty() ? "" : platform.nodes.front().kind);
  }
  for (const std::string& one : kinds_) {
    within_.push_back(find_channel(platform, Channel::Scope::node, one, one));
    std::vector<int>& row = between_.emplace_back();
    for (const std::string& other : kinds_) row.push_back(find_channel(platform, Channel::Scope::network, one, other));
  }
}

ChannelInstance Placement::channel(int from, int to) const {
  if (from < 0 || from >= processes() || to < 0 || to >= processes()) {
    throw InvalidArgument(fmt::format("message from process {} to {} (expected 0 … {})", from, to, processes() - 1));
  }
  const int from_node = node_of_process_[static_cast<std::size_t>(from)];
  const int to_node = node_of_process_[static_cast<std::size_t>(to)];
  const auto from_kind = static_cast<std::size_t>(kind(from_node));
  const auto to_kind = static_cast<std::size_t>(kind(to_node));
  const bool is_inside = from_node == to_node;
  const int id = is_inside ? within_[from_kind] : between_[from_kind][to_kind];
  if (id < 0 && is_inside) {
    throw InvalidArgument(fmt::format("no channel inside nodes of kind '{}' on this platform", kinds_[from_kind]));
  }
  if (id < 0) {
    throw InvalidArgument(fmt::format("no channel between nodes of kind '{}' and '{}' on this platform",
                                      kinds_[from_kind], kinds_[to_kind]));
  }
  return {id, instance_of(from)};
}

}  // namespace steelyard::models
