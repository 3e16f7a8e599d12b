#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "models/communication/tau_lop/transmission_expression.hpp"

namespace steelyard::tests {

/// Which transmissions of an expression may go at a time: a sequence starts a part when the one before has ended,
/// concurrent parts start together and the last one ends them. Every copy of A || X is followed on its own. A
/// transmission of size 0 is through at once.
class ForkJoin {
 public:
  static constexpr int nobody = -1;

  /// What ends carries who ended it (`by`), which those that it lets start inherit.
  struct Started {
    std::size_t node;
    models::ChannelInstance channel;
    double size;
    int by;
  };

  explicit ForkJoin(const models::Expression& expression) { add(expression, none); }

  std::vector<Started> start() {
    started_.clear();
    start(0, 0.0, nobody);
    return started_;
  }

  /// @returns what this lets start
  std::vector<Started> finish(std::size_t node, double time_s, int by) {
    started_.clear();
    ended(node, time_s, by);
    return started_;
  }

  bool done() const { return done_; }
  /// Somewhere concurrent parts ended together, and which of them was last is a matter of taste.
  bool has_ties() const { return has_ties_; }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  using Kind = models::Expression::Kind;
  struct Node {
    Kind kind;
    models::ChannelInstance channel;
    double size;
    std::size_t parent;
    std::vector<std::size_t> parts;
    std::size_t ended = 0;
    double last_s = -1.0;
    int last_by = nobody;
  };

  std::size_t add(const models::Expression& expression, std::size_t parent) {
    const std::size_t index = nodes_.size();
    if (expression.multiplicity > 1) {
      nodes_.push_back({Kind::concurrent, {}, 0.0, parent, {}});
      models::Expression one = expression;
      one.multiplicity = 1;
      for (auto copy = expression.multiplicity; copy > 0; --copy) append(index, one);
    } else {
      nodes_.push_back({expression.kind, expression.channel, expression.size, parent, {}});
      for (const models::Expression& part : expression.parts) append(index, part);
    }
    return index;
  }

  void append(std::size_t parent, const models::Expression& part) {
    const std::size_t index = add(part, parent);
    nodes_[parent].parts.push_back(index);
  }

  void start(std::size_t index, double time_s, int by) {
    const Node& node = nodes_[index];
    if (node.kind == Kind::transmission && node.size > 0.0) {
      started_.push_back({index, node.channel, node.size, by});
    } else if (node.parts.empty()) {
      ended(index, time_s, by);
    } else if (node.kind == Kind::sequence) {
      start(node.parts.front(), time_s, by);
    } else {
      for (const std::size_t part : node.parts) start(part, time_s, by);
    }
  }

  void ended(std::size_t index, double time_s, int by) {
    const std::size_t parent = nodes_[index].parent;
    if (parent == none) {
      done_ = true;
      return;
    }
    Node& node = nodes_[parent];
    ++node.ended;
    if (node.kind == Kind::sequence && node.ended < node.parts.size()) {
      start(node.parts[node.ended], time_s, by);
      return;
    }
    if (node.kind == Kind::concurrent) {
      if (node.ended > 1 && node.last_by != by && std::abs(time_s - node.last_s) <= 1e-9 * time_s) has_ties_ = true;
      node.last_s = time_s;
      node.last_by = by;
    }
    if (node.ended == node.parts.size()) ended(parent, time_s, by);
  }

  std::vector<Node> nodes_;
  std::vector<Started> started_;
  bool done_ = false;
  bool has_ties_ = false;
};

}  // namespace steelyard::tests
