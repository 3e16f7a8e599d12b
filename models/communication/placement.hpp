#pragma once

#include <string>
#include <vector>

#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/transmission_expression.hpp"

namespace steelyard::models {

/// Processes on the nodes of a platform: which channel a message takes, and what contends with it.
class Placement {
 public:
  /// Scope of contention for a channel: messages inside one node; between nodes, those that one node sends or receives,
  /// for each has a link of its own to a switch. Or as in the paper, whose nodes are two, those of all nodes (001,
  /// equations 8 and 9).
  enum class Contention { per_node, per_channel };

  /// @param node_of_process 0, 1, …, see steelyard::Nodes
  /// @param kind_of_node see PlatformNode::kind; empty: all alike
  /// @throws InvalidArgument without processes, for a negative node and for a node whose kind is missing
  Placement(const Platform& platform, std::vector<int> node_of_process,
            const std::vector<std::string>& kind_of_node = {}, Contention contention = Contention::per_node);

  int processes() const { return static_cast<int>(node_of_process_.size()); }

  /// The channel of a message, of which the sender's node has this instance: of those with the scope that it needs, the
  /// one between the kinds of the two nodes, or else the first between any. @throws InvalidArgument for processes that
  /// are not there, and where no channel joins their nodes
  ChannelInstance channel(int from, int to) const;
  /// Instance of the channel at the receiver's node.
  ChannelInstance receiving_channel(int from, int to) const { return {channel(from, to).channel, instance_of(to)}; }

 private:
  int instance_of(int process) const {
    return contention_ == Contention::per_node ? node_of_process_[static_cast<std::size_t>(process)] : 0;
  }
  int kind(int node) const { return kind_of_node_.empty() ? 0 : kind_of_node_[static_cast<std::size_t>(node)]; }

  std::vector<int> node_of_process_;
  std::vector<int> kind_of_node_;  ///< numbers of the kinds; empty: all 0
  std::vector<std::string> kinds_;
  std::vector<int> within_;                ///< channel inside a node by its kind; -1: none
  std::vector<std::vector<int>> between_;  ///< channel by the kinds of two nodes; -1: none
  Contention contention_;
};

}  // namespace steelyard::models
