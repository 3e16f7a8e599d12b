#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/communication/placement.hpp"
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

/// @throws InvalidArgument for a message of or to a process that is not there, to its sender, or of a size that is
/// negative or not finite
void require_pattern(const MessagePattern& pattern);

/// The pattern in tau-Lop's terms: phases in sequence; in a phase, processes concurrently; of a process, its
/// transmissions at once, or in sequence, those through one channel together so that A1 can merge them. Source: 001,
/// sections 3 and 4, equations 4, 13 and 14. A message between nodes with links of their own is a transmission of both
/// of them, of which the dearer one counts; between two nodes that is the paper's.
/// @throws InvalidArgument as require_pattern() and Placement::channel()
Expression expression(const MessagePattern& pattern, const Placement& placement);

/// Seconds by models without contention (Hockney, LogGP and its extensions): of a phase, the largest sum over the
/// messages that one process sends; of a pattern, the sum over its phases. Source: 001, sections 4.1 and 4.2.
/// @param message_s seconds of one message
/// @throws InvalidArgument as require_pattern()
double serial_cost_s(const MessagePattern& pattern, const std::function<double(const Message&)>& message_s);

}  // namespace steelyard::models
