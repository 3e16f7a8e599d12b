#include <numeric>
#include <thread>

#include "comm/measurement/message_exchange.hpp"
#include "comm/mpi_check.hpp"
#include "core/timing.hpp"
#include "models/communication/message_pattern.hpp"
#include "tests/catch.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_messages {

using namespace steelyard::models;
using namespace steelyard::tests;

namespace {

constexpr double mebibyte = 1 << 20;

std::vector<int> ranks_in_order() {
  std::vector<int> ranks(static_cast<std::size_t>(session().size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

TEST_CASE("long messages take longer than short ones, however they are timed") {
  if (session().size() < 2) return;
  constexpr int large = 1 << 20;
  MessageExchange exchange(session().comm(), ranks_in_order(), large);
  CHECK(eventually([&] { return exchange.ping_pong_s(large, 8) > exchange.ping_pong_s(8, 8); }));
  CHECK(eventually([&] { return exchange.send_overhead_s(large, 8) > exchange.send_overhead_s(8, 8); }));
  CHECK(eventually([&] { return exchange.gap_s(large, 8) > exchange.gap_s(8, 8); }));
  CHECK(eventually([&] {
    const std::vector<double> longer = exchange.ring_s(large, 9), shorter = exchange.ring_s(8, 9);
    return *std::min_element(longer.begin(), longer.end()) > *std::min_element(shorter.begin(), shorter.end());
  }));
}

TEST_CASE("an empty synchronous message waits for an answer, and the eager limit lies below what has to") {
  if (session().size() < 2) return;
  constexpr int largest = 1 << 17;
  MessageExchange exchange(session().comm(), ranks_in_order(), largest);
  CHECK(eventually([&] { return exchange.ping_pong_s(0, 50, true) > exchange.ping_pong_s(0, 50); }, 20));
  // A busy machine can make eager messages look late, but not all the time.
  int limit = 0;
  CHECK(eventually([&] {
    limit = exchange.eager_limit();
    return 0 < limit && limit < largest && exchange.eager_limit() == limit;
  }));
  CAPTURE(limit);
  CHECK(same_on_all_ranks({static_cast<double>(limit)}));
  // Where everything fits, the largest is the limit.
  const int small = std::min(64, limit);
  CHECK(eventually([&] { return MessageExchange(session().comm(), ranks_in_order(), small).eager_limit() == small; }));
}

TEST_CASE("patterns come to their end, with messages of any protocol and any number, also none") {
  const int processes = session().size();
  std::vector<MessagePattern> patterns{{"nothing", processes, {}}, {"empty phases", processes, {{}, {}}}};
  for (const double bytes : {0.0, 1.0, 4096.0, 100000.0, mebibyte}) {
    patterns.insert(patterns.end(), {flat_broadcast(processes, bytes), binomial_broadcast(processes, bytes),
                                     ring_allgather(processes, bytes), recursive_doubling_allreduce(processes, bytes),
                                     halo_1d(processes, bytes)});
    if (processes >= 2) patterns.push_back(ring(processes, bytes));
  }
  // A message received in the place of a shorter one would be an error of MPI.
  std::mt19937_64 random(1);
  for (const Phase::Sends sends : {Phase::Sends::in_order, Phase::Sends::at_once}) {
    patterns.push_back({"all to all", processes, std::vector<Phase>(5)});
    for (Phase& phase : patterns.back().phases) {
      phase.sends = sends;
      for (int message = 0; message < 2 * processes * (processes - 1); ++message) {
        const int from = static_cast<int>(random() % static_cast<std::uint64_t>(processes));
        const int to = (from + 1 + static_cast<int>(random() % static_cast<std::uint64_t>(processes - 1))) % processes;
        phase.messages.push_back({from, to, std::array{0.0, 1.0, 5000.0, 65536.0, mebibyte}[random() % 5]});
      }
    }
  }
  for (const MessagePattern& pattern : patterns) {
    INFO(pattern.name);
    const std::vector<double> times = pattern_s(session().comm(), pattern, 2);
    CHECK((times.size() == 2 && *std::ranges::min_element(times) > 0.0));
    CHECK(same_on_all_ranks(times));
    CHECK(pattern_s(session().comm(), pattern, 0).empty());
  }
}

TEST_CASE("patterns of other numbers of processes and messages that cannot be sent are refused on all ranks") {
  const int processes = session().size();
  std::vector<MessagePattern> wrong{halo_1d(processes + 1, 8.0)};
  if (processes > 1) wrong.push_back(halo_1d(processes - 1, 8.0));
  std::vector<Message> messages{{0, 0, 8.0}, {0, processes, 8.0}, {-1, 0, 8.0}};
  for (const double bytes : {-1.0, std::numeric_limits<double>::infinity(), 2147483648.0, 1e12}) {
    if (processes > 1) messages.push_back({1, 0, bytes});
  }
  for (const Message& one : messages) wrong.push_back({"wrong", processes, {Phase{{one}, Phase::Sends::in_order}}});
  for (const MessagePattern& pattern : wrong) {
    CHECK_THROWS_AS(pattern_s(session().comm(), pattern, 1), InvalidArgument);
  }
}

}  // namespace steelyard::test_messages
