// tau-Lop: how expressions are read, the tables of measured times, and what transmissions cost.
#include <map>
#include <set>
#include <sstream>

#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/catch.hpp"
#include "tests/models/random_expressions.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_tau_lop {

using namespace steelyard::models;
using namespace steelyard::tests;
using Outside = SizeTable::Outside;
using SizePoints = std::vector<SizeTable::Point>;
using TransferPoints = std::vector<TransferPoint>;
using Times = std::map<double, double>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Linear between sizes, outside of them constant or proportional.
double interpolated_s(const Times& times, double bytes, Outside outside) {
  const auto& [first, first_s] = *times.begin();
  const auto& [last, last_s] = *times.rbegin();
  const bool constant = outside == Outside::constant;
  if (bytes <= first) return constant ? first_s : first_s * bytes / first;
  if (bytes >= last) return constant ? last_s : last_s * bytes / last;
  const auto b = times.upper_bound(bytes), a = std::prev(b);
  return ((b->first - bytes) * a->second + (bytes - a->first) * b->second) / (b->first - a->first);
}

/// Times by number of transfers, for all sizes, within the restrictions, as the definition says.
std::map<int, Times> bounded_times(const TransferPoints& points) {
  std::map<int, Times> measured, bounded;
  for (const TransferPoint& point : points) measured[point.concurrency][point.bytes] = point.time_s;
  int before = 0;
  for (const auto& [tau, times] : measured) {
    for (const TransferPoint& point : points) {
      double time_s = interpolated_s(times, point.bytes, Outside::proportional);
      if (before > 0) {
        const double least = bounded[before][point.bytes];
        time_s = std::min(std::max(time_s, least), least * tau / before);
      }
      bounded[tau][point.bytes] = time_s;
    }
    before = tau;
  }
  return bounded;
}

/// Times that know no law; with `gaps`, of some sizes only.
TransferPoints noisy_points(Random& random, bool gaps) {
  std::set<int> concurrencies{1};
  for (int i = whole(random, 0, 6); i > 0; --i) concurrencies.insert(whole(random, 2, 40));
  std::set<double> sizes;
  for (int i = whole(random, 1, 8); i > 0; --i) sizes.insert(std::exp(uniform(random, 0.0, 14.0)));
  TransferPoints points;
  for (const int concurrency : concurrencies) {
    for (const double bytes : sizes) {
      if (gaps && (concurrency > 1 || bytes != *sizes.begin()) && whole(random, 0, 2) == 0) continue;
      points.push_back({bytes, concurrency, 1e-9 * bytes * concurrency * std::exp(uniform(random, -2.0, 2.0))});
    }
  }
  std::shuffle(points.begin(), points.end(), random);
  return points;
}

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

}  // namespace

TEST_CASE("an expression is read: || binds tighter than +, a multiplicity belongs to the part on its right") {
  struct Reading {
    const char* text;
    Expression expression;
  };
  for (const Reading& reading :
       {Reading{"T12(0)", t(12, 0)}, Reading{"T1@0(1e6)", t(1, 1e6)}, Reading{"T2@17(2.5e+3)", t(2, 2500, 17)},
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
    // With a character less it is read or refused.
    std::string mistyped = text;
    mistyped.erase(static_cast<std::size_t>(whole(random, 0, static_cast<int>(text.size()) - 1)), 1);
    INFO(mistyped);
    try {
      parse_expression(mistyped);
    } catch (const InvalidArgument&) {
    }
  }
  CHECK(to_string(concurrently({in_sequence({t(0, 134), t(1, 158)}), times(2, t(0, 116, 3))})) ==
        "(T0(134)+T1(158))||2||T0@3(116)");
}

TEST_CASE("malformed text is refused with its position") {
  const auto refused = [](const std::string& text, const std::string& where = "position ") {
    INFO(text);
    CHECK_THROWS_MATCHES(parse_expression(text), InvalidArgument, MessageMatches(ContainsSubstring(where)));
  };
  refused("T0(-5)", "position 4: ");
  refused("T0(1)||||T1(2)", "position 8: ");
  refused("T0(1) + T1(2) x", "position 15: ");
  for (const std::string& text : {std::string(), std::string("   "), std::string("T0(1)\0", 6)}) refused(text);
  refused("T0(1 2)");
  std::istringstream texts(
      "t0(1) ||T0(1) -2||T0(1) 99999999999999999999||T0(1) 2 2+T0(1) 2T0(1) 1.5||T0(1) T99999999999(1) T(5) T-1(1) T0 "
      "T0[1] T0.5(1) T0@99999999999(1) T0( T0() T0@(1) T0@-1(1) 2|| T0(nan) T0(inf) T0(1e999) T0(.) 2||3 T0(0x10) "
      "T0(1.2.3) T0(1 2||() T0(1,5) T0(1)) T0(1)T1(2) T0(1)\xc3\xa9 T0(1)|T1(2) T0(1)++T0(1) (T0(1) T0(1)|| "
      "T0(1)||0||T0(1) T0(1)||2 9000000000000000000||9000000000000000000||T0(1) 9000000000000000000||(2||T0(1))");
  for (std::string text; texts >> text;) refused(text);
}

TEST_CASE("long text is read, and parentheses nested deeper than 500 are refused") {
  const auto count = [](const std::string& begin, int times, const std::string& end = "") {
    std::string before, after;
    for (int i = 0; i < times; ++i) {
      before += begin;
      after += end;
    }
    return count_transmissions(parse_expression(before + "T0(1)" + after));
  };
  CHECK(count("(", 500, ")") == 1);
  CHECK(count("T1(1)||(", 250, ")") == 251);
  CHECK(count("(T0(1))+", 1000) == 1001);
  for (const char* begin : {"(", "1||(", "T0(1)+("}) {
    for (const int times : {501, 100'000}) CHECK_THROWS_AS(count(begin, times, ")"), InvalidArgument);
  }
  CHECK(count("T0(1)+", 100'000) == 100'001);
  CHECK(count("T0(1)||", 100'000) == 100'001);
  CHECK(count("1||", 100'000) == 1);
}

TEST_CASE("an expression of impossible parts is refused") {
  for (const double size : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CHECK_THROWS_AS(transmission({0, 0}, size), InvalidArgument);
  }
  CHECK_THROWS_AS(transmission({-1, 0}, 1.0), InvalidArgument);
  CHECK_THROWS_AS(transmission({0, -1}, 1.0), InvalidArgument);
}

TEST_CASE("a size table is linear between measured sizes, and constant or proportional outside of them") {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const Outside outside = trial % 2 == 0 ? Outside::constant : Outside::proportional;
    SizePoints points;
    Times times;
    double bytes = trial % 4 == 0 ? 0.0 : std::exp(uniform(random, -3.0, 12.0));
    for (int i = whole(random, 1, 12); i > 0; --i) {
      points.push_back({bytes, std::exp(uniform(random, -20.0, 0.0))});
      times[bytes] = points.back().time_s;
      bytes += std::exp(uniform(random, -3.0, 12.0));
    }
    const SizeTable table(points, outside);
    REQUIRE(table.points() == points);
    for (const auto& [size, time_s] : times) REQUIRE(table.time_s(size) == time_s);
    for (int i = 0; i < 20; ++i) {
      const double size = i == 0 ? 0.0 : std::exp(uniform(random, -4.0, 14.0));
      const double expected_s = interpolated_s(times, size, outside);
      REQUIRE_THAT(table.time_s(size), WithinRel(expected_s, 1e-9) || WithinAbs(expected_s, 1e-12));
    }
  }
}

TEST_CASE("transfer times are linear between sizes and numbers of transfers, and are moved into the restrictions") {
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    TransferPoints points = noisy_points(random, trial % 2 == 0);
    // In proportion to size and number, which is a bound but for rounding, none is moved.
    const bool is_on_bound = trial % 4 == 1;
    const double seconds_per_byte = std::exp(uniform(random, -25.0, 0.0));
    for (TransferPoint& point : points) {
      if (is_on_bound) point.time_s = seconds_per_byte * point.bytes * point.concurrency;
    }
    const TransferTable table(points);
    const std::map<int, Times> bounded = bounded_times(points);
    const int most = bounded.rbegin()->first;
    REQUIRE(table.points() == points);
    REQUIRE(table.largest_concurrency() == most);
    double adjustment = 0.0;
    for (const TransferPoint& point : points) {
      const double time_s = bounded.at(point.concurrency).at(point.bytes);
      adjustment = std::max(adjustment, std::abs(time_s - point.time_s) / std::max(time_s, point.time_s));
    }
    REQUIRE_THAT(table.largest_adjustment(), WithinAbs(adjustment, 1e-12));
    if (is_on_bound) REQUIRE(table.largest_adjustment() == 0.0);
    for (int i = 0; i < 50; ++i) {
      const double bytes = i % 5 == 0 ? points[static_cast<std::size_t>(i) % points.size()].bytes
                                      : std::exp(uniform(random, -2.0, 16.0));
      const int tau = whole(random, 1, most + 3);
      const auto above = bounded.lower_bound(std::min(tau, most));
      double expected_s = interpolated_s(above->second, bytes, Outside::proportional);
      if (tau > most) expected_s *= static_cast<double>(tau) / most;
      if (tau < above->first) {
        const auto below = std::prev(above);
        const double share = static_cast<double>(tau - below->first) / (above->first - below->first);
        expected_s = share * expected_s + (1.0 - share) * interpolated_s(below->second, bytes, Outside::proportional);
      }
      REQUIRE_THAT(table.time_s(bytes, tau, BeyondMeasured::proportional), WithinRel(expected_s, 1e-9));
      if (tau <= most) REQUIRE(table.time_s(bytes, tau) == table.time_s(bytes, tau, BeyondMeasured::proportional));
    }
    REQUIRE(table.time_s(0.0, most) == 0.0);
  }
}

TEST_CASE("transmissions cost their overhead and the transfers of their path, which they share (001, equations 1-3)") {
  Random random(1);
  constexpr int measured_concurrency = 64;
  for (int trial = 0; trial < 200; ++trial) {
    const Platform platform = measured_platform(random, 3);
    const TauLop model(platform), extrapolates(platform, BeyondMeasured::proportional);
    const double m = trial % 10 == 0 ? 0.0 : uniform(random, 0.0, 600.0);
    const int a = trial % 4 == 0 ? 1 : whole(random, 1, 2 * measured_concurrency);
    const auto expected_s = [&](const Channel& channel, double bytes, int concurrency) {
      double sum_s = channel.tau_lop->overhead.time_s(bytes);
      for (const int id : channel.path) {
        const TransferTable& transfer = platform.channel(id).tau_lop->transfer;
        sum_s += transfer.time_s(bytes, concurrency, BeyondMeasured::proportional);
      }
      return sum_s;
    };
    // Overhead matters up to the longest measured message of which it is more than a tenth.
    double all_longest = 0.0;
    std::set<int> channels;
    for (const Channel& channel : platform.channels) {
      channels.insert(channel.id);
      REQUIRE_THAT(extrapolates.transmission_s(channel.id, m, a), WithinRel(expected_s(channel, m, a), 1e-12));
      if (a <= measured_concurrency) {
        REQUIRE(model.transmission_s(channel.id, m, a) == extrapolates.transmission_s(channel.id, m, a));
      }
      if (a == 1) REQUIRE(model.transmission_s(channel.id, m) == model.transmission_s(channel.id, m, 1));
      double longest = 0.0;
      for (const auto& [bytes, time_s] : channel.tau_lop->overhead.points()) {
        if (time_s > 0.1 * expected_s(channel, bytes, 1)) longest = std::max(longest, bytes);
      }
      REQUIRE(model.overhead_matters_up_to_bytes(std::set<int>{channel.id}) == longest);
      all_longest = std::max(all_longest, longest);
    }
    REQUIRE(model.overhead_matters_up_to_bytes(channels) == all_longest);
  }
}

TEST_CASE("what tau-Lop cannot cost is refused naming the channel") {
  Platform platform = additive_platform({{0, {}}, {1, {}}, {2, {}}, {3, {}}, {4, {}}}, 8);
  for (Channel& channel : platform.channels) channel.name = "any";
  platform.channels[1].path = {0, 1, 0};
  platform.channels[3].tau_lop.reset();
  platform.channels[3].path = {3};
  platform.channels[4].path = {4, 3};
  const TauLop model(platform);
  struct Bad {
    int channel;
    double bytes;
    std::int64_t concurrency;
    const char* says;
  };
  for (const Bad& bad :
       {Bad{7, 1.0, 1, "channel 7"}, Bad{3, 1.0, 1, "channel 3 (any)"}, Bad{4, 1.0, 1, "channel 3 (any)"},
        Bad{1, -1.0, 1, "channel 1 (any): message of -1 bytes"}, Bad{2, 1.0, 0, "channel 2 (any): 0 concurrent"},
        Bad{2, 100.0, 24, "channel 2 (any): 24"}, Bad{1, 100.0, 9, "channel 0 (any): 9"}}) {
    INFO(bad.says);
    const auto matches = MessageMatches(ContainsSubstring(bad.says));
    CHECK_THROWS_MATCHES(model.transmission_s(bad.channel, bad.bytes, bad.concurrency), InvalidArgument, matches);
    CHECK_THROWS_MATCHES(cost_s({{bad.concurrency, {bad.channel}, bad.bytes}}, model), InvalidArgument, matches);
  }
  for (const int channel : {3, 4, 7}) {
    CHECK_THROWS_AS(model.overhead_matters_up_to_bytes(std::set<int>{channel}), InvalidArgument);
  }
  CHECK(TauLop(Platform{}).overhead_matters_up_to_bytes({}) == 0.0);
}

TEST_CASE("tables refuse sizes and numbers of transfers that are none or were not measured") {
  const TransferTable table({{100.0, 1, 1.0}, {100.0, 6, 3.0}});
  for (const double bytes : {-1.0, infinity, not_a_number}) {
    for (const Outside outside : {Outside::constant, Outside::proportional}) {
      CHECK_THROWS_AS(SizeTable({{8.0, 1e-6}}, outside).time_s(bytes), InvalidArgument);
    }
    CHECK_THROWS_AS(table.time_s(bytes, 1), InvalidArgument);
    CHECK_THROWS_AS(table.time_s(bytes, 7, BeyondMeasured::proportional), InvalidArgument);
  }
  for (const std::int64_t concurrency : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{7}, std::int64_t{1} << 40}) {
    CHECK_THROWS_AS(table.time_s(100.0, concurrency), InvalidArgument);
    if (concurrency < 1) {
      CHECK_THROWS_AS(table.time_s(1.0, concurrency, BeyondMeasured::proportional), InvalidArgument);
    }
  }
}

}  // namespace steelyard::test_tau_lop
