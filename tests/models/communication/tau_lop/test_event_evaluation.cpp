#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <limits>
#include <string>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/event_evaluation.hpp"
#include "tests/models/random_expressions.hpp"
#include "tests/models/similar_forms.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_event_evaluation {

using namespace steelyard::models;
using namespace steelyard::tests;
using Catch::Matchers::WithinRel;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string followed(const std::string& text, const Platform& platform = unit_platform(4)) {
  return to_string(event_form(parse_expression(text), TauLop(platform)));
}

Expression t(int channel, double size) { return transmission({channel, 0}, size); }

/// Expression 5 of the paper.
struct TwoSequences {
  double a, b, c, d;
  Expression expression() const {
    return concurrently({in_sequence({t(0, a), t(1, b)}), in_sequence({t(0, c), t(1, d)})});
  }
};

}  // namespace

TEST_CASE("two sequences through two channels come to expression 7 of the paper") {
  Random random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const SharedChannels channels = random_shared_channels(random, 2);
    const Platform platform = additive_platform(channels);
    const TauLop model(platform);
    const double a = uniform(random, 1.0, 50.0), c = a + uniform(random, 0.0, 50.0), d = uniform(random, 1.0, 50.0);
    // The paper demands T1(b) >= T0(c-a). T1(b-d) >= T0(c-a) says that b has at least d left when d joins it.
    const double alone = (c - a) / channels.at(0).bandwidth_bytes_per_s * channels.at(1).bandwidth_bytes_per_s;
    const double b = d + alone + uniform(random, 0.0, 50.0);
    REQUIRE(model.transmission_s(1, b) >= model.transmission_s(0, c - a));
    const TwoSequences two{a, b, c, d};
    const ReducedForm form = event_form(two.expression(), model);
    INFO(to_string(two.expression()) << " = " << to_string(form));
    REQUIRE(similar(form, {{2, {0}, a}, {2, {1}, d}, {1, {1}, b - d}}));
  }
  CHECK(followed("(T0(10)+T1(30))||(T0(14)+T1(8))") == "2||T0(10)+2||T1(8)+T1(22)");
  CHECK(followed("(T0(7)+T1(9))||(T0(7)+T1(9))") == "2||T0(7)+2||T1(9)");
}

TEST_CASE("what a transmission has done before another joins it, it does not share") {
  // T1(20) has 4 left when T1(18) joins it: expression 7 of the paper would let them share 18.
  CHECK(followed("(T0(10)+T1(20))||(T0(26)+T1(18))") == "2||T0(10)+2||T1(4)+T1(30)");
  Random random(2);
  for (int trial = 0; trial < 300; ++trial) {
    const SharedChannels channels = random_shared_channels(random, 2);
    const double ratio = channels.at(1).bandwidth_bytes_per_s / channels.at(0).bandwidth_bytes_per_s;
    const double a = uniform(random, 1.0, 50.0), later = uniform(random, 1.0, 50.0);
    const double alone = later * ratio, d = uniform(random, 1.0, 50.0), b = alone + uniform(random, 0.1, 0.9) * d;
    const Platform platform = additive_platform(channels);
    const ReducedForm form = event_form(TwoSequences{a, b, a + later, d}.expression(), TauLop(platform));
    INFO(to_string(form));
    REQUIRE(similar(form, {{2, {0}, a}, {2, {1}, b - alone}, {1, {1}, alone + d - (b - alone)}}));
  }
}

TEST_CASE("where the first channel takes longer, the second one's transmission drops out") {
  // T0(c-a) > T1(b): the chain goes on through channel 0.
  CHECK(followed("(T0(10)+T1(6))||(T0(20)+T1(5))") == "2||T0(10)+T0(10)+T1(5)");
  Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const SharedChannels channels = random_shared_channels(random, 2);
    const double ratio = channels.at(1).bandwidth_bytes_per_s / channels.at(0).bandwidth_bytes_per_s;
    const double a = uniform(random, 1.0, 50.0), later = uniform(random, 1.0, 50.0), d = uniform(random, 1.0, 50.0);
    const double b = later * ratio * uniform(random, 0.1, 0.95);
    const Platform platform = additive_platform(channels);
    const ReducedForm form = event_form(TwoSequences{a, b, a + later, d}.expression(), TauLop(platform));
    INFO(to_string(form));
    REQUIRE(similar(form, {{2, {0}, a}, {1, {0}, later}, {1, {1}, d}}));
  }
}

TEST_CASE("concurrent transmissions through one channel come to expression 9 of the paper") {
  CHECK(followed("T1(124)||T1(97)||T1(35)") == "3||T1(35)+2||T1(62)+T1(27)");
  CHECK(followed("T1(35)||T1(124)||T1(97)") == "3||T1(35)+2||T1(62)+T1(27)");
}

TEST_CASE("of transmissions through different channels the longest counts") {
  const Platform platform = additive_platform({{0, {4.0, 1.0}}, {1, {1.0, 1.0}}});
  CHECK(followed("T0(10)||T1(3)", platform) == "T1(3)");
  CHECK(followed("T0(10)||T1(2)", platform) == "T0(10)");
  CHECK(followed("T0(10)||T0@1(12)||T1(2)", platform) == "T0@1(12)");
  CHECK(followed("T0(10)||T1(2)||T0(1)", platform) == "2||T0(1)+T0(9)");
  CHECK(followed("(T0(10)||T1(3))+T0(1)", platform) == "T0(1)+T1(3)");
  CHECK(followed("(T0(20)||T1(3))+T0(1)", platform) == "T0(21)");
}

TEST_CASE("a transmission that joins a busy channel splits the stage that is under way") {
  CHECK(followed("T0(10)||(T1(4)+T0(3))") == "2||T0(3)+T0(7)");
  CHECK(followed("T0(10)||(T1(4)+T0(9))") == "2||T0(6)+T0(7)");
  CHECK(followed("2||T0(10)||(T1(4)+T0(3))") == "3||T0(3)+2||T0(7)");
  CHECK(followed("T0(10)||(T1(12)+T0(3))") == "T0(3)+T1(12)");
  CHECK(followed("T0(10)||(T1(2)+T0(3))||(T1(2)+T0(3))") == "3||T0(3)+T0(7)");
}

TEST_CASE("a stage cut short after a fraction of its time has done that fraction of its bytes") {
  // o = 1, L(m) = m: T(9) lasts 10, and after 5 of them 4.5 of 9 are through. T1(4) lasts 5.
  Platform platform = unit_platform(2);
  for (Channel& channel : platform.channels) {
    channel.tau_lop->overhead = SizeTable({{1.0, 1.0}}, SizeTable::Outside::constant);
  }
  CHECK(followed("T0(9)||(T1(4)+T0(2))", platform) == "2||T0(2)+T0(7)");
  CHECK(followed("T0(9)||(T1(4)+T0(6))", platform) == "2||T0(4.5)+T0(6)");
}

TEST_CASE("instances of a channel do not interfere") {
  CHECK(followed("T0(10)||T0@1(3)") == "T0(10)");
  CHECK(followed("(T0(10)+T1(1))||(T0@1(4)+T1(20))") == "2||T1(1)+T1(19)+T0@1(4)");
}

TEST_CASE("nothing takes no time") {
  const Platform platform = unit_platform(2);
  const TauLop model(platform);
  CHECK(event_form(in_sequence({}), model).empty());
  CHECK(event_form(concurrently({}), model).empty());
  CHECK(event_form(t(0, 0.0), model).empty());
  CHECK(event_form(times(5, in_sequence({t(0, 0.0), concurrently({in_sequence({}), t(1, 0.0)})})), model).empty());
  CHECK(followed("T0(5)+T1(0)+T0(3)") == "T0(8)");
  CHECK(followed("T0(5)||T0(0)||(T0(0)+T0(5))") == "2||T0(5)");
}

TEST_CASE("messages below the limit of A1 keep their overheads in time") {
  const Platform platform = unit_platform(1);
  const TauLop model(platform);
  const Expression sequence = in_sequence({t(0, 3), t(0, 40), t(0, 50)});
  CHECK(similar(event_form(sequence, model, {10.0}), {{1, {0}, 90}, {1, {0}, 3}}));
  CHECK(similar(event_form(sequence, model, {infinity}), {{1, {0}, 3}, {1, {0}, 40}, {1, {0}, 50}}));
  CHECK(similar(event_form(times(2, sequence), model, {infinity}), {{2, {0}, 3}, {2, {0}, 40}, {2, {0}, 50}}));
}

TEST_CASE("A1 merges neighbours beforehand, which saves their overheads in time") {
  // o = 1, L(m) = m: T0(2)+T0(3) takes 6, not 7.
  Platform platform = unit_platform(2);
  for (Channel& channel : platform.channels) {
    channel.tau_lop->overhead = SizeTable({{1.0, 1.0}}, SizeTable::Outside::constant);
  }
  const Expression expression = parse_expression("(T0(2)+T0(3))||T1(5.5)");
  CHECK(to_string(event_form(expression, TauLop(platform))) == "T1(5.5)");
  CHECK(to_string(event_form(expression, TauLop(platform), {infinity})) == "T0(3)+T0(2)");
  CHECK(followed("T0(5)+T1(1)+T0(5)", platform) == "T0(10)+T1(1)");
}

TEST_CASE("what differs by rounding alone happens at the same time") {
  // 0.1 + 0.2 is not 0.3. Messages of next to nothing would cost 1.
  Platform platform = unit_platform(4);
  platform.channels[2].tau_lop->overhead = platform.channels[0].tau_lop->overhead =
      SizeTable({{1e-6, 1.0}, {0.01, 0.0}}, SizeTable::Outside::constant);
  const TauLop model(platform);
  // Two join channel 2 at 0.3.
  const Expression join = parse_expression("(T0(0.1)+T1(0.2)+T2(5))||(T3(0.3)+T2(5))");
  CHECK_THAT(cost_s(event_form(join, model), model), WithinRel(10.3, 1e-9));
  // Two end on channel 0 when 0.3 are through, at 0.5, and T1(1) is over at 1.5.
  CHECK(followed("T0(0.3)||(T1(0.1)+T0(0.2)+T1(1))||T3(2)", platform) == "T3(2)");
  CHECK(followed("T0(0.7)||(T1(0.1)+T0(0.6)+T1(1))||T3(2.8)", platform) == "T3(2.8)");
}

TEST_CASE("a channel without parameters and more at a time than was measured are refused") {
  const Platform platform = unit_platform(1, 4);
  const TauLop model(platform);
  CHECK_THROWS_AS(event_form(t(7, 5), model), InvalidArgument);
  CHECK_THROWS_AS(event_form(times(5, t(0, 5)), model), InvalidArgument);
  CHECK(to_string(event_form(times(5, t(0, 5)), TauLop(platform, BeyondMeasured::proportional))) == "5||T0(5)");
}

TEST_CASE("20,000 transmissions are followed in time") {
  Random random(4);
  const Platform platform = unit_platform(3, 8);
  const TauLop model(platform, BeyondMeasured::proportional);
  std::vector<Expression> processes, flat, chain;
  double serial_s = 0.0;
  for (int process = 0; process < 2'000; ++process) {
    std::vector<Expression> parts;
    for (int i = 0; i < 10; ++i) {
      parts.push_back(transmission({whole(random, 0, 2), whole(random, 0, 5)}, uniform(random, 1.0, 1e6)));
      serial_s += parts.back().size;
      flat.push_back(transmission({0, 0}, parts.back().size));
      chain.push_back(parts.back());
    }
    processes.push_back(in_sequence(parts));
  }
  const double end_s = cost_s(event_form(concurrently(processes), model), model);
  CHECK(end_s < serial_s);
  CHECK(end_s > serial_s / 18.0);
  CHECK_THAT(cost_s(event_form(concurrently(flat), model), model), WithinRel(serial_s, 1e-9));
  CHECK_THAT(cost_s(event_form(in_sequence(chain), model), model), WithinRel(serial_s, 1e-9));
}

TEST_CASE("identical concurrent parts are followed as one") {
  const Platform platform = unit_platform(2, 8);
  const TauLop model(platform, BeyondMeasured::proportional);
  const auto form = [&](const std::string& text) { return to_string(event_form(parse_expression(text), model)); };
  CHECK(form("1000000000000||(T0(3)+T1(4))") == "1000000000000||T0(3)+1000000000000||T1(4)");
  CHECK(form("1000000||1000000||T0(3)||T0(5)") == "1000000000001||T0(3)+T0(2)");
}

}  // namespace steelyard::test_event_evaluation
