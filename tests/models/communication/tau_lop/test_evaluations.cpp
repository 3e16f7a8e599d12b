#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/catch.hpp"
#include "tests/models/naive_tau_lop.hpp"
#include "tests/models/random_expressions.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_evaluations {

using namespace steelyard::models;
using namespace steelyard::tests;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Expression t(int channel, double size) { return transmission({channel, 0}, size); }

ExpressionShape random_shape(Random& random, Sizes sizes) {
  ExpressionShape shape;
  shape.channels = whole(random, 1, 4);
  shape.instances = whole(random, 1, 2);
  shape.depth = whole(random, 1, 4);
  shape.sizes = sizes;
  return shape;
}

/// The same without empty messages.
Expression without_empty(Expression expression) {
  for (Expression& part : expression.parts) part = without_empty(std::move(part));
  std::erase_if(expression.parts, [](const Expression& part) {
    return part.kind == Expression::Kind::transmission ? part.size == 0.0 : part.parts.empty();
  });
  return expression.kind == Expression::Kind::transmission && expression.size == 0.0 ? Expression{} : expression;
}

/// An expression and what it is reduced to.
struct Example {
  const char* expression;
  const char* aligned;
  const char* event;
};

void check(const Example& example, const TauLop& model) {
  INFO(example.expression);
  const Expression expression = parse_expression(example.expression);
  CHECK(to_string(aligned_form(expression, model)) == example.aligned);
  CHECK(to_string(event_form(expression, model)) == example.event);
}

/// As unit_platform(), with an overhead of 1 for each transmission: T(m) lasts 1 + m.
Platform platform_with_overheads(int channels) {
  Platform platform = unit_platform(channels);
  for (Channel& channel : platform.channels) {
    channel.tau_lop->overhead = SizeTable({{1.0, 1.0}}, SizeTable::Outside::constant);
  }
  return platform;
}

}  // namespace

TEST_CASE("the aligned form is what the definition gives for every transmission on its own") {
  Random random(1);
  const Sizes sizes = GENERATE(Sizes::different, Sizes::alike);
  int compared = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const ExpressionShape shape = random_shape(random, sizes);
    const Expression expression = without_empty(small_expression(random, shape, 40));
    const Platform platform = measured_platform(random, shape.channels);
    const double block = whole(random, 0, 1) == 0 ? 1.0 : uniform(random, 0.1, 10.0);
    const TauLop model(platform);
    const ReducedForm form = aligned_form(expression, model, {0.0, block});
    NaiveAlignedEvaluation evaluation(model, block);
    const ReducedForm naive = evaluation.form(expression);
    INFO(trial << ": " << to_string(expression) << " = " << to_string(form) << ", naive " << to_string(naive));
    REQUIRE(ordered_as_in_the_paper(form));
    REQUIRE(aligned_form(shuffled(random, expression), model, {0.0, block}) == form);
    if (evaluation.has_ties()) continue;
    REQUIRE(similar(form, naive));
    ++compared;
  }
  CHECK(compared > 1000);
}

TEST_CASE("the event form is what the definition gives for every transmission on its own") {
  Random random(2);
  int compared = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const ExpressionShape shape = random_shape(random, Sizes::different);
    const Expression expression = small_expression(random, shape, 40);
    const Platform platform = measured_platform(random, shape.channels);
    const double block = whole(random, 0, 1) == 0 ? 1.0 : uniform(random, 0.1, 10.0);
    const TauLop model(platform);
    const Evaluation evaluation{whole(random, 0, 1) == 0 ? 0.0 : uniform(random, 0.0, 30.0), block};
    const ReducedForm form = event_form(expression, model, evaluation);
    const NaiveEventEvaluation naive(expression, model, evaluation);
    INFO(trial << ": " << to_string(expression) << " = " << to_string(form) << ", naive " << to_string(naive.form()));
    REQUIRE(ordered_as_in_the_paper(form));
    if (naive.has_ties()) continue;
    REQUIRE(similar(form, naive.form()));
    ++compared;
  }
  CHECK(compared > 1000);
}

TEST_CASE("on channels without overhead the event form costs the time that passes, with equal and empty messages too") {
  Random random(3);
  for (int trial = 0; trial < 1500; ++trial) {
    const ExpressionShape shape = random_shape(random, trial % 3 == 0 ? Sizes::different : Sizes::alike);
    // Sums of tenths are equal but for rounding.
    const Expression expression = scaled(small_expression(random, shape, 40), trial % 2 == 0 ? 1.0 : 0.1);
    const Platform platform = additive_platform(random_shared_channels(random, shape.channels));
    const TauLop model(platform);
    const Evaluation evaluation{0.0, trial % 4 == 0 ? 1.0 : uniform(random, 0.1, 10.0)};
    const ReducedForm form = event_form(expression, model, evaluation);
    INFO(trial << ": " << to_string(expression) << " = " << to_string(form));
    const NaiveEventEvaluation naive(expression, model, evaluation);
    REQUIRE_THAT(cost_s(form, model, evaluation), WithinRel(naive.end_s(), 1e-9));
  }
}

TEST_CASE("expressions of the paper come to what the paper says") {
  const Platform platform = unit_platform(2);
  const TauLop model(platform);
  for (const Example& example :
       {// Expressions 8 and 9 in sequence are expression 10.
        Example{"(T0(134)+T1(158))||(T0(116)+T1(104))", "2||T0(116)+T0(18)+2||T1(104)+T1(54)",
                "2||T0(116)+2||T1(86)+T1(90)"},
        Example{"T1(124)||T1(97)||T1(35)", "3||T1(35)+2||T1(62)+T1(27)", "3||T1(35)+2||T1(62)+T1(27)"},
        Example{"(T0(134)+T1(158))||(T0(116)+T1(104))+T1(124)||T1(97)||T1(35)",
                "3||T1(35)+2||T1(166)+T1(81)+2||T0(116)+T0(18)", "3||T1(35)+2||T1(148)+T1(117)+2||T0(116)"},
        // Expression 5, of equal sizes, and where it comes to expression 7.
        Example{"(T0(7)+T1(9))||(T0(7)+T1(9))", "2||T0(7)+2||T1(9)", "2||T0(7)+2||T1(9)"},
        Example{"(T0(10)+T1(30))||(T0(14)+T1(8))", "2||T0(10)+T0(4)+2||T1(8)+T1(22)", "2||T0(10)+2||T1(8)+T1(22)"},
        // T1(20) has 4 left when T1(18) joins it: expression 7 would let them share 18.
        Example{"(T0(10)+T1(20))||(T0(26)+T1(18))", "2||T0(10)+T0(16)+2||T1(18)+T1(2)", "2||T0(10)+2||T1(4)+T1(30)"}}) {
    check(example, model);
  }
}

TEST_CASE("an empty message costs its overhead, which nobody shares, and is a part of its neighbour by A1") {
  Platform platform = platform_with_overheads(3);
  platform.channels[2].tau_lop->overhead = SizeTable({{0.0, 4.0}, {1.0, 1.0}}, SizeTable::Outside::constant);
  const TauLop model(platform);
  for (const Example& example : {Example{"5||T0(0)", "5||T0(0)", "5||T0(0)"}, Example{"T0(7)||T2(0)", "T0(7)", "T0(7)"},
                                 Example{"T0(2)||T2(0)", "T2(0)", "T2(0)"}, Example{"T0(0)||T0(7)", "T0(7)", "T0(7)"},
                                 Example{"T0(0)+T0(7)", "T0(7)", "T0(7)"}}) {
    check(example, model);
  }
  CHECK(cost_s(aligned_form(parse_expression("T2(0)"), model), model) == 4.0);
}

TEST_CASE("an empty message before or after any others costs its overhead more, where A1 merges none") {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const ExpressionShape shape = random_shape(random, Sizes::different);
    const Expression expression = small_expression(random, shape, 30);
    const Platform platform = measured_platform(random, shape.channels);
    const TauLop model(platform);
    const int channel = whole(random, 0, shape.channels - 1);
    const double overhead_s = model.transmission_s(channel, 0.0);
    INFO(trial << ": " << to_string(expression) << " and T" << channel << "(0)");
    for (const auto form_of : {&aligned_form, &event_form}) {
      const auto seconds = [&](const Expression& any) {
        const Evaluation none{infinity};
        return cost_s(form_of(any, model, none), model, none);
      };
      const double expected_s = overhead_s + seconds(expression);
      REQUIRE_THAT(seconds(in_sequence({t(channel, 0.0), expression})), WithinRel(expected_s, 1e-9));
      REQUIRE_THAT(seconds(in_sequence({expression, t(channel, 0.0)})), WithinRel(expected_s, 1e-9));
    }
  }
}

TEST_CASE("A1 merges messages from its limit on, and saves their overheads") {
  const Platform platform = platform_with_overheads(2);
  const TauLop model(platform);
  const Expression sequence = in_sequence({t(0, 3), t(0, 40), t(0, 50)});
  for (const auto form_of : {&aligned_form, &event_form}) {
    CHECK(similar(form_of(sequence, model, {}), {{1, {0}, 93}}));
    CHECK(similar(form_of(sequence, model, {10.0}), {{1, {0}, 90}, {1, {0}, 3}}));
    CHECK(similar(form_of(times(2, sequence), model, {infinity}), {{2, {0}, 3}, {2, {0}, 40}, {2, {0}, 50}}));
    // T0(2) + T0(3) lasts 7, or 6 where it is merged, and T1(5.5) 6.5.
    const Expression beside = parse_expression("(T0(2)+T0(3))||T1(5.5)");
    CHECK(to_string(form_of(beside, model, {})) == "T1(5.5)");
    CHECK(to_string(form_of(beside, model, {infinity})) == "T0(3)+T0(2)");
  }
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
  // Two end on channel 0 when 0.7 are through.
  CHECK(to_string(event_form(parse_expression("T0(0.7)||(T1(0.1)+T0(0.6)+T1(1))||T3(2.8)"), model)) == "T3(2.8)");
}

TEST_CASE("20,000 transmissions and a million million copies are evaluated") {
  Random random(4);
  const Platform platform = unit_platform(2, 8);
  const TauLop model(platform, BeyondMeasured::proportional);
  std::vector<Expression> processes, flat, chain;
  double serial_s = 0.0;
  for (int process = 0; process < 2'000; ++process) {
    std::vector<Expression> parts;
    for (int i = 0; i < 10; ++i) {
      parts.push_back(transmission({whole(random, 0, 1), whole(random, 0, 20)}, uniform(random, 1.0, 1e6)));
      serial_s += parts.back().size;
      flat.push_back(t(0, parts.back().size));
      chain.push_back(parts.back());
    }
    processes.push_back(in_sequence(parts));
  }
  CHECK(cost_s(event_form(concurrently(processes), model), model) < serial_s);
  CHECK_THAT(cost_s(aligned_form(concurrently(processes), model), model), WithinRel(serial_s, 1e-9));
  for (const auto form_of : {&aligned_form, &event_form}) {
    CHECK_THAT(cost_s(form_of(concurrently(flat), model, {}), model), WithinRel(serial_s, 1e-9));
    CHECK_THAT(cost_s(form_of(in_sequence(chain), model, {}), model), WithinRel(serial_s, 1e-9));
  }
  check({"1000000000000||(T0(3)+T1(4))||(T0(5)+T1(1))",
         "1000000000001||T0(3)+T0(2)+1000000000001||T1(1)+1000000000000||T1(3)",
         "1000000000001||T0(3)+1000000000001||T1(1)+1000000000000||T1(3)"},
        model);
}

TEST_CASE("channels that are not there and more at a time than was measured or can be counted are refused") {
  const Platform platform = unit_platform(1, 4);
  const TauLop model(platform), any(platform, BeyondMeasured::proportional);
  constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  const Expression most = times(all, t(0, 5)), elsewhere = transmission({0, 1}, 5.0);
  for (const auto form_of : {&aligned_form, &event_form}) {
    CHECK_THROWS_AS(form_of(parse_expression("T0(5)||T7(5)"), model, {}), InvalidArgument);
    CHECK_THROWS_AS(form_of(parse_expression("5||T0(5)||T0@1(5)"), model, {}), InvalidArgument);
    CHECK(to_string(form_of(most, any, {})) == "9223372036854775807||T0(5)");
    for (const Expression& too_many :
         {times(2, concurrently({most})), concurrently({most, t(0, 5)}), concurrently({most, elsewhere})}) {
      CHECK_THROWS_AS(form_of(too_many, any, {}), InvalidArgument);
    }
    CHECK_NOTHROW(form_of(in_sequence({most, times(all, elsewhere)}), any, {}));
  }
}

}  // namespace steelyard::test_evaluations
