#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace steelyard::models {

/// Resource that transmissions contend for: a channel of the platform, and which one of several that are alike, such as
/// the shared memories of different nodes. Transmissions through different instances do not interfere.
struct ChannelInstance {
  int channel = 0;
  int instance = 0;  ///< 0 where the platform has only one
  bool operator==(const ChannelInstance&) const = default;
  bool operator<(const ChannelInstance& other) const {
    return std::tie(channel, instance) < std::tie(other.channel, other.instance);
  }
};

/// An expression of tau-Lop: transmissions T^c(m) in sequence (+) and concurrent (||), A of a kind (A ||).
/// Source: 001, section 3.
struct Expression {
  enum class Kind { transmission, sequence, concurrent };
  Kind kind = Kind::sequence;
  std::int64_t multiplicity = 1;  ///< A || …: number of these at once; at least 1
  ChannelInstance channel;        ///< of a transmission
  double size = 0.0;              ///< of a transmission: bytes, or blocks where all are multiples of a block
  std::vector<Expression> parts;  ///< of a sequence or of concurrent expressions; empty: nothing, in no time
};

/// T^c(m). @throws InvalidArgument for a size that is negative or not finite, a negative channel or instance
Expression transmission(ChannelInstance channel, double size);
/// One after the other.
Expression in_sequence(std::vector<Expression> parts);
/// All at once.
Expression concurrently(std::vector<Expression> parts);

/// Reads `T0(134)`, `T1@2(64)` where 2 is the instance, `+`, `||`, parentheses and multiplicities: a number on the left
/// of `||`. `||` binds tighter than `+`, so that `2||T0(116)+T0(18)` is a sum of two terms.
/// @throws InvalidArgument with position (from 1) and reason for all else, and for parentheses nested deeper than 500
Expression parse_expression(const std::string& text);

/// An expression as a table in which equal parts stand once: nested sequences and nested concurrent parts are
/// flattened, equal concurrent parts counted, parts without any transmission left out.
struct NormalizedExpression {
  struct Part {
    int node = -1;                  ///< index into `nodes`
    std::int64_t multiplicity = 1;  ///< number at once; 1 for a concurrent node, whose parts carry it
    bool operator==(const Part&) const = default;
    bool operator<(const Part& other) const {
      return std::tie(node, multiplicity) < std::tie(other.node, other.multiplicity);
    }
  };
  struct Node {
    Expression::Kind kind = Expression::Kind::transmission;
    ChannelInstance channel;
    double size = 0.0;
    std::vector<Part> parts;
    bool operator<(const Node& other) const {
      return std::tie(kind, channel, size, parts) < std::tie(other.kind, other.channel, other.size, other.parts);
    }
  };
  std::vector<Node> nodes;  ///< parts before what contains them
  Part root;                ///< node -1: nothing at all
};

/// @param merge_from neighbours of a sequence on the same channel, of the same multiplicity and both of at least this
/// size, become one transmission (A1). Source: 001, section 3
/// @throws InvalidArgument where multiplicities are more than can be counted
NormalizedExpression normalized(const Expression& expression, double merge_from);

}  // namespace steelyard::models
