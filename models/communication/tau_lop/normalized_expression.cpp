#include "models/communication/tau_lop/normalized_expression.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {
namespace {

using Node = NormalizedExpression::Node;
using Part = NormalizedExpression::Part;

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw InvalidArgument("more concurrent transmissions than can be counted");
  return result;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw InvalidArgument("more concurrent transmissions than can be counted");
  return result;
}

class Normalizer {
 public:
  explicit Normalizer(double merge_from) : merge_from_(merge_from) {}

  /// Node -1 for nothing.
  Part add(const Expression& expression) {
    switch (expression.kind) {
      case Expression::Kind::transmission:
        if (!(expression.size > 0.0)) return {};
        return {intern({expression.kind, expression.channel, expression.size, {}}), expression.multiplicity};
      case Expression::Kind::sequence:
        return add_sequence(expression);
      case Expression::Kind::concurrent:
        return add_concurrent(expression);
    }
    return {};
  }

  /// @throws InvalidArgument where so many at once are more than can be counted
  void require_countable(const Part& root) const {
    if (root.node >= 0) product(root.multiplicity, widths_[static_cast<std::size_t>(root.node)]);
  }

  std::vector<Node> take_nodes() { return std::move(nodes_); }

 private:
  Part add_sequence(const Expression& expression) {
    std::vector<Part> parts;
    for (const Expression& element : expression.parts) {
      const Part part = add(element);
      if (part.node < 0) continue;
      const Node node = nodes_[static_cast<std::size_t>(part.node)];
      if (node.kind == Expression::Kind::sequence && part.multiplicity == 1) {
        for (const Part& inner : node.parts) append(parts, inner);
      } else {
        append(parts, part);
      }
    }
    if (parts.empty()) return {};
    if (parts.size() == 1) return multiplied(parts.front(), expression.multiplicity);
    return {intern({Expression::Kind::sequence, {}, 0.0, std::move(parts)}), expression.multiplicity};
  }

  Part add_concurrent(const Expression& expression) {
    std::map<int, std::int64_t> counts;
    for (const Expression& element : expression.parts) {
      const Part part = add(element);
      if (part.node < 0) continue;
      const Node& node = nodes_[static_cast<std::size_t>(part.node)];
      const std::vector<Part> inner =
          node.kind == Expression::Kind::concurrent ? node.parts : std::vector<Part>{{part.node, 1}};
      for (const Part& one : inner) {
        std::int64_t& count = counts[one.node];
        count = sum(count, product(one.multiplicity, part.multiplicity));
      }
    }
    return concurrent(counts, expression.multiplicity);
  }

  Part concurrent(const std::map<int, std::int64_t>& counts, std::int64_t multiplicity) {
    if (counts.empty()) return {};
    if (counts.size() == 1) {
      return {counts.begin()->first, product(counts.begin()->second, multiplicity)};
    }
    Node node{Expression::Kind::concurrent, {}, 0.0, {}};
    for (const auto& [part, count] : counts) node.parts.push_back({part, product(count, multiplicity)});
    return {intern(std::move(node)), 1};
  }

  Part multiplied(Part part, std::int64_t multiplicity) {
    const Node& node = nodes_[static_cast<std::size_t>(part.node)];
    if (node.kind != Expression::Kind::concurrent) return {part.node, product(part.multiplicity, multiplicity)};
    std::map<int, std::int64_t> counts;
    for (const Part& inner : node.parts) counts[inner.node] = inner.multiplicity;
    return concurrent(counts, multiplicity);
  }

  void append(std::vector<Part>& parts, Part part) {
    if (!parts.empty() && parts.back().multiplicity == part.multiplicity) {
      const Node& last = nodes_[static_cast<std::size_t>(parts.back().node)];
      const Node& next = nodes_[static_cast<std::size_t>(part.node)];
      const bool same_channel =
          last.kind == Expression::Kind::transmission && next.kind == last.kind && last.channel == next.channel;
      if (same_channel && last.size >= merge_from_ && next.size >= merge_from_) {
        parts.back().node = intern({last.kind, last.channel, last.size + next.size, {}});
        return;
      }
    }
    parts.push_back(part);
  }

  int intern(Node node) {
    const auto [entry, is_new] = numbers_.emplace(node, static_cast<int>(nodes_.size()));
    if (is_new) {
      widths_.push_back(width(node));
      nodes_.push_back(std::move(node));
    }
    return entry->second;
  }

  /// Transmissions at once at most, so that whoever follows the expression can count them.
  std::int64_t width(const Node& node) const {
    if (node.kind == Expression::Kind::transmission) return 1;
    std::int64_t widest = 0;
    for (const Part& part : node.parts) {
      const std::int64_t wide = product(part.multiplicity, widths_[static_cast<std::size_t>(part.node)]);
      widest = node.kind == Expression::Kind::sequence ? std::max(widest, wide) : sum(widest, wide);
    }
    return widest;
  }

  double merge_from_;
  std::vector<Node> nodes_;
  std::vector<std::int64_t> widths_;
  std::map<Node, int> numbers_;
};

}  // namespace

NormalizedExpression normalized(const Expression& expression, double merge_from) {
  Normalizer normalizer(merge_from);
  NormalizedExpression result;
  result.root = normalizer.add(expression);
  normalizer.require_countable(result.root);
  result.nodes = normalizer.take_nodes();
  return result;
}

}  // namespace steelyard::models
