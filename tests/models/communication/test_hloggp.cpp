#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <limits>
#include <random>
#include <vector>

#include "core/base/errors.hpp"
#include "models/communication/loggph.hpp"

namespace steelyard::test_hloggp {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinRel;
using namespace steelyard::models;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
const LogGP memory{2e-7, 1e-7, 1.5e-7, 2e-7, 1e-10};
const LogGP network{1.5e-6, 3e-7, 4e-7, 9e-7, 1e-9};

LogGP random_model(std::mt19937_64& random) {
  std::uniform_real_distribution<double> factor(0.1, 10.0);
  return {1e-6 * factor(random), 1e-7 * factor(random), 1e-7 * factor(random), 1e-6 * factor(random),
          1e-9 * factor(random)};
}

/// Calls check(from, to, bytes) for each two different processes and sizes from 0 to a gigabyte.
template <class Check>
void for_each_message(const HLogGP& model, const Check& check) {
  for (int from = 0; from < model.processes(); ++from) {
    for (int to = 0; to < model.processes(); ++to) {
      if (from == to) continue;
      for (const double bytes : {0.0, 1.0, 100.0, 1e5, 1e9}) check(from, to, bytes);
    }
  }
}

}  // namespace

TEST_CASE("a message takes the overheads of its two processes and what their link takes") {
  const HLogGP model({{1e-6, 2e-6, 3e-6}, {4e-6, 5e-6, 6e-6}}, {{}, {1e-5, 1e-9}, {2e-5, 2e-9}, {}});
  CHECK(model.processes() == 2);
  CHECK_THAT(model.time_s(0, 1, 1001.0), WithinRel(1e-6 + 1e-6 + 1e-5 + 5e-6, 1e-12));
  CHECK_THAT(model.time_s(1, 0, 1001.0), WithinRel(4e-6 + 2e-6 + 2e-5 + 2e-6, 1e-12));
  CHECK(model.link(0, 1).gap_s == 6e-6);
  CHECK(model.link(1, 0).gap_s == 6e-6);
}

TEST_CASE("processes that are all alike are LogGP") {
  const HLogGP model = HLogGP::from_links(5, [](int, int) { return network; });
  for_each_message(model, [&](int from, int to, double bytes) {
    CHECK(model.time_s(from, to, bytes) == network.time_s(bytes));
    CHECK(model.link(from, to).train_s(10, bytes) == network.train_s(10, bytes));
  });
}

TEST_CASE("processes that differ in their channels only are LogGPH") {
  const LogGPH levels{{memory, network}};
  const auto level = [](int from, int to) { return from / 2 == to / 2 ? 0 : 1; };
  const HLogGP model = HLogGP::from_links(6, [&](int from, int to) { return levels.level(level(from, to)); });
  for_each_message(model, [&](int from, int to, double bytes) {
    CHECK_THAT(model.time_s(from, to, bytes), WithinRel(levels.time_s(level(from, to), bytes), 1e-14));
  });
}

TEST_CASE("every link keeps the time of its own LogGP, whatever the links are") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<std::vector<LogGP>> links(6, std::vector<LogGP>(6));
    for (auto& row : links) {
      for (LogGP& link : row) link = random_model(random);
    }
    const HLogGP model = HLogGP::from_links(6, [&](int from, int to) { return links[from][to]; });
    for_each_message(model, [&](int from, int to, double bytes) {
      REQUIRE_THAT(model.time_s(from, to, bytes), WithinRel(links[from][to].time_s(bytes), 1e-12));
      REQUIRE(model.link(from, to).latency_s >= links[from][to].latency_s);
    });
  }
}

TEST_CASE("overheads and gaps that belong to processes are found again in the links") {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<LogGP> ends(5);
    for (LogGP& end : ends) end = random_model(random);
    const auto link = [&](int from, int to) -> LogGP {
      return {1e-6 * (1 + from + to), ends[from].send_overhead_s, ends[to].receive_overhead_s,
              std::max(ends[from].gap_s, ends[to].gap_s), 1e-9};
    };
    const HLogGP model = HLogGP::from_links(5, link);
    for_each_message(model, [&](int from, int to, double bytes) {
      const LogGP found = model.link(from, to), given = link(from, to);
      REQUIRE(found.send_overhead_s == given.send_overhead_s);
      REQUIRE(found.receive_overhead_s == given.receive_overhead_s);
      REQUIRE(found.latency_s == given.latency_s);
      REQUIRE(found.train_s(10, bytes) == given.train_s(10, bytes));
    });
  }
}

TEST_CASE("what is built from vectors and matrices is what its links say") {
  std::mt19937_64 random(3);
  std::vector<HLogGP::Process> processes(4);
  std::vector<HLogGP::Link> links(16);
  for (auto& process : processes) {
    const LogGP some = random_model(random);
    process = {some.send_overhead_s, some.receive_overhead_s, some.gap_s};
  }
  for (auto& link : links) link = {random_model(random).latency_s, random_model(random).gap_per_byte_s};
  const HLogGP model(processes, links);
  const HLogGP again = HLogGP::from_links(4, [&](int from, int to) { return model.link(from, to); });
  for_each_message(model, [&](int from, int to, double bytes) {
    CHECK_THAT(again.time_s(from, to, bytes), WithinRel(model.time_s(from, to, bytes), 1e-14));
    CHECK_THAT(again.link(from, to).train_s(9, bytes), WithinRel(model.link(from, to).train_s(9, bytes), 1e-14));
  });
}

TEST_CASE("times never fall with the size") {
  std::mt19937_64 random(4);
  const HLogGP model = HLogGP::from_links(4, [&](int, int) { return random_model(random); });
  for_each_message(model, [&](int from, int to, double bytes) {
    CHECK(model.time_s(from, to, bytes) <= model.time_s(from, to, bytes + 1.0));
  });
}

TEST_CASE("processes that are not there, messages to oneself and negative sizes are refused") {
  const HLogGP model = HLogGP::from_links(3, [](int, int) { return network; });
  for (const int bad : {-1, 3}) {
    CHECK_THROWS_AS(model.time_s(bad, 0, 8.0), InvalidArgument);
    CHECK_THROWS_MATCHES(model.time_s(0, bad, 8.0), InvalidArgument, MessageMatches(ContainsSubstring("there are 3")));
  }
  CHECK_THROWS_MATCHES(model.time_s(2, 2, 8.0), InvalidArgument, MessageMatches(ContainsSubstring("itself")));
  CHECK_THROWS_AS(model.time_s(0, 1, -8.0), InvalidArgument);
  CHECK_THROWS_AS(model.time_s(0, 1, not_a_number), InvalidArgument);
}

TEST_CASE("sizes that do not fit and impossible parameters are refused with their values") {
  using Processes = std::vector<HLogGP::Process>;
  using Links = std::vector<HLogGP::Link>;
  CHECK_THROWS_AS(HLogGP(Processes{}, Links{}), InvalidArgument);
  CHECK_THROWS_MATCHES(HLogGP(Processes(2), Links(3)), InvalidArgument,
                       MessageMatches(ContainsSubstring("2 processes with 3 links")));
  for (const double bad : {-1.0, infinity, not_a_number}) {
    CHECK_THROWS_MATCHES(HLogGP({{}, {bad, 0.0, 0.0}}, Links(4)), InvalidArgument,
                         MessageMatches(ContainsSubstring("process 1")));
    CHECK_THROWS_AS(HLogGP({{0.0, bad, 0.0}, {}}, Links(4)), InvalidArgument);
    CHECK_THROWS_AS(HLogGP({{0.0, 0.0, bad}, {}}, Links(4)), InvalidArgument);
    CHECK_THROWS_MATCHES(HLogGP(Processes(2), {{}, {bad, 0.0}, {}, {}}), InvalidArgument,
                         MessageMatches(ContainsSubstring("from 0 to 1")));
    CHECK_THROWS_AS(HLogGP(Processes(2), {{}, {}, {0.0, bad}, {}}), InvalidArgument);
    CHECK_NOTHROW(HLogGP(Processes(2), {{bad, bad}, {}, {}, {bad, bad}}));  // no message goes there
    LogGP link = network;
    link.gap_s = bad;
    CHECK_THROWS_MATCHES(HLogGP::from_links(2, [&](int, int) { return link; }), InvalidArgument,
                         MessageMatches(ContainsSubstring("from 0 to 1")));
  }
  CHECK_THROWS_AS(HLogGP::from_links(0, [](int, int) { return network; }), InvalidArgument);
  CHECK(HLogGP::from_links(1, [](int, int) { return network; }).processes() == 1);
}

}  // namespace steelyard::test_hloggp
