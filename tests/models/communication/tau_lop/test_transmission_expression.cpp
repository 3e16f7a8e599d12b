#include <map>
#include <regex>
#include <set>

#include "models/communication/tau_lop/transmission_expression.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_expressions.hpp"

namespace steelyard::test_transmission_expression {

using namespace steelyard::models;
using namespace steelyard::tests;

namespace {

/// What an expression means, whichever way it was put together: without parts in parentheses that change nothing.
Expression plain(Expression expression) {
  if (expression.kind == Expression::Kind::transmission) return expression;
  std::vector<Expression> parts;
  for (Expression& part : expression.parts) {
    Expression inner = plain(std::move(part));
    if (inner.kind == expression.kind && inner.multiplicity == 1) {
      parts.insert(parts.end(), inner.parts.begin(), inner.parts.end());
    } else {
      parts.push_back(std::move(inner));
    }
  }
  if (parts.size() == 1) {
    parts.front().multiplicity *= expression.multiplicity;
    return parts.front();
  }
  expression.parts = std::move(parts);
  return expression;
}

bool same(const Expression& a, const Expression& b) {
  const bool transmission = a.kind == Expression::Kind::transmission;
  return a.kind == b.kind && a.multiplicity == b.multiplicity &&
         (!transmission || (a.channel == b.channel && a.size == b.size)) && std::ranges::equal(a.parts, b.parts, same);
}

bool means_the_same(const Expression& a, const Expression& b) { return same(plain(a), plain(b)); }

Expression t(int channel, double size, int instance = 0) { return transmission({channel, instance}, size); }

/// Refused, with one of these positions.
void check_refused(const std::string& text, const std::set<int>& positions) {
  INFO("\"" << text.substr(0, 60) << "\"");
  try {
    parse_expression(text);
    FAIL_CHECK("was read");
  } catch (const InvalidArgument& error) {
    const std::string message = error.what();
    INFO(message.substr(0, 300));
    std::smatch found;
    REQUIRE(std::regex_search(message, found, std::regex("position ([0-9]+): .{5}")));
    CHECK(positions.contains(std::stoi(found[1])));
  }
}

}  // namespace

TEST_CASE("an expression is read: || binds tighter than +, a multiplicity belongs to the part on its right") {
  struct Reading {
    const char* text;
    Expression expression;
  };
  for (const Reading& reading :
       {Reading{"T12(0)", t(12, 0)}, Reading{"T0@3(5)", t(0, 5, 3)}, Reading{"T1@0(1e6)", t(1, 1e6)},
        Reading{"T2@17(2.5e+3)", t(2, 2500, 17)}, Reading{"T0(1.25E-1)", t(0, 0.125)},
        Reading{"2||T0(116)+T0(18)", in_sequence({times(2, t(0, 116)), t(0, 18)})},
        Reading{"T0(1)+T1(2)||T2(3)+T3(4)", in_sequence({t(0, 1), concurrently({t(1, 2), t(2, 3)}), t(3, 4)})},
        Reading{"T0(1)||(T1(2)+T0(3)||T2(4))",
                concurrently({t(0, 1), in_sequence({t(1, 2), concurrently({t(0, 3), t(2, 4)})})})},
        Reading{"2||3||T0(1)", times(6, t(0, 1))}, Reading{"1||T0(1)", t(0, 1)},
        Reading{"1000000000000||T0(1)", times(1'000'000'000'000, t(0, 1))},
        Reading{"2||T0(1)||T1(3)", concurrently({times(2, t(0, 1)), t(1, 3)})},
        Reading{"2||(T0(1)||T1(3))", times(2, concurrently({t(0, 1), t(1, 3)}))},
        Reading{"2||((T0(1)))", times(2, t(0, 1))},
        Reading{"  ( T0(134) +\tT1( 158 ) )\n||  2 || T0@3 (116)  ",
                concurrently({in_sequence({t(0, 134), t(1, 158)}), times(2, t(0, 116, 3))})}}) {
    INFO(reading.text);
    CHECK(means_the_same(parse_expression(reading.text), reading.expression));
  }
}

TEST_CASE("what is printed reads as the same expression, with all digits of its sizes") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    ExpressionShape shape;
    shape.depth = whole(random, 0, 5);
    shape.sizes = trial % 2 == 0 ? Sizes::alike : Sizes::different;
    const Expression expression = scaled(random_expression(random, shape), std::exp(uniform(random, -30.0, 60.0)));
    const std::string text = to_string(expression);
    INFO(text);
    const Expression read = parse_expression(text);
    REQUIRE(means_the_same(read, expression));
    REQUIRE(to_string(parse_expression(to_string(read))) == to_string(read));
  }
  CHECK(to_string(concurrently({in_sequence({t(0, 134), t(1, 158)}), times(2, t(0, 116, 3))})) ==
        "(T0(134)+T1(158))||2||T0@3(116)");
}

TEST_CASE("parts of nothing are left out of what is printed") {
  for (const Expression& nothing : {in_sequence({}), concurrently({}), times(2, concurrently({in_sequence({})}))}) {
    for (const auto join : {&in_sequence, &concurrently}) {
      const std::string expected = to_string(join({t(0, 1), t(1, 2)}));
      CHECK(to_string(join({t(0, 1), nothing, t(1, 2)})) == expected);
      CHECK(to_string(join({nothing, t(0, 1), t(1, 2)})) == expected);
      CHECK(to_string(join({t(0, 1), t(1, 2), nothing})) == expected);
    }
  }
}

TEST_CASE("malformed text is refused with position and reason") {
  using Positions = std::set<int>;
  const std::map<Positions, std::vector<std::string>> malformed{
      {{1}, {"", "t0(1)", "||T0(1)", "-2||T0(1)", "99999999999999999999||T0(1)"}},
      {{1, 2}, {"2", "2+T0(1)", "2T0(1)", "1.5||T0(1)", "T99999999999(1)"}},
      {{1, 4}, {"   "}},
      {{2}, {"T(5)", "T-1(1)"}},
      {{3}, {"T0", "T0[1]", "T0.5(1)"}},
      {{3, 4}, {"T0@99999999999(1)"}},
      {{4}, {"T0(", "T0()", "T0@(1)", "T0@-1(1)", "2||", "T0(-5)", "T0(nan)", "T0(inf)", "T0(1e999)", "T0(.)"}},
      {{4, 5}, {"2||3", "T0(0x10)"}},
      {{4, 7}, {"T0(1.2.3)"}},
      {{5}, {"T0(1", "2||()", "T0(1,5)"}},
      {{6}, {"T0(1 2)", "T0(1))", "T0(1)T1(2)", "T0(1)\xc3\xa9", std::string("T0(1)\0", 6)}},
      {{6, 7}, {"T0(1)|T1(2)"}},
      {{7}, {"T0(1)++T0(1)", "(T0(1)"}},
      {{8}, {"T0(1)||", "T0(1)||||T1(2)", "T0(1)||0||T0(1)"}},
      {{8, 9}, {"T0(1)||2"}},
      {{15}, {"T0(1) + T1(2) x"}},
      {{22}, {"9000000000000000000||9000000000000000000||T0(1)", "9000000000000000000||(2||T0(1))"}}};
  for (const auto& [positions, texts] : malformed) {
    for (const std::string& text : texts) check_refused(text, positions);
  }
}

TEST_CASE("long text is read, and parentheses nested deeper than 500 are refused") {
  const auto repeated = [](const std::string& text, std::size_t count) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  const auto nested = [&](std::size_t depth, const std::string& begin) {
    return repeated(begin, depth) + "T0(1)" + std::string(depth, ')');
  };
  const auto count = [](const std::string& text) { return count_transmissions(parse_expression(text)); };
  CHECK(count(nested(500, "(")) == 1);
  CHECK(count(nested(250, "T1(1)||(")) == 251);
  CHECK(count(repeated("(T0(1))+", 1000) + "T0(1)") == 1001);
  for (const char* begin : {"(", "1||(", "T0(1)+("}) {
    CHECK_THROWS_AS(parse_expression(nested(501, begin)), InvalidArgument);
    CHECK_THROWS_AS(parse_expression(nested(100'000, begin)), InvalidArgument);
  }
  CHECK(count(repeated("T0(1)+", 100'000) + "T0(1)") == 100'001);
  CHECK(count(repeated("T0(1)||", 100'000) + "T0(1)") == 100'001);
  CHECK(count(repeated("1||", 100'000) + "T0(1)") == 1);
}

TEST_CASE("random text is read or refused") {
  Random random(3);
  const std::vector<std::string> symbols{"T0(5)", "T1@2(1.5)", "||", "+", "2||", "(", ")",
                                         "T",     "|",         "7",  " ", "@",   "-"};
  int read = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string text;
    for (int length = whole(random, 0, 9); length > 0; --length) {
      text += symbols[static_cast<std::size_t>(whole(random, 0, trial % 2 == 0 ? 6 : 12))];
    }
    INFO(text);
    try {
      const Expression expression = parse_expression(text);
      ++read;
      REQUIRE(means_the_same(parse_expression(to_string(expression)), expression));
    } catch (const InvalidArgument&) {
    }
  }
  CHECK(read > 100);
}

TEST_CASE("an expression of impossible parts is refused") {
  for (const double size : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CHECK_THROWS_AS(transmission({0, 0}, size), InvalidArgument);
  }
  CHECK_THROWS_AS(transmission({-1, 0}, 1.0), InvalidArgument);
  CHECK_THROWS_AS(transmission({0, -1}, 1.0), InvalidArgument);
  CHECK_THROWS_AS(times(0, t(0, 1)), InvalidArgument);
  CHECK_THROWS_AS(times(std::numeric_limits<std::int64_t>::max(), times(2, t(0, 1))), InvalidArgument);
}

}  // namespace steelyard::test_transmission_expression
