#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "models/communication/tau_lop/aligned_evaluation.hpp"
#include "models/communication/tau_lop/event_evaluation.hpp"
#include "tests/models/fluid_simulation.hpp"
#include "tests/models/naive_event_evaluation.hpp"
#include "tests/models/random_expressions.hpp"
#include "tests/models/similar_forms.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_event_evaluation_laws {

using namespace steelyard::models;
using namespace steelyard::tests;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

double event_s(const Expression& expression, const TauLop& model, const Evaluation& evaluation = {}) {
  return cost_s(event_form(expression, model, evaluation), model, evaluation);
}

double aligned_s(const Expression& expression, const TauLop& model) {
  return cost_s(aligned_form(expression, model), model);
}

ExpressionShape random_shape(Random& random, Sizes sizes) {
  ExpressionShape shape;
  shape.channels = whole(random, 1, 4);
  shape.instances = whole(random, 1, 2);
  shape.depth = whole(random, 1, 4);
  shape.sizes = sizes;
  return shape;
}

/// Seconds of all transmissions one after the other, none of them shared.
double serial_s(const Expression& expression, const TauLop& model) {
  double sum_s = 0.0;
  for_each_transmission(expression, [&](const Expression& one, std::int64_t copies) {
    sum_s += static_cast<double>(copies) * model.transmission_s(one.channel.channel, one.size);
  });
  return sum_s;
}

}  // namespace

TEST_CASE("events end when a simulation in small steps of time ends") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const ExpressionShape shape = random_shape(random, trial % 3 == 0 ? Sizes::alike : Sizes::different);
    const Expression expression = small_expression(random, shape, 16);
    const SharedChannels channels = random_shared_channels(random, shape.channels);
    const Platform platform = additive_platform(channels);
    const TauLop model(platform);
    const double step_s = std::max(1e-9, serial_s(expression, model) / 20'000.0);
    const double simulated_s = fluid_end_s(expression, channels, step_s);
    const ReducedForm form = event_form(expression, model);
    INFO(trial << ": " << to_string(expression) << " = " << to_string(form));
    REQUIRE_THAT(cost_s(form, model),
                 WithinAbs(simulated_s, 2.0 * step_s * static_cast<double>(count_transmissions(expression) + 1)));
  }
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
    if (naive.has_ties() || naive.has_near_ties()) continue;
    REQUIRE(similar(form, naive.form()));
    ++compared;
  }
  CHECK(compared > 1000);
}

TEST_CASE("equal and empty messages are followed at the cost that the definition gives") {
  Random random(3);
  int compared = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const ExpressionShape shape = random_shape(random, Sizes::alike);
    // Sums of tenths are equal but for rounding.
    const Expression expression = scaled(small_expression(random, shape, 40), trial % 4 < 2 ? 1.0 : 0.1);
    const bool additive = trial % 2 == 0;
    const Platform platform = additive ? additive_platform(random_shared_channels(random, shape.channels))
                                       : measured_platform(random, shape.channels);
    const TauLop model(platform);
    const ReducedForm form = event_form(expression, model);
    const NaiveEventEvaluation naive(expression, model);
    INFO(trial << ": " << to_string(expression) << " = " << to_string(form) << ", naive " << to_string(naive.form()));
    if (additive) {
      REQUIRE_THAT(cost_s(form, model), WithinRel(naive.end_s(), 1e-9));
    } else if (!naive.has_ties()) {
      REQUIRE(similar(form, naive.form()));
      ++compared;
    }
  }
  CHECK(compared > 200);
}

TEST_CASE("on channels without overhead the reduced form costs the time that passed") {
  Random random(4);
  for (int trial = 0; trial < 500; ++trial) {
    const ExpressionShape shape = random_shape(random, Sizes::different);
    const Expression expression = small_expression(random, shape, 40);
    const Platform platform = additive_platform(random_shared_channels(random, shape.channels));
    const TauLop model(platform);
    INFO(trial << ": " << to_string(expression));
    REQUIRE_THAT(event_s(expression, model), WithinRel(NaiveEventEvaluation(expression, model).end_s(), 1e-9));
  }
}

TEST_CASE("concurrency never costs more than one transmission after the other") {
  Random random(5);
  for (int trial = 0; trial < 500; ++trial) {
    const ExpressionShape shape = random_shape(random, trial % 2 == 0 ? Sizes::alike : Sizes::different);
    const Expression expression = small_expression(random, shape, 40);
    const Platform platform = additive_platform(random_shared_channels(random, shape.channels));
    const TauLop model(platform);
    INFO(to_string(expression));
    REQUIRE(event_s(expression, model) <= (1.0 + 1e-9) * serial_s(expression, model));
  }
}

TEST_CASE("no sequence of a concurrent expression ends earlier than it would alone") {
  Random random(6);
  for (int trial = 0; trial < 500; ++trial) {
    const ExpressionShape shape = random_shape(random, trial % 2 == 0 ? Sizes::alike : Sizes::different);
    const Platform platform = additive_platform(random_shared_channels(random, shape.channels));
    const TauLop model(platform);
    std::vector<Expression> branches;
    for (int count = whole(random, 1, 4); count > 0; --count) {
      std::vector<Expression> parts;
      for (int length = whole(random, 1, 4); length > 0; --length) parts.push_back(random_transmission(random, shape));
      branches.push_back(in_sequence(parts));
    }
    const double together_s = event_s(concurrently(branches), model);
    for (const Expression& branch : branches) {
      REQUIRE(together_s >= (1.0 - 1e-9) * serial_s(branch, model));
      REQUIRE_THAT(event_s(branch, model), WithinRel(serial_s(branch, model), 1e-9));
    }
  }
}

TEST_CASE("one more transmission can bring the end forward") {
  // It holds T1(4) back until T1(5) is through, which lets the long T2(50) start earlier.
  const SharedChannels channels{{0, {}}, {1, {}}, {2, {}}};
  const Platform platform = additive_platform(channels);
  const TauLop model(platform);
  const std::string two = "(T0(3)+T1(4))||(T1(5)+T2(50))";
  for (const auto& [text, end_s] : {std::pair{two, 57.0}, {two + "||T0(2)", 55.0}}) {
    CHECK_THAT(event_s(parse_expression(text), model), WithinRel(end_s, 1e-12));
    CHECK_THAT(fluid_end_s(parse_expression(text), channels, 1e-4), WithinAbs(end_s, 1e-3));
  }
}

TEST_CASE("both evaluations come to the same through a single channel") {
  Random random(7);
  for (int trial = 0; trial < 500; ++trial) {
    ExpressionShape shape = random_shape(random, trial % 2 == 0 ? Sizes::alike : Sizes::different);
    shape.channels = shape.instances = 1;
    const Expression expression = small_expression(random, shape, 40);
    const Platform platform = measured_platform(random, 1);
    const TauLop model(platform);
    const ReducedForm event = event_form(expression, model), aligned = aligned_form(expression, model);
    INFO(to_string(expression) << ": " << to_string(event) << ", " << to_string(aligned));
    REQUIRE(similar(event, aligned));
  }
}

TEST_CASE("both evaluations come to the same for identical sequences") {
  Random random(8);
  for (int trial = 0; trial < 300; ++trial) {
    const ExpressionShape shape = random_shape(random, trial % 2 == 0 ? Sizes::alike : Sizes::different);
    std::vector<Expression> parts;
    for (int length = whole(random, 1, 6); length > 0; --length) parts.push_back(random_transmission(random, shape));
    const Expression expression = times(whole(random, 1, 50), in_sequence(parts));
    const Platform platform = measured_platform(random, shape.channels);
    const TauLop model(platform);
    INFO(to_string(expression));
    REQUIRE(similar(event_form(expression, model), aligned_form(expression, model)));
    REQUIRE(similar(event_form(expanded(expression), model), event_form(expression, model)));
  }
}

TEST_CASE("n || X is followed as n parts X") {
  Random random(9);
  for (int trial = 0; trial < 500; ++trial) {
    const ExpressionShape shape = random_shape(random, trial % 2 == 0 ? Sizes::alike : Sizes::different);
    const Expression expression = small_expression(random, shape, 40);
    const Platform platform = additive_platform(random_shared_channels(random, shape.channels));
    const TauLop model(platform);
    INFO(to_string(expression));
    REQUIRE_THAT(event_s(expanded(expression), model), WithinRel(event_s(expression, model), 1e-9));
    REQUIRE_THAT(aligned_s(expanded(expression), model), WithinRel(aligned_s(expression, model), 1e-9));
  }
}

TEST_CASE("concurrent parts are followed the same in any order and grouping") {
  Random random(10);
  for (int trial = 0; trial < 500; ++trial) {
    const ExpressionShape shape = random_shape(random, Sizes::different);
    const auto part = [&] { return small_expression(random, shape, 12); };
    const Expression x = part(), y = part(), z = part();
    const Platform platform = measured_platform(random, shape.channels);
    const TauLop model(platform);
    const NaiveEventEvaluation naive(concurrently({x, y, z}), model);
    if (naive.has_ties() || naive.has_near_ties()) continue;
    INFO(to_string(x) << " || " << to_string(y) << " || " << to_string(z));
    REQUIRE(similar(event_form(concurrently({concurrently({x, y}), z}), model), naive.form()));
    REQUIRE(similar(event_form(concurrently({x, concurrently({y, z})}), model), naive.form()));
    REQUIRE(similar(event_form(shuffled(random, concurrently({x, y, z})), model), naive.form()));
  }
}

TEST_CASE("sizes in blocks are followed as sizes in bytes") {
  Random random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const ExpressionShape shape = random_shape(random, Sizes::different);
    const Expression expression = small_expression(random, shape, 40);
    const double block = uniform(random, 0.01, 100.0);
    const Platform proportional = additive_platform(random_shared_channels(random, shape.channels));
    const TauLop model(proportional);
    INFO(to_string(expression));
    REQUIRE_THAT(event_s(expression, model, {0.0, block}), WithinRel(block * event_s(expression, model), 1e-9));
    const Platform measured = measured_platform(random, shape.channels);
    const TauLop other(measured);
    REQUIRE_THAT(event_s(expression, other, {0.0, block}), WithinRel(event_s(scaled(expression, block), other), 1e-9));
  }
}

TEST_CASE("an event form does not depend on the platform object that it was made with") {
  Random random(12);
  for (int trial = 0; trial < 50; ++trial) {
    const Expression expression = small_expression(random, {}, 40);
    const Platform platform = measured_platform(random, 3);
    ReducedForm form;
    {
      const Platform copy = platform;
      form = event_form(expression, TauLop(copy));
    }
    REQUIRE(event_form(expression, TauLop(platform)) == form);
  }
}

}  // namespace steelyard::test_event_evaluation_laws
