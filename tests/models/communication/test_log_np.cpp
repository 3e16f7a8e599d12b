#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <random>

#include "core/base/errors.hpp"
#include "models/communication/hockney.hpp"
#include "models/communication/log_np.hpp"

namespace steelyard::test_log_np {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;

namespace {

LogNP::SecondsOfSize line(double latency_s, double bandwidth) {
  return [hockney = Hockney{latency_s, bandwidth}](double bytes) { return hockney.time_s(bytes); };
}

LogNP::SecondsOfSize constant(double time_s) {
  return [time_s](double) { return time_s; };
}

/// From the user's buffer to the network card, to the other card, and to the other's buffer.
LogNP three_transfers() {
  const LogNP::Transfer copy{constant(2e-7), line(0.0, 1e10)};
  return {{copy, {line(1e-6, 1e12), line(5e-7, 1e9)}, copy}};
}

}  // namespace

TEST_CASE("a message takes what its transfers take, one after the other") {
  CHECK_THAT(three_transfers().time_s(1e6), WithinRel(2.0 * (2e-7 + 1e-4) + 1e-6 + 1e-6 + 5e-7 + 1e-3, 1e-12));
}

TEST_CASE("the time of all transfers is the sum of their own, in any order") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> factor(0.1, 10.0);
  for (int trial = 0; trial < 50; ++trial) {
    LogNP all, reversed;
    double sum_s = 0.0;
    for (int i = 0; i < 1 + trial % 5; ++i) {
      const LogNP::Transfer transfer{constant(1e-7 * factor(random)),
                                     line(1e-6 * factor(random), 1e9 * factor(random))};
      all.transfers.push_back(transfer);
      reversed.transfers.insert(reversed.transfers.begin(), transfer);
      sum_s += LogNP{{transfer}}.time_s(4096.0);
    }
    REQUIRE_THAT(all.time_s(4096.0), WithinRel(sum_s, 1e-12));
    REQUIRE_THAT(reversed.time_s(4096.0), WithinRel(sum_s, 1e-12));
  }
}

TEST_CASE("a single transfer with a constant overhead and a latency by bandwidth is Hockney's model") {
  const LogNP model{{{constant(2e-6), line(0.0, 1e9)}}};
  for (double bytes = 0.0; bytes < 1e9; bytes = 3.0 * bytes + 1.0) {
    CHECK_THAT(model.time_s(bytes), WithinRel(Hockney{2e-6, 1e9}.time_s(bytes), 1e-14));
  }
}

TEST_CASE("with transfers that do not fall with the size, messages do not") {
  const LogNP model = three_transfers();
  for (double bytes = 1.0; bytes < 1e9; bytes *= 2.0) CHECK(model.time_s(bytes) < model.time_s(2.0 * bytes));
}

TEST_CASE("a message takes the transfers of the level that it crosses") {
  const LogNP within{{{constant(1e-7), line(0.0, 2e10)}, {constant(1e-7), line(0.0, 2e10)}}};
  const MLogNP model{{within, three_transfers()}};
  for (double bytes = 0.0; bytes < 1e9; bytes = 3.0 * bytes + 1.0) {
    CHECK(model.time_s(0, bytes) == within.time_s(bytes));
    CHECK(model.time_s(1, bytes) == three_transfers().time_s(bytes));
  }
}

TEST_CASE("negative sizes, missing transfers and levels, and negative times are refused") {
  CHECK_THROWS_AS(three_transfers().time_s(-1.0), InvalidArgument);
  CHECK_THROWS_AS(three_transfers().time_s(std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
  CHECK_THROWS_MATCHES(LogNP{}.time_s(8.0), InvalidArgument, MessageMatches(ContainsSubstring("no transfers")));
  CHECK_THROWS_MATCHES((LogNP{{{constant(0.0), {}}}}.time_s(8.0)), InvalidArgument,
                       MessageMatches(ContainsSubstring("transfer 0 has no latency")));
  CHECK_THROWS_MATCHES(
      (LogNP{{{constant(0.0), constant(0.0)}, {constant(-1e-6), constant(1.0)}}}.time_s(8.0)), InvalidArgument,
      MessageMatches(ContainsSubstring("transfer 1") && ContainsSubstring("overhead") && ContainsSubstring("-1e-06")));
  const MLogNP model{{three_transfers()}};
  CHECK_THROWS_MATCHES(model.time_s(1, 8.0), InvalidArgument, MessageMatches(ContainsSubstring("level 1")));
  CHECK_THROWS_AS(model.time_s(-1, 8.0), InvalidArgument);
}

}  // namespace steelyard::test_log_np
