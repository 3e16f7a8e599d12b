#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/transmission_expression.hpp"
#include "tests/models/merged_neighbours.hpp"
#include "tests/models/random_expressions.hpp"

namespace steelyard::test_normalized_expression {

using namespace steelyard::models;
using namespace steelyard::tests;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// As written, with concurrent parts in one order, whichever they had.
std::string in_order(Expression expression, std::int64_t multiplicity) {
  if (expression.kind != Expression::Kind::transmission && expression.parts.empty()) return "nothing";
  if (expression.kind == Expression::Kind::concurrent) {
    std::map<std::string, std::int64_t> counts;
    for (const Expression& part : expression.parts) counts[in_order(part, 1)] += multiplicity * part.multiplicity;
    std::string text = "(";
    for (const auto& [part, count] : counts) text.append("|").append(std::to_string(count)).append(part);
    return text.append(")");
  }
  std::string text = std::to_string(multiplicity) + "x";
  expression.multiplicity = 1;
  if (expression.kind == Expression::Kind::transmission) return text.append(to_string(expression));
  for (const Expression& part : expression.parts) text.append("+").append(in_order(part, part.multiplicity));
  return text;
}

std::string in_order(const Expression& expression) { return in_order(expression, expression.multiplicity); }

/// The expression that a table stands for.
Expression written_out(const NormalizedExpression& table, const NormalizedExpression::Part& part) {
  if (part.node < 0) return {};
  const NormalizedExpression::Node& node = table.nodes[static_cast<std::size_t>(part.node)];
  Expression expression{node.kind, part.multiplicity, node.channel, node.size, {}};
  for (const auto& inner : node.parts) expression.parts.push_back(written_out(table, inner));
  return expression;
}

void require_normal(const NormalizedExpression& table) {
  std::set<NormalizedExpression::Node> different;
  for (std::size_t n = 0; n < table.nodes.size(); ++n) {
    const auto& node = table.nodes[n];
    REQUIRE(different.insert(node).second);
    REQUIRE((node.kind == Expression::Kind::transmission ? node.size > 0.0 : node.parts.size() >= 2));
    for (const auto& part : node.parts) {
      REQUIRE(part.node >= 0);
      REQUIRE(part.node < static_cast<int>(n));
      REQUIRE(part.multiplicity >= 1);
      const auto kind = table.nodes[static_cast<std::size_t>(part.node)].kind;
      if (node.kind == Expression::Kind::sequence) REQUIRE((kind != node.kind || part.multiplicity > 1));
      if (node.kind == Expression::Kind::concurrent) REQUIRE(kind != node.kind);
    }
    if (node.kind != Expression::Kind::concurrent) continue;
    for (std::size_t i = 1; i < node.parts.size(); ++i) REQUIRE(node.parts[i - 1].node != node.parts[i].node);
  }
}

NormalizedExpression of(const std::string& text, double merge_from = never) {
  return normalized(parse_expression(text), merge_from);
}

std::string again(const std::string& text, double merge_from = never) {
  const NormalizedExpression table = of(text, merge_from);
  return to_string(written_out(table, table.root));
}

}  // namespace

TEST_CASE("a normalized expression is the same, flat, without empty parts and without anything twice") {
  Random random(1);
  const ExpressionShape shape{.depth = 4, .sizes = Sizes::alike};
  for (int trial = 0; trial < 2000; ++trial) {
    const Expression expression = random_expression(random, shape);
    for (const double merge_from : {0.0, 4.0, never}) {
      const NormalizedExpression table = normalized(expression, merge_from);
      CAPTURE(to_string(expression), merge_from);
      require_normal(table);
      REQUIRE(in_order(written_out(table, table.root)) == in_order(merged_neighbours(expression, merge_from)));
    }
  }
}

TEST_CASE("order of concurrent parts and how multiplicities are written make no difference") {
  Random random(2);
  const ExpressionShape shape{.depth = 3, .sizes = Sizes::alike};
  for (int trial = 0; trial < 1000; ++trial) {
    const Expression expression = random_expression(random, shape);
    const std::string expected = in_order(merged_neighbours(expression, never));
    for (const Expression& other : {expanded(expression), shuffled(random, expression)}) {
      const NormalizedExpression table = normalized(other, never);
      CAPTURE(to_string(expression), to_string(other));
      REQUIRE(in_order(written_out(table, table.root)) == expected);
    }
  }
}

TEST_CASE("parentheses, counts and empty messages are only ways of writing") {
  CHECK(again("(T0(1)+(T1(2)+T0(3)))") == "T0(1)+T1(2)+T0(3)");
  CHECK(again("T0(5)||(T1(2)||T0(5))") == again("2||T0(5)||T1(2)"));
  CHECK(again("T0(0)+T1(2)+T0(0)") == "T1(2)");
  CHECK(again("2||(3||T0(4))") == "6||T0(4)");
  CHECK(of("T0(0)").root.node == -1);
  CHECK(of("2||(T0(0)+T1(0))").nodes.empty());
  // Copies of a sequence are not copies of its parts, of which the first would all have to end before the others begin.
  CHECK(again("T0(1)+2||(T0(2)+T1(3))") == "T0(1)+2||(T0(2)+T1(3))");
}

TEST_CASE("neighbours of one channel and multiplicity become one transmission from a size on") {
  CHECK(again("T0(1)+T0(2)", 0.0) == "T0(3)");
  CHECK(again("T0(1)+T0(2)", 2.0) == "T0(1)+T0(2)");
  CHECK(again("T0(2)+T0(2)+T0(1)", 2.0) == "T0(4)+T0(1)");
  CHECK(again("T0(1)+T1(2)", 0.0) == "T0(1)+T1(2)");
  CHECK(again("T0(1)+T0@1(2)", 0.0) == "T0(1)+T0@1(2)");
  CHECK(again("T0(1)+2||T0(2)", 0.0) == "T0(1)+2||T0(2)");
  CHECK(again("2||T0(1)+2||T0(2)", 0.0) == "2||T0(3)");
  CHECK(again("T0(1)+(T0(2)+T1(3))", 0.0) == "T0(3)+T1(3)");
  CHECK(again("T0(1)+T1(0)+T0(2)", 0.0) == "T0(3)");
}

TEST_CASE("more at once than can be counted are refused") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Expression message = transmission({0, 0}, 1.0);
  CHECK(normalized(times(most, message), never).root.multiplicity == most);
  CHECK_THROWS_AS(normalized(times(2, concurrently({times(most, message)})), never), InvalidArgument);
  CHECK_THROWS_AS(normalized(concurrently({times(most, message), message}), never), InvalidArgument);
  CHECK_THROWS_AS(normalized(concurrently({times(most, message), transmission({1, 0}, 1.0)}), never), InvalidArgument);
  // One after the other they are counted apart.
  CHECK_NOTHROW(normalized(in_sequence({times(most, message), times(most, transmission({1, 0}, 1.0))}), never));
}

}  // namespace steelyard::test_normalized_expression
