#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <limits>
#include <utility>

#include "core/base/errors.hpp"
#include "models/communication/tau_lop/aligned_evaluation.hpp"
#include "tests/models/naive_aligned_evaluation.hpp"
#include "tests/models/random_expressions.hpp"
#include "tests/models/similar_forms.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_aligned_evaluation {

using namespace steelyard::models;
using namespace steelyard::tests;
using Catch::Matchers::WithinRel;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string aligned(const std::string& text, const Platform& platform = unit_platform(4)) {
  return to_string(aligned_form(parse_expression(text), TauLop(platform)));
}

Expression t(int channel, double size) { return transmission({channel, 0}, size); }

}  // namespace

TEST_CASE("an iteration of SUMMA comes to expressions 8, 9 and 10 of the paper") {
  CHECK(aligned("(T0(134)+T1(158)) || (T0(116)+T1(104))") == "2||T0(116)+T0(18)+2||T1(104)+T1(54)");
  CHECK(aligned("T1(124)||T1(97)||T1(35)") == "3||T1(35)+2||T1(62)+T1(27)");
  CHECK(aligned("(T0(134)+T1(158)) || (T0(116)+T1(104)) + T1(124)||T1(97)||T1(35)") ==
        "3||T1(35)+2||T1(166)+T1(81)+2||T0(116)+T0(18)");
}

TEST_CASE("expression 5 of the paper comes to pairs of concurrent transmissions where sizes are equal") {
  CHECK(aligned("(T0(7)+T1(9))||(T0(7)+T1(9))") == "2||T0(7)+2||T1(9)");
}

TEST_CASE("a sequence on one channel costs as one message of all bytes") {
  CHECK(aligned("T0(3)+T0(4)+T0(5)") == "T0(12)");
  CHECK(aligned("2||T0(3)+2||T0(4)+T0(1)") == "2||T0(7)+T0(1)");
  CHECK(aligned("T0(3)+T1(4)+T0(5)") == "T0(8)+T1(4)");
}

TEST_CASE("what a sequence has first is what goes on beside the first of others") {
  CHECK(aligned("(T0(4)+2||T0(2))||T0(2)") == "2||T0(4)+T0(2)");
  CHECK(aligned("(2||T0(2)+T0(4))||T0(2)") == "3||T0(2)+T0(4)");
  CHECK(aligned("(T0(4)+T1(1)+2||T0(2))||(T0(5)+T1(1))") == "3||T0(1)+2||T0(5)+2||T1(1)");
}

TEST_CASE("messages below the limit of A1 keep their overheads") {
  const Platform platform = unit_platform(1);
  const TauLop model(platform);
  const Expression sequence = in_sequence({t(0, 3), t(0, 40), t(0, 50)});
  CHECK(similar(aligned_form(sequence, model, {10.0}), {{1, {0}, 90}, {1, {0}, 3}}));
  CHECK(similar(aligned_form(sequence, model, {infinity}), {{1, {0}, 3}, {1, {0}, 40}, {1, {0}, 50}}));
  CHECK(similar(aligned_form(times(2, sequence), model, {infinity}), {{2, {0}, 3}, {2, {0}, 40}, {2, {0}, 50}}));
}

TEST_CASE("of concurrent transmissions through different channels the dearest counts") {
  const Platform platform = additive_platform({{0, {4.0, 1.0}}, {1, {1.0, 1.0}}, {2, {1.0, 1.0}}});
  CHECK(aligned("T0(10)||T1(3)", platform) == "T1(3)");
  CHECK(aligned("T0(10)||T1(2)", platform) == "T0(10)");
  CHECK(aligned("T0(10)||T1(2)||T2(9)", platform) == "T2(9)");
  CHECK(aligned("T0(10)||T0@1(12)||T1(2)", platform) == "T0@1(12)");
  CHECK(aligned("T0(10)||T1(2)||T0(1)", platform) == "2||T0(1)+T0(9)");
  CHECK(aligned("2||T0(10)||3||T1(2)", platform) == "3||T1(2)");
  CHECK(aligned("(T0(10)||T1(3))+T2(1)", platform) == "T1(3)+T2(1)");
}

TEST_CASE("expressions that share channels only through others are aligned with them") {
  CHECK(aligned("(T0(5)+T1(2))||(T1(3)+T2(4))") == "2||T1(2)+T1(1)+T0(5)+T2(4)");
  CHECK(aligned("T0(5)||T2(4)||(T0(1)+T1(1))||(T1(1)+T2(1))") == "2||T0(1)+T0(4)+2||T1(1)+2||T2(1)+T2(3)");
  CHECK(aligned("(T0(5)+T1(2))||(T2(3)+T3(4))") == "T0(5)+T1(2)");
}

TEST_CASE("nothing costs nothing") {
  const Platform platform = unit_platform(2);
  const TauLop model(platform);
  CHECK(aligned_form(in_sequence({}), model).empty());
  CHECK(aligned_form(concurrently({}), model).empty());
  CHECK(aligned_form(t(0, 0.0), model).empty());
  CHECK(similar(aligned_form(in_sequence({t(0, 0.0), concurrently({t(0, 3.0), in_sequence({})})}), model),
                {{1, {0}, 3.0}}));
}

TEST_CASE("the aligned form is what the definition gives for every transmission on its own") {
  Random random(1);
  for (int trial = 0; trial < 1500; ++trial) {
    ExpressionShape shape;
    shape.channels = whole(random, 1, 4);
    shape.instances = whole(random, 1, 2);
    const Expression expression = small_expression(random, shape, 40);
    const Platform platform = measured_platform(random, shape.channels);
    const double block = whole(random, 0, 1) == 0 ? 1.0 : uniform(random, 0.1, 10.0);
    const TauLop model(platform);
    const ReducedForm form = aligned_form(expression, model, {0.0, block});
    const ReducedForm naive = NaiveAlignedEvaluation(model, block).form(expression);
    INFO(trial << ": " << to_string(expression) << " = " << to_string(form) << ", naive " << to_string(naive));
    REQUIRE(similar(form, naive));
    REQUIRE(ordered_as_in_the_paper(form));
  }
}

TEST_CASE("equal and empty messages are aligned as the definition says") {
  Random random(2);
  int compared = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    ExpressionShape shape;
    shape.channels = whole(random, 1, 4);
    shape.sizes = Sizes::alike;
    const Expression expression = small_expression(random, shape, 40);
    const Platform platform = measured_platform(random, shape.channels);
    const TauLop model(platform);
    const ReducedForm form = aligned_form(expression, model);
    NaiveAlignedEvaluation evaluation(model);
    const ReducedForm naive = evaluation.form(expression);
    if (evaluation.has_ties()) continue;
    ++compared;
    INFO(trial << ": " << to_string(expression) << " = " << to_string(form) << ", naive " << to_string(naive));
    REQUIRE(similar(form, naive));
  }
  CHECK(compared > 1000);
}

TEST_CASE("concurrent parts align the same in any order and grouping") {
  Random random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const ExpressionShape shape{3, 2, 2, 3, 3, Sizes::different};
    const auto part = [&] { return small_expression(random, shape, 12); };
    const Expression x = part(), y = part(), z = part();
    const Platform platform = measured_platform(random, shape.channels);
    const TauLop model(platform);
    const ReducedForm form = aligned_form(concurrently({x, y, z}), model);
    INFO(to_string(x) << " || " << to_string(y) << " || " << to_string(z));
    REQUIRE(similar(aligned_form(concurrently({concurrently({x, y}), z}), model), form));
    REQUIRE(similar(aligned_form(concurrently({x, concurrently({y, z})}), model), form));
    REQUIRE(similar(aligned_form(concurrently({z, y, x}), model), form));
    REQUIRE(similar(aligned_form(shuffled(random, concurrently({x, y, z})), model), form));
  }
}

TEST_CASE("n || X aligns as n parts X") {
  Random random(4);
  for (int trial = 0; trial < 500; ++trial) {
    const Expression expression = small_expression(random, {}, 40);
    const Platform platform = measured_platform(random, 3);
    const TauLop model(platform);
    INFO(to_string(expression));
    REQUIRE(similar(aligned_form(expanded(expression), model), aligned_form(expression, model)));
  }
}

TEST_CASE("no byte is lost where all sequences share their channels") {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const int channels = whole(random, 1, 3);
    std::vector<Expression> sequences;
    for (int count = whole(random, 1, 5); count > 0; --count) {
      std::vector<Expression> parts;
      for (int channel = 0; channel < channels; ++channel) parts.push_back(t(channel, whole(random, 1, 50)));
      std::ranges::shuffle(parts, random);
      sequences.push_back(times(whole(random, 1, 3), in_sequence(parts)));
    }
    const Expression expression = concurrently(sequences);
    std::map<ChannelInstance, double> bytes;
    for_each_transmission(expression, [&](const Expression& one, std::int64_t copies) {
      bytes[one.channel] += static_cast<double>(copies) * one.size;
    });
    const Platform platform = unit_platform(channels);
    INFO(to_string(expression));
    REQUIRE(carried(aligned_form(expression, TauLop(platform))) == bytes);
  }
}

TEST_CASE("aligned cost grows with the bytes of a unit where transfers do") {
  Random random(6);
  for (int trial = 0; trial < 200; ++trial) {
    const Expression expression = small_expression(random, {}, 40);
    const Platform proportional = additive_platform(random_shared_channels(random, 3));
    const double block = uniform(random, 0.01, 100.0);
    const TauLop model(proportional);
    const ReducedForm form = aligned_form(expression, model, {0.0, block});
    REQUIRE(similar(form, aligned_form(expression, model)));
    REQUIRE_THAT(cost_s(form, model, {0.0, block}), WithinRel(block * cost_s(form, model), 1e-9));

    const Platform measured = measured_platform(random, 3);
    const TauLop other(measured);
    REQUIRE_THAT(cost_s(aligned_form(expression, other, {0.0, block}), other, {0.0, block}),
                 WithinRel(cost_s(aligned_form(scaled(expression, block), other), other), 1e-9));
  }
}

TEST_CASE("an aligned form does not depend on the platform object that it was made with") {
  Random random(7);
  for (int trial = 0; trial < 50; ++trial) {
    const Expression expression = small_expression(random, {}, 40);
    const Platform platform = measured_platform(random, 3);
    ReducedForm form;
    {
      const Platform copy = platform;
      form = aligned_form(expression, TauLop(copy));
    }
    REQUIRE(aligned_form(expression, TauLop(platform)) == form);
  }
}

TEST_CASE("aligned costs of a channel without parameters are refused where costs decide") {
  const Platform platform = unit_platform(1, 4);
  CHECK_THROWS_AS(aligned_form(parse_expression("T0(5)||T7(5)"), TauLop(platform)), InvalidArgument);
  CHECK_THROWS_AS(aligned_form(parse_expression("5||T0(5)||T0@1(5)"), TauLop(platform)), InvalidArgument);
}

TEST_CASE("of instances that no sequence has in common the dearest counts, of others all") {
  const Platform platform = unit_platform(2, 8);
  const TauLop model(platform);
  const auto aligned = [&](const char* text) { return to_string(aligned_form(parse_expression(text), model)); };
  CHECK(aligned("(T0(134)+T1(158))||(T0@1(116)+T1(104))") == "2||T1(104)+T1(54)+T0(134)");
  CHECK(aligned("(T0(4)+T0@1(5)+T1(1))||(T0@2(7)+T1(1))") == "2||T1(1)+T0(4)+T0@1(5)");
  CHECK(aligned("(T0(4)+T0@1(5)+T1(1))||(T0@2(17)+T1(1))") == "2||T1(1)+T0@2(17)");
}

TEST_CASE("20,000 transmissions are aligned") {
  Random random(8);
  std::vector<Expression> sequences;
  for (int process = 0; process < 2'000; ++process) {
    std::vector<Expression> parts;
    for (int i = 0; i < 10; ++i) {
      parts.push_back(transmission({whole(random, 0, 1), whole(random, 0, 20)}, uniform(random, 1.0, 1e6)));
    }
    sequences.push_back(in_sequence(parts));
  }
  const Expression expression = concurrently(sequences);
  const Platform platform = unit_platform(2, 8);
  const TauLop model(platform, BeyondMeasured::proportional);
  const ReducedForm form = aligned_form(expression, model);
  double bytes = 0.0, expected = 0.0;
  for (const auto& [channel, carries] : carried(form)) bytes += carries;
  for_each_transmission(expression, [&](const Expression& one, std::int64_t) { expected += one.size; });
  CHECK_THAT(bytes, WithinRel(expected, 1e-9));
  CHECK_THAT(cost_s(form, model), WithinRel(expected, 1e-9));
}

TEST_CASE("a million million concurrent parts align as one") {
  const Platform platform = unit_platform(2, 8);
  const TauLop model(platform, BeyondMeasured::proportional);
  const Expression expression = parse_expression("1000000000000||(T0(3)+T1(4))||(T0(5)+T1(1))");
  CHECK(to_string(aligned_form(expression, model)) ==
        "1000000000001||T0(3)+T0(2)+1000000000001||T1(1)+1000000000000||T1(3)");
}

}  // namespace steelyard::test_aligned_evaluation
