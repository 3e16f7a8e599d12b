#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "core/base/errors.hpp"
#include "models/communication/loggph.hpp"

namespace steelyard::test_loggph {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::models;

namespace {

const LogGPH two_levels{{{2e-7, 1e-7, 1e-7, 2e-7, 1e-10}, {1.5e-6, 3e-7, 4e-7, 9e-7, 1e-9}}};

}  // namespace

TEST_CASE("a message takes the time of the level that it crosses") {
  for (double bytes = 0.0; bytes < 1e9; bytes = 3.0 * bytes + 1.0) {
    CHECK(two_levels.time_s(0, bytes) == two_levels.levels[0].time_s(bytes));
    CHECK(two_levels.time_s(1, bytes) == two_levels.levels[1].time_s(bytes));
  }
}

TEST_CASE("with equal levels the hierarchy is LogGP") {
  const LogGPH alike{{two_levels.levels[1], two_levels.levels[1], two_levels.levels[1]}};
  for (int level = 0; level < 3; ++level) CHECK(alike.time_s(level, 1e5) == two_levels.levels[1].time_s(1e5));
}

TEST_CASE("transmissions in sequence add up, and of concurrent ones the longest counts") {
  const double near_s = two_levels.time_s(0, 600.0), far_s = two_levels.time_s(1, 20.0);
  CHECK(two_levels.time_s(parse_expression("T0(300) + T1(10)"), 2.0) == near_s + far_s);
  CHECK(two_levels.time_s(parse_expression("3||T0(300) || T1(10)"), 2.0) == std::max(near_s, far_s));
  CHECK(two_levels.time_s(Expression{}, 1.0) == 0.0);
  CHECK_THROWS_AS(two_levels.time_s(parse_expression("T2(1)"), 1.0), InvalidArgument);
}

TEST_CASE("a platform's channels are the levels") {
  Platform platform;
  for (int id = 0; id < 2; ++id) {
    platform.channels.emplace_back();
    platform.channels.back().id = id;
    platform.channels.back().loggp = two_levels.levels[static_cast<std::size_t>(id)];
  }
  CHECK(LogGPH::of(platform).time_s(1, 1e4) == two_levels.time_s(1, 1e4));
  platform.channels[1].loggp.reset();
  CHECK(LogGPH::of(platform).levels.size() == 1);
}

TEST_CASE("levels that are not there and negative sizes are refused") {
  CHECK_THROWS_MATCHES(two_levels.time_s(2, 8.0), InvalidArgument,
                       MessageMatches(ContainsSubstring("level 2") && ContainsSubstring("it has 2")));
  CHECK_THROWS_AS(two_levels.level(-1), InvalidArgument);
  CHECK_THROWS_AS(LogGPH{}.time_s(0, 8.0), InvalidArgument);
  CHECK_THROWS_AS(two_levels.time_s(0, -8.0), InvalidArgument);
}

}  // namespace steelyard::test_loggph
