#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/communication/platform.hpp"
#include "models/communication/tau_lop/transmission_expression.hpp"

namespace steelyard::models {

/// A message from one process to another.
struct Message {
  int from = 0;
  int to = 0;
  double bytes = 0.0;
  bool operator==(const Message&) const = default;
};

/// Messages that all processes send before any goes on.
struct Phase {
  /// How a process sends if it has several messages: the first before the next, or without waiting.
  enum class Sends { in_order, at_once };
  std::vector<Message> messages;  ///< of a process in the order of sending
  Sends sends = Sends::in_order;
};

/// Who sends what to whom: phases one after the other.
struct MessagePattern {
  std::string name;
  int processes = 0;
  std::vector<Phase> phases;
};

/// Processes on the nodes of a platform: which channel a message takes, and what contends with it.
class Placement {
 public:
  /// Scope of contention for a channel: messages inside one node; between nodes, those that one node sends or receives,
  /// because each has a link of its own to a switch. Or, as in the paper with its two nodes, messages of all nodes
  /// (001, equations 8 and 9).
  enum class Contention { per_node, per_channel };

  /// @param node_of_process 0, 1, …, see steelyard::Nodes
  /// @param kind_of_node see PlatformNode::kind; empty: all alike
  /// @throws InvalidArgument without processes, for a negative node and for a node whose kind is missing
  Placement(const Platform& platform, std::vector<int> node_of_process,
            const std::vector<std::string>& kind_of_node = {}, Contention contention = Contention::per_node);

  int processes() const { return static_cast<int>(node_of_process_.size()); }

  /// The channel of a message, and its instance at the sender's node: of those with the scope that it needs, the one
  /// between the kinds of the two nodes, or else the first between any.
  /// @throws InvalidArgument for processes that are not there, and where no channel joins their nodes
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

/// The pattern in tau-Lop's terms: phases in sequence; in a phase, processes concurrently; of a process, its
/// transmissions at once, or in sequence, those through one channel together so that A1 can merge them. A message
/// between nodes with links of their own is a transmission of both, of which the dearer one counts; between two nodes
/// that is the paper's. Source: 001, sections 3 and 4, equations 4, 13 and 14.
/// @throws InvalidArgument for a message of or to a process that is not there, to its sender, or of a size that is
/// negative or not finite, and as Placement::channel()
Expression expression(const MessagePattern& pattern, const Placement& placement);

/// Seconds by models without contention (Hockney, LogGP and its extensions): of a phase, the largest sum over the
/// messages that one process sends; of a pattern, the sum over its phases. Source: 001, sections 4.1 and 4.2.
/// @param message_s seconds of one message
/// @throws InvalidArgument for messages as expression()
double serial_cost_s(const MessagePattern& pattern, const std::function<double(const Message&)>& message_s);

// Patterns of P processes, without any computation. All throw InvalidArgument for less than one process and sizes that
// are negative or not finite.

/// Process 0 sends to process 1, both to the next two, and so on: ceil(log2 P) phases, of which phase i has 2^i
/// messages (the last one those that remain). Source: 001, section 3, equation 4 and figure 4.
MessagePattern binomial_broadcast(int processes, double bytes);

/// Every process ends with the `bytes` of all: P - 1 phases, in which every process sends to the next one, the last
/// to the first, all at once.
MessagePattern ring_allgather(int processes, double bytes);

/// Every process ends with the sum of all vectors of `bytes`, by recursive doubling: q phases in which processes that
/// differ in one bit exchange vectors, 2^q <= P < 2^(q+1); the first 2 (P - 2^q) processes halve to P - 2^q in a phase
/// beforehand and are served in one afterwards.
MessagePattern recursive_doubling_allreduce(int processes, double bytes);

/// Neighbours of a row of processes exchange `bytes`, all at once. Source: 001, section 4.2 (1D partition).
MessagePattern halo_1d(int processes, double bytes);

}  // namespace steelyard::models
