#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>

#include "core/base/errors.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::test_platform {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::models;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Shared memory in two segments, and a network with nothing measured.
Platform two_channels() {
  Platform platform;
  platform.channels.resize(2);
  platform.channels[0].id = 4;
  platform.channels[0].name = "shared memory";
  platform.channels[0].hockney = {{4096.0, {1e-7, 5e9}}, {infinity, {1e-6, 1e10}}};
  platform.channels[1].id = 1;
  platform.channels[1].name = "network";
  return platform;
}

}  // namespace

TEST_CASE("a channel is found by its id, not its place") {
  const Platform platform = two_channels();
  CHECK(platform.channel(4).name == "shared memory");
  CHECK(platform.channel(1).name == "network");
}

TEST_CASE("a channel that is not there is refused with the ids that are") {
  Platform platform = two_channels();
  CHECK_THROWS_MATCHES(
      platform.channel(7), InvalidArgument,
      MessageMatches(ContainsSubstring("platform") && ContainsSubstring("channel 7") && ContainsSubstring("4, 1")));
  platform.path = "lab.platform.json";
  CHECK_THROWS_MATCHES(platform.channel(-1), InvalidArgument,
                       MessageMatches(ContainsSubstring("lab.platform.json: ") && ContainsSubstring("channel -1")));
  CHECK_THROWS_MATCHES(Platform{}.channel(0), InvalidArgument,
                       MessageMatches(ContainsSubstring("channel 0") && ContainsSubstring("none")));
}

TEST_CASE("a message takes the time of the segment that holds its size") {
  const Platform platform = two_channels();
  const Channel& channel = platform.channel(4);
  for (const double bytes : {0.0, 1.0, 4095.0, 4096.0}) {
    CHECK(channel.time_s(bytes) == channel.hockney[0].hockney.time_s(bytes));
  }
  for (const double bytes : {4096.5, 4097.0, 1e12}) {
    CHECK(channel.time_s(bytes) == channel.hockney[1].hockney.time_s(bytes));
  }
}

TEST_CASE("a negative size and a channel without Hockney parameters are refused") {
  const Platform platform = two_channels();
  for (const double bytes : {-1.0, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(platform.channel(4).time_s(bytes), InvalidArgument);
  }
  CHECK_THROWS_MATCHES(platform.channel(1).time_s(8.0), InvalidArgument,
                       MessageMatches(ContainsSubstring("channel 1 (network)") && ContainsSubstring("no Hockney")));
}

}  // namespace steelyard::test_platform
