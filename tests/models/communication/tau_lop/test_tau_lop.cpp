#include <map>
#include <set>

#include "models/communication/tau_lop/tau_lop.hpp"
#include "tests/catch.hpp"
#include "tests/models/naive_tau_lop.hpp"
#include "tests/models/random_models.hpp"
#include "tests/models/tau_lop_platforms.hpp"

namespace steelyard::test_tau_lop {

using namespace steelyard::models;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

constexpr int measured_concurrency = 8;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Overheads and transfer times for up to 8 transfers, within the restrictions of the model.
TauLopTables random_tables(Random& random) {
  std::vector<SizeTable::Point> overhead;
  std::vector<TransferPoint> transfer;
  const double seconds_per_byte = uniform(random, 1e-10, 1e-9);
  for (const double bytes : {64.0, 4096.0, 1e6}) {
    overhead.push_back({bytes, uniform(random, 1e-7, 1e-5)});
    double time_s = seconds_per_byte * bytes;
    for (int concurrency = 1; concurrency <= measured_concurrency; concurrency *= 2) {
      transfer.push_back({bytes, concurrency, time_s});
      time_s *= uniform(random, 1.0, 2.0);
    }
  }
  return {SizeTable(overhead, SizeTable::Outside::constant), TransferTable(transfer)};
}

/// Shared memory (equation 1), a network through the memories of both nodes (2), one that writes into the receiver's
/// memory (3), and one without parameters.
Platform random_platform(Random& random) {
  Platform platform;
  platform.channels.resize(6);
  const std::vector<std::string> names{"shared memory", "TCP", "InfiniBand", "unmeasured", "through 3", "to nowhere"};
  const std::vector<std::vector<int>> paths{{0, 0}, {0, 1, 0}, {2}, {3}, {4, 3}, {9}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    Channel& channel = platform.channels[i];
    channel.id = static_cast<int>(i);
    channel.name = names[i];
    channel.path = paths[i];
    if (channel.id != 3) channel.tau_lop = random_tables(random);
  }
  return platform;
}

/// Whole sizes, also 0, which add up without rounding.
ReducedForm random_terms(Random& random) {
  ReducedForm terms;
  for (int count = whole(random, 0, 12); count > 0; --count) {
    terms.push_back({whole(random, 1, 4), {whole(random, 0, 2), whole(random, 0, 1)}, 1.0 * whole(random, 0, 20)});
  }
  return terms;
}

}  // namespace

TEST_CASE("transmissions cost their overhead and the transfers of their path, which they share (001, equations 1-3)") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Platform platform = random_platform(random);
    const TauLop model(platform), extrapolates(platform, BeyondMeasured::proportional);
    const double m = trial % 10 == 0 ? 0.0 : uniform(random, 0.0, 2e6);
    const int a = whole(random, 1, 3 * measured_concurrency);
    const auto o = [&](int channel) { return platform.channel(channel).tau_lop->overhead.time_s(m); };
    const auto l = [&](int channel) {
      return platform.channel(channel).tau_lop->transfer.time_s(m, a, BeyondMeasured::proportional);
    };
    const std::vector<double> expected_s{o(0) + 2.0 * l(0), o(1) + 2.0 * l(0) + l(1), o(2) + l(2)};
    for (const int channel : {0, 1, 2}) {
      REQUIRE_THAT(extrapolates.transmission_s(channel, m, a), WithinRel(expected_s[channel], 1e-12));
      if (a > measured_concurrency) continue;
      REQUIRE_THAT(model.transmission_s(channel, m, a), WithinRel(expected_s[channel], 1e-12));
      if (a == 1) REQUIRE(model.transmission_s(channel, m) == model.transmission_s(channel, m, 1));
    }
  }
}

TEST_CASE("overhead matters up to the longest measured message of which it is more than a tenth") {
  Random random(2);
  CHECK(TauLop(Platform{}).overhead_matters_up_to_bytes() == 0.0);
  for (int trial = 0; trial < 100; ++trial) {
    Platform platform = random_platform(random);
    CHECK_THROWS_AS(TauLop(platform).overhead_matters_up_to_bytes(), InvalidArgument);
    platform.channels.resize(4);
    const TauLop model(platform);
    std::map<int, double> largest;
    for (const int channel : {0, 1, 2}) {
      largest[channel] = 0.0;
      for (const SizeTable::Point& point : platform.channel(channel).tau_lop->overhead.points()) {
        const bool matters = point.time_s > 0.1 * model.transmission_s(channel, point.bytes);
        if (matters) largest[channel] = std::max(largest[channel], point.bytes);
      }
      REQUIRE(model.overhead_matters_up_to_bytes(std::set<int>{channel}) == largest[channel]);
    }
    REQUIRE(model.overhead_matters_up_to_bytes() == std::max({largest[0], largest[1], largest[2]}));
  }
}

TEST_CASE("terms of one channel and multiplicity from a size on become one, and are ordered as in the paper") {
  Random random(3);
  for (int trial = 0; trial < 500; ++trial) {
    ReducedForm terms = random_terms(random);
    const double merge_from = trial % 3 == 0 ? 0.0 : trial % 9 == 1 ? infinity : whole(random, 1, 20);
    ReducedForm expected;
    std::map<std::pair<ChannelInstance, std::int64_t>, double> merged;
    for (const Term& term : terms) {
      if (term.size >= merge_from) {
        merged[{term.channel, term.multiplicity}] += term.size;
      } else {
        expected.push_back(term);
      }
    }
    for (const auto& [key, size] : merged) expected.push_back({key.second, key.first, size});
    const ReducedForm once = collected(terms, merge_from);
    INFO(to_string(terms) << " from " << merge_from << ": " << to_string(once));
    REQUIRE(tests::similar(once, expected));
    REQUIRE(tests::ordered_as_in_the_paper(once));
    REQUIRE(collected(once, merge_from) == once);
    std::ranges::shuffle(terms, random);
    REQUIRE(collected(terms, merge_from) == once);
  }
}

TEST_CASE("a reduced form costs what its terms cost together") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    const Platform platform = tests::measured_platform(random, 3);
    const TauLop model(platform);
    const ReducedForm terms = random_terms(random);
    const double block = trial % 2 == 0 ? 1.0 : uniform(random, 0.5, 8.0);
    double sum_s = 0.0;
    for (const Term& term : terms) {
      sum_s += model.transmission_s(term.channel.channel, term.size * block, term.multiplicity);
    }
    REQUIRE_THAT(cost_s(terms, model, {0.0, block}), WithinRel(sum_s, 1e-12));
    if (block == 1.0) REQUIRE(cost_s(terms, model) == cost_s(terms, model, {0.0, block}));
  }
}

TEST_CASE("a reduced form is printed as the paper writes it") {
  CHECK(to_string(ReducedForm{}) == "0");
  // Expressions 8 and 9 become expression 10.
  const ReducedForm sum{{2, {0}, 116}, {1, {0}, 18}, {2, {1}, 104}, {1, {1}, 54},
                        {3, {1}, 35},  {2, {1}, 62}, {1, {1}, 27}};
  CHECK(to_string(collected(sum)) == "3||T1(35)+2||T1(166)+T1(81)+2||T0(116)+T0(18)");
  CHECK(to_string(ReducedForm{{1, {1, 3}, 123456789.0}}) == "T1@3(123456789)");
  CHECK(to_string(ReducedForm{{1, {0}, 1.0 / 3.0}, {1, {0}, 1234.5678}}) == "T0(0.333333)+T0(1234.57)");
}

TEST_CASE("what tau-Lop cannot cost is refused naming the channel") {
  Random random(5);
  const Platform platform = random_platform(random);
  const TauLop model(platform);
  const auto refused = [](const auto& call, const std::string& channel, const std::string& reason) {
    CHECK_THROWS_MATCHES(call(), InvalidArgument,
                         MessageMatches(ContainsSubstring(channel) && ContainsSubstring(reason)));
  };
  struct Bad {
    int channel;
    double bytes;
    std::int64_t concurrency;
    const char* named;
    const char* reason;
  };
  for (const Bad& bad :
       {Bad{7, 1.0, 1, "channel 7", "0, 1, 2, 3, 4, 5"}, Bad{5, 1.0, 1, "channel 9", "0, 1, 2"},
        Bad{3, 1.0, 1, "channel 3 (unmeasured)", "no tau-Lop parameters"},
        Bad{4, 1.0, 1, "channel 3 (unmeasured)", "no tau-Lop parameters"},
        Bad{1, -1.0, 1, "channel 1 (TCP)", "-1 bytes"}, Bad{2, 1.0, 0, "channel 2 (InfiniBand)", "0 concurrent"},
        Bad{2, 100.0, 24, "channel 2 (InfiniBand): 24", "at most the 8"},
        Bad{1, 100.0, 9, "channel 0 (shared memory)", "at most the 8"}}) {
    refused([&] { return model.transmission_s(bad.channel, bad.bytes, bad.concurrency); }, bad.named, bad.reason);
    refused([&] { return cost_s({{bad.concurrency, {bad.channel}, bad.bytes}}, model); }, bad.named, bad.reason);
  }
  for (const int channel : {3, 7}) {
    CHECK_THROWS_AS(model.overhead_matters_up_to_bytes(std::set<int>{channel}), InvalidArgument);
  }
}

}  // namespace steelyard::test_tau_lop
