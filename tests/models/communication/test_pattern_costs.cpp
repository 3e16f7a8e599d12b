#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/cost_models.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_pattern_costs {

using namespace steelyard::models;
using Catch::Matchers::WithinRel;

namespace {

/// Memory 0 and network 1 with tau-Lop's and Hockney's parameters: 4 and 1 bytes a second.
Platform two_channels() {
  Platform platform = tests::additive_platform({{0, {4.0, 1.0}}, {1, {1.0, 1.0}}}, 8);
  platform.channels[1].scope = Channel::Scope::network;
  platform.channels[0].hockney = {{std::numeric_limits<double>::infinity(), {1.0, 4.0}}};
  platform.channels[1].hockney = {{std::numeric_limits<double>::infinity(), {2.0, 1.0}}};
  return platform;
}

MessagePattern one_message(int from, int to, double bytes) {
  return {"one message", 3, {Phase{{{from, to, bytes}}, Phase::Sends::at_once}}};
}

std::vector<std::string> names_of(const std::vector<PatternCosts>& costs) {
  std::vector<std::string> names;
  for (const PatternCosts& one : costs) names.push_back(one.model);
  return names;
}

}  // namespace

TEST_CASE("every model costs every pattern, each as if it were alone") {
  const Platform platform = two_channels();
  const Placement placement(platform, {0, 0, 1});
  const std::array patterns{one_message(0, 1, 8.0), one_message(1, 2, 6.0)};
  const std::vector<PatternCosts> costs = pattern_costs(patterns, platform, placement);
  CHECK(names_of(costs) == std::vector<std::string>{"tau-Lop", "tau-Lop event", "Hockney"});
  for (const PatternCosts& one : costs) {
    REQUIRE(one.time_s.size() == patterns.size());
    const double latency_s = one.model == "Hockney" ? 1.0 : 0.0;
    CHECK_THAT(one.time_s[0], WithinRel(latency_s + 8.0 / 4.0, 1e-12));
    CHECK_THAT(one.time_s[1], WithinRel(2.0 * latency_s + 6.0 / 1.0, 1e-12));
  }
}

TEST_CASE("a model counts only where it knows the channels of all patterns") {
  Platform platform = two_channels();
  platform.channels[1].hockney = {};
  const Placement placement(platform, {0, 0, 1});
  const std::array patterns{one_message(0, 1, 8.0), one_message(1, 2, 6.0)};
  CHECK(names_of(pattern_costs(std::span(patterns).first(1), platform, placement)).back() == "Hockney");
  CHECK(names_of(pattern_costs(patterns, platform, placement)) == std::vector<std::string>{"tau-Lop", "tau-Lop event"});
  platform.channels[1].tau_lop.reset();
  CHECK_THROWS_AS(pattern_costs(patterns, platform, placement), InvalidArgument);
}

TEST_CASE("nothing to send costs nothing by all models, whatever is known") {
  const std::array patterns{MessagePattern{"none", 1, {}}, MessagePattern{"empty", 1, {Phase{}}}};
  const Platform nothing;
  const std::vector<PatternCosts> costs = pattern_costs(patterns, nothing, Placement(nothing, {0}));
  CHECK(names_of(costs) == cost_model_names());
  for (const PatternCosts& one : costs) CHECK(one.time_s == std::vector<double>{0.0, 0.0});
  // Beside messages, a pattern without any.
  const Platform platform = two_channels();
  const std::array both{one_message(0, 1, 8.0), MessagePattern{"none", 3, {}}};
  for (const PatternCosts& one : pattern_costs(both, platform, Placement(platform, {0, 0, 1}))) {
    CHECK(one.time_s[0] > 0.0);
    CHECK(one.time_s[1] == 0.0);
  }
}

}  // namespace steelyard::test_pattern_costs
