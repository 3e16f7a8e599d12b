#include "models/communication/tau_lop/transmission_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::models {

Expression transmission(ChannelInstance channel, double size) {
  if (channel.channel < 0 || channel.instance < 0) {
    throw InvalidArgument(fmt::format("channel {}, instance {} (expected 0, 1, …)", channel.channel, channel.instance));
  }
  if (!(std::isfinite(size) && size >= 0.0)) {
    throw InvalidArgument(fmt::format("transmission of size {} (expected a finite number >= 0)", size));
  }
  return {Expression::Kind::transmission, 1, channel, size, {}};
}

Expression in_sequence(std::vector<Expression> parts) {
  return {Expression::Kind::sequence, 1, {}, 0.0, std::move(parts)};
}

Expression concurrently(std::vector<Expression> parts) {
  return {Expression::Kind::concurrent, 1, {}, 0.0, std::move(parts)};
}

Expression times(std::int64_t multiplicity, Expression expression) {
  if (multiplicity < 1) throw InvalidArgument(fmt::format("{} || … (expected at least 1)", multiplicity));
  if (__builtin_mul_overflow(expression.multiplicity, multiplicity, &expression.multiplicity)) {
    throw InvalidArgument(fmt::format("{} || … is more than can be counted", multiplicity));
  }
  return expression;
}

namespace {

/// sum = group { "+" group }; group = factor { "||" factor };
/// factor = { number "||" } element; element = "T" id [ "@" id ] "(" size ")" | "(" sum ")".
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Expression parse() {
    Expression expression = sum();
    if (!at_end()) fail("expected '+', '||' or the end");
    return expression;
  }

 private:
  static constexpr int deepest = 500;

  Expression sum() {
    std::vector<Expression> parts{group()};
    while (accept("+")) parts.push_back(group());
    return parts.size() == 1 ? std::move(parts.front()) : in_sequence(std::move(parts));
  }

  Expression group() {
    std::vector<Expression> parts{factor()};
    while (accept("||")) parts.push_back(factor());
    return parts.size() == 1 ? std::move(parts.front()) : concurrently(std::move(parts));
  }

  Expression factor() {
    std::int64_t multiplicity = 1;
    while (std::isdigit(static_cast<unsigned char>(peek())) != 0) {
      const std::size_t start = position_;
      const auto factor = whole_number<std::int64_t>("a multiplicity such as the 2 of 2||T0(116)");
      if (!accept("||")) fail("expected '||' after the multiplicity");
      if (factor < 1) fail_at(start, "expected a multiplicity of at least 1");
      if (__builtin_mul_overflow(multiplicity, factor, &multiplicity)) {
        fail_at(start, "a multiplicity larger than can be counted");
      }
    }
    const std::size_t start = position_;
    Expression multiplied = element();
    if (std::int64_t product = 0; __builtin_mul_overflow(multiplied.multiplicity, multiplicity, &product)) {
      fail_at(start, "a multiplicity larger than can be counted");
    }
    return times(multiplicity, std::move(multiplied));
  }

  Expression element() {
    if (accept("(")) {
      if (++depth_ > deepest) fail(fmt::format("nested deeper than {}", deepest));
      Expression inside = sum();
      --depth_;
      expect(")", "')'");
      return inside;
    }
    expect("T", "a transmission such as T0(134), a multiplicity or '('");
    ChannelInstance channel;
    channel.channel = whole_number<int>("a channel such as the 0 of T0(134)");
    if (accept("@")) channel.instance = whole_number<int>("an instance such as the 3 of T0@3(134)");
    expect("(", "'(' and the size");
    const double size = read_size();
    expect(")", "')' after the size");
    return transmission(channel, size);
  }

  template <class Integer>
  Integer whole_number(const char* expected) {
    peek();
    Integer value = 0;
    const char* end = text_.data() + text_.size();
    const bool is_digit = position_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[position_])) != 0;
    const auto [stop, error] = std::from_chars(text_.data() + position_, end, value);
    if (!is_digit || error != std::errc()) {
      fail(error == std::errc::result_out_of_range ? "a number larger than can be counted"
                                                   : fmt::format("expected {}", expected));
    }
    position_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }

  double read_size() {
    const char next = peek();
    double value = 0.0;
    const bool starts = std::isdigit(static_cast<unsigned char>(next)) != 0 || next == '.';
    const auto [stop, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    if (!starts || error != std::errc() || !std::isfinite(value)) fail("expected a size, a number >= 0");
    position_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }

  char peek() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool at_end() {
    peek();
    return position_ == text_.size();
  }

  bool accept(std::string_view sign) {
    peek();
    if (text_.compare(position_, sign.size(), sign) != 0) return false;
    position_ += sign.size();
    return true;
  }

  void expect(std::string_view sign, const char* expected) {
    if (!accept(sign)) fail(fmt::format("expected {}", expected));
  }

  [[noreturn]] void fail(const std::string& reason) {
    peek();
    fail_at(position_, reason);
  }

  [[noreturn]] void fail_at(std::size_t position, const std::string& reason) const {
    const std::string found = position < text_.size() ? fmt::format("'{}'", text_.substr(position, 12)) : "the end";
    throw InvalidArgument(fmt::format("expression, position {}: {}, found {}", position + 1, reason, found));
  }

  const std::string& text_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression parse_expression(const std::string& text) { return Parser(text).parse(); }

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
        return {intern({expression.kind, expression.channel, expression.size, {}}), expression.multiplicity};
      case Expression::Kind::sequence:
        return add_sequence(expression);
      case Expression::Kind::concurrent:
        return add_concurrent(expression);
    }
    return {};
  }

  /// @throws InvalidArgument where the concurrent transmissions are more than a 64-bit integer counts
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
