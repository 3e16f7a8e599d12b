#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "models/communication/tau_lop/transmission_expression.hpp"

namespace steelyard::models {

/// An expression as a table in which equal parts stand once: nested sequences and nested concurrent parts are
/// flattened, equal concurrent parts counted, transmissions of size 0 and empty parts left out.
struct NormalizedExpression {
  struct Part {
    int node = -1;                  ///< index into `nodes`
    std::int64_t multiplicity = 1;  ///< number at once; 1 for a concurrent node, whose parts carry it
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
