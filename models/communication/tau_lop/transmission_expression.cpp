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

namespace {

bool is_digit(char sign) { return std::isdigit(static_cast<unsigned char>(sign)) != 0; }

/// sum = group { "+" group }; group = factor { "||" factor };
/// factor = { number "||" } element; element = "T" id [ "@" id ] "(" size ")" | "(" sum ")".
class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Expression parse() {
    Expression expression = sum();
    peek();
    if (position_ < text_.size()) fail("expected '+', '||' or the end");
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
    while (is_digit(peek())) {
      const std::size_t start = position_;
      const auto factor = number<std::int64_t>("a multiplicity such as the 2 of 2||T0(116)");
      if (!accept("||")) fail("expected '||' after the multiplicity");
      if (factor < 1) fail_at(start, "expected a multiplicity of at least 1");
      if (__builtin_mul_overflow(multiplicity, factor, &multiplicity)) {
        fail_at(start, "a multiplicity larger than can be counted");
      }
    }
    const std::size_t start = position_;
    Expression multiplied = element();
    if (__builtin_mul_overflow(multiplied.multiplicity, multiplicity, &multiplied.multiplicity)) {
      fail_at(start, "a multiplicity larger than can be counted");
    }
    return multiplied;
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
    channel.channel = number<int>("a channel such as the 0 of T0(134)");
    if (accept("@")) channel.instance = number<int>("an instance such as the 3 of T0@3(134)");
    expect("(", "'(' and the size");
    const auto size = number<double>("a size, a number >= 0");
    expect(")", "')' after the size");
    return transmission(channel, size);
  }

  /// A number without a sign.
  template <class Number>
  Number number(const char* expected) {
    const char first = peek();
    Number value = 0;
    const auto [stop, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a number out of range");
    if (!(is_digit(first) || first == '.') || error != std::errc()) fail(fmt::format("expected {}", expected));
    position_ = static_cast<std::size_t>(stop - text_.data());
    return value;
  }

  char peek() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
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

/// a + b c
std::int64_t sum_of(std::int64_t a, std::int64_t b, std::int64_t c) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(b, c, &result) || __builtin_add_overflow(a, result, &result)) {
    throw InvalidArgument("more concurrent transmissions than can be counted");
  }
  return result;
}

class Normalizer {
 public:
  explicit Normalizer(double merge_from) : merge_from_(merge_from) {}

  NormalizedExpression normalized(const Expression& expression) {
    NormalizedExpression result;
    result.root = add(expression);
    // Whoever follows the expression counts its transmissions.
    if (result.root.node >= 0) sum_of(0, result.root.multiplicity, widths_[static_cast<std::size_t>(result.root.node)]);
    result.nodes = std::move(nodes_);
    return result;
  }

 private:
  /// Node -1 for nothing.
  Part add(const Expression& expression) {
    if (expression.kind == Expression::Kind::transmission) {
      return {intern({expression.kind, expression.channel, expression.size, {}}), expression.multiplicity};
    }
    const bool is_sequence = expression.kind == Expression::Kind::sequence;
    std::vector<Part> parts;
    for (const Expression& element : expression.parts) {
      const Part part = add(element);
      if (part.node < 0) continue;
      if (is_sequence) {
        for (const Part& inner : unpacked(part, Expression::Kind::sequence)) append(parts, inner);
      } else {
        parts.push_back(part);
      }
    }
    if (!is_sequence || parts.size() < 2) return concurrent(parts, expression.multiplicity);
    return {intern({Expression::Kind::sequence, {}, 0.0, std::move(parts)}), expression.multiplicity};
  }

  /// Parts of a single node of this kind, or else the part itself.
  std::vector<Part> unpacked(const Part& part, Expression::Kind kind) const {
    const Node& node = nodes_[static_cast<std::size_t>(part.node)];
    return node.kind == kind && part.multiplicity == 1 ? node.parts : std::vector<Part>{part};
  }

  /// Counts equal parts.
  Part concurrent(const std::vector<Part>& parts, std::int64_t multiplicity) {
    std::map<int, std::int64_t> counts;
    for (const Part& part : parts) {
      for (const Part& inner : unpacked(part, Expression::Kind::concurrent)) {
        counts[inner.node] = sum_of(counts[inner.node], inner.multiplicity, 1);
      }
    }
    Node node{Expression::Kind::concurrent, {}, 0.0, {}};
    for (const auto& [part, count] : counts) node.parts.push_back({part, sum_of(0, count, multiplicity)});
    if (node.parts.size() > 1) return {intern(std::move(node)), 1};
    return node.parts.empty() ? Part{} : node.parts.front();
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

  /// Transmissions at once at most.
  std::int64_t width(const Node& node) const {
    if (node.kind == Expression::Kind::transmission) return 1;
    std::int64_t widest = 0;
    for (const Part& part : node.parts) {
      const std::int64_t inner = widths_[static_cast<std::size_t>(part.node)];
      const bool is_sequence = node.kind == Expression::Kind::sequence;
      widest = is_sequence ? std::max(widest, sum_of(0, part.multiplicity, inner))
                           : sum_of(widest, part.multiplicity, inner);
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
  return Normalizer(merge_from).normalized(expression);
}

}  // namespace steelyard::models
