#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <random>
#include <regex>
#include <set>
#include <string>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/transmission_expression.hpp"
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

void check_reads(const std::string& text, const Expression& expected) {
  INFO(text);
  INFO("expected " << to_string(expected));
  const Expression read = parse_expression(text);
  INFO("read " << to_string(read));
  CHECK(means_the_same(read, expected));
}

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
    REQUIRE(std::regex_search(message, found, std::regex("position ([0-9]+)")));
    CHECK(positions.contains(std::stoi(found[1])));
    CHECK(message.size() > found[0].length() + text.size() * (message.find(text) != std::string::npos ? 1 : 0) + 5);
  }
}

}  // namespace

TEST_CASE("a transmission is read with channel, instance and size") {
  for (const auto& [text, channel, size] : {std::tuple{"T0(134)", ChannelInstance{0, 0}, 134.0},
                                            {"T12(0)", ChannelInstance{12, 0}, 0.0},
                                            {"T0@3(5)", ChannelInstance{0, 3}, 5.0},
                                            {"T1@0(5)", ChannelInstance{1, 0}, 5.0},
                                            {"T2@17(1.5)", ChannelInstance{2, 17}, 1.5},
                                            {"T0(1e6)", ChannelInstance{0, 0}, 1e6},
                                            {"T0(2.5e+3)", ChannelInstance{0, 0}, 2500.0},
                                            {"T0(1.25E-1)", ChannelInstance{0, 0}, 0.125}}) {
    INFO(text);
    const Expression read = plain(parse_expression(text));
    CHECK(read.kind == Expression::Kind::transmission);
    CHECK(read.multiplicity == 1);
    CHECK(read.channel == channel);
    CHECK(read.size == size);
  }
}

TEST_CASE("concurrent binds tighter than in sequence") {
  check_reads("2||T0(116)+T0(18)", in_sequence({times(2, t(0, 116)), t(0, 18)}));
  check_reads("T0(1)+T1(2)||T2(3)+T3(4)", in_sequence({t(0, 1), concurrently({t(1, 2), t(2, 3)}), t(3, 4)}));
  check_reads("(T0(134)+T1(158))||(T0(116)+T1(104))",
              concurrently({in_sequence({t(0, 134), t(1, 158)}), in_sequence({t(0, 116), t(1, 104)})}));
  check_reads("2||(T0(1)+T1(2))", times(2, in_sequence({t(0, 1), t(1, 2)})));
  check_reads("T0(1)||(T1(2)+T0(3)||T2(4))",
              concurrently({t(0, 1), in_sequence({t(1, 2), concurrently({t(0, 3), t(2, 4)})})}));
}

TEST_CASE("a multiplicity is a number on the left of || wherever a part may be") {
  check_reads("2||3||T0(1)", times(6, t(0, 1)));
  check_reads("T0(1)||2||T1(3)", concurrently({t(0, 1), times(2, t(1, 3))}));
  check_reads("(T0(134)+T1(158))||2||T0@3(116)",
              concurrently({in_sequence({t(0, 134), t(1, 158)}), times(2, t(0, 116, 3))}));
  check_reads("1||T0(1)", t(0, 1));
  check_reads("1000000000000||T0(1)", times(1'000'000'000'000, t(0, 1)));
}

TEST_CASE("a multiplicity belongs to the part on its right alone") {
  check_reads("2||T0(1)||T1(3)", concurrently({times(2, t(0, 1)), t(1, 3)}));
  check_reads("2||(T0(1)||T1(3))", times(2, concurrently({t(0, 1), t(1, 3)})));
}

TEST_CASE("space between symbols and needless parentheses change nothing") {
  check_reads("  ( T0(134) +\tT1( 158 ) )\n||  2 || T0@3 (116)  ",
              concurrently({in_sequence({t(0, 134), t(1, 158)}), times(2, t(0, 116, 3))}));
  check_reads("((T0(1)))+(((T1(2))+T0(3)))", in_sequence({t(0, 1), t(1, 2), t(0, 3)}));
  check_reads("2||((T0(1)))", times(2, t(0, 1)));
}

TEST_CASE("what is printed reads as the same expression") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    ExpressionShape shape;
    shape.depth = whole(random, 0, 5);
    shape.sizes = Sizes::alike;
    const Expression expression = random_expression(random, shape);
    const std::string text = to_string(expression);
    INFO(text);
    const Expression read = parse_expression(text);
    REQUIRE(means_the_same(read, expression));
    REQUIRE(to_string(parse_expression(to_string(read))) == to_string(read));
  }
}

TEST_CASE("parts of nothing are left out of what is printed") {
  for (const Expression& nothing : {in_sequence({}), concurrently({}), times(2, concurrently({in_sequence({})}))}) {
    for (const Expression& expression :
         {in_sequence({t(0, 1), nothing, t(1, 2)}), in_sequence({nothing, t(0, 1), t(1, 2)}),
          in_sequence({t(0, 1), t(1, 2), nothing}), in_sequence({t(0, 1), in_sequence({nothing, t(1, 2)})})}) {
      CHECK_NOTHROW(parse_expression(to_string(expression)));
    }
    for (const Expression& expression :
         {concurrently({t(0, 1), nothing, t(1, 2)}), concurrently({nothing, t(0, 1), t(1, 2)})}) {
      CHECK_NOTHROW(parse_expression(to_string(expression)));
    }
  }
}

TEST_CASE("an expression is printed as one types it") {
  CHECK(to_string(t(0, 134)) == "T0(134)");
  CHECK(to_string(t(0, 116, 3)) == "T0@3(116)");
  CHECK(to_string(in_sequence({times(2, t(0, 116)), t(0, 18)})) == "2||T0(116)+T0(18)");
  CHECK(to_string(concurrently({in_sequence({t(0, 134), t(1, 158)}), times(2, t(0, 116, 3))})) ==
        "(T0(134)+T1(158))||2||T0@3(116)");
  CHECK(to_string(times(2, in_sequence({t(0, 1), t(1, 2)}))) == "2||(T0(1)+T1(2))");
}

TEST_CASE("sizes are printed with all their digits") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const double size = std::exp(uniform(random, -30.0, 60.0));
    const std::string text = to_string(t(0, size));
    INFO(text);
    CHECK(plain(parse_expression(text)).size == size);
  }
}

TEST_CASE("malformed text is refused with position and reason") {
  check_refused("", {1});
  check_refused("   ", {1, 4});
  check_refused("T0(", {4});
  check_refused("T0", {3});
  check_refused("T", {2});
  check_refused("T(5)", {2});
  check_refused("T0()", {4});
  check_refused("T0(1", {5});
  check_refused("T0(1 2)", {6});
  check_refused("T0[1]", {3});
  check_refused("T0@(1)", {4});
  check_refused("T-1(1)", {2});
  check_refused("T0@-1(1)", {4});
  check_refused("T0.5(1)", {3});
  check_refused("t0(1)", {1});
  check_refused("2", {1, 2});
  check_refused("2+T0(1)", {1, 2});
  check_refused("2*T0(1)", {1, 2});
  check_refused("2T0(1)", {1, 2});
  check_refused("2||", {4});
  check_refused("2||3", {4, 5});
  check_refused("T0(1)||2", {8, 9});
  check_refused("T0(1)||", {8});
  check_refused("||T0(1)", {1});
  check_refused("T0(1)||||T1(2)", {8});
  check_refused("T0(1)|T1(2)", {6, 7});
  check_refused("T0(1)+", {7});
  check_refused("+T0(1)", {1});
  check_refused("T0(1)++T0(1)", {7});
  check_refused("(T0(1)", {7});
  check_refused("((T0(1))", {9});
  check_refused("T0(1))", {6});
  check_refused("()", {2});
  check_refused("2||()", {5});
  check_refused("T0(1)T1(2)", {6});
  check_refused("T0(1) + T1(2) x", {15});
  check_refused("T0(1)+$", {7});
  check_refused("T0(1)\xc3\xa9", {6});
  check_refused(std::string("T0(1)\0", 6), {6});
}

TEST_CASE("a size that is no number of bytes is refused") {
  for (const char* size : {"-5", "nan", "inf", "infinity", "1e999", "-0.1", "--1", "x", "+", "e5", "."}) {
    check_refused("T0(" + std::string(size) + ")", {4});
  }
  check_refused("T0(0x10)", {4, 5});
  check_refused("T0(1,5)", {5});
  check_refused("T0(1e)", {4, 5});
  check_refused("T0(1.2.3)", {4, 7});
}

TEST_CASE("a multiplicity that is no whole number from 1 is refused") {
  check_refused("0||T0(1)", {1});
  check_refused("1.5||T0(1)", {1, 2});
  check_refused("-2||T0(1)", {1});
  check_refused("T0(1)||0||T0(1)", {8});
}

TEST_CASE("numbers that no integer holds are refused") {
  check_refused("99999999999999999999||T0(1)", {1});
  check_refused("T99999999999(1)", {1, 2});
  check_refused("T0@99999999999(1)", {3, 4});
  CHECK_THROWS_AS(parse_expression("9000000000000000000||9000000000000000000||T0(1)"), InvalidArgument);
}

TEST_CASE("parentheses nested deeper than 500 are refused") {
  const auto nested = [](std::size_t depth, const std::string& begin = "(") {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += begin;
    return text + "T0(1)" + std::string(depth, ')');
  };
  const auto reads = [](const std::string& text) { return count_transmissions(parse_expression(text)) > 0; };
  CHECK(reads(nested(499)));
  CHECK(reads(nested(500)));
  CHECK(reads(nested(250, "T1(1)||(")));
  CHECK_THROWS_AS(parse_expression(nested(501)), InvalidArgument);
  CHECK_THROWS_AS(parse_expression(nested(100'000)), InvalidArgument);
  CHECK_THROWS_AS(parse_expression(nested(100'000, "1||(")), InvalidArgument);
  CHECK_THROWS_AS(parse_expression(nested(100'000, "T0(1)+(")), InvalidArgument);
  CHECK_THROWS_AS(parse_expression(std::string(100'000, '(')), InvalidArgument);
}

TEST_CASE("long text without parentheses is read") {
  std::string sum = "T0(1)", concurrent = "T0(1)", multiplicities;
  for (int i = 0; i < 100'000; ++i) {
    sum += "+T0(1)";
    concurrent += "||T0(1)";
    multiplicities += "1||";
  }
  CHECK(count_transmissions(parse_expression(sum)) == 100'001);
  CHECK(count_transmissions(parse_expression(concurrent)) == 100'001);
  CHECK(count_transmissions(parse_expression(multiplicities + "T0(1)")) == 1);
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
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(transmission({0, 0}, -1.0), InvalidArgument);
  CHECK_THROWS_AS(transmission({0, 0}, infinity), InvalidArgument);
  CHECK_THROWS_AS(transmission({0, 0}, std::nan("")), InvalidArgument);
  CHECK_THROWS_AS(transmission({-1, 0}, 1.0), InvalidArgument);
  CHECK_THROWS_AS(transmission({0, -1}, 1.0), InvalidArgument);
  CHECK_THROWS_AS(times(0, t(0, 1)), InvalidArgument);
  CHECK_THROWS_AS(times(-3, t(0, 1)), InvalidArgument);
  CHECK_THROWS_AS(times(std::numeric_limits<std::int64_t>::max(), times(2, t(0, 1))), InvalidArgument);
}

}  // namespace steelyard::test_transmission_expression
