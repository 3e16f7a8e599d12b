#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "comm/measurement/message_exchange.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/timing.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_message_exchange {

using namespace steelyard::tests;

namespace {

/// All ranks of the session in their order.
std::vector<int> ranks_in_order() {
  std::vector<int> ranks(static_cast<std::size_t>(session().size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// Orders that are the same on all ranks.
std::vector<std::vector<int>> orders() {
  std::vector<std::vector<int>> orders{ranks_in_order(), ranks_in_order()};
  std::reverse(orders.back().begin(), orders.back().end());
  std::minstd_rand random(1);
  for (int i = 0; i < 3; ++i) {
    orders.push_back(ranks_in_order());
    std::shuffle(orders.back().begin(), orders.back().end(), random);
  }
  return orders;
}

enum class Mode { standard, synchronous };

/// Whether a send from rank 0 returned at least 1 ms before rank 1 began to receive, in any of some attempts. The
/// receiver is busy with other things of MPI from when it is told that the sender's clock runs, so that no delay of
/// either looks like it.
/// Collective.
bool returns_before_receiver(int bytes, Mode mode, int attempts) {
  constexpr double late_s = 3e-3;
  const MPI_Comm comm = session().comm();
  std::vector<char> buffer(static_cast<std::size_t>(bytes) + 1);
  double least_s = late_s;
  for (int i = 0; i < attempts; ++i) {
    STEELYARD_MPI(MPI_Barrier(comm));
    if (session().rank() == 0) {
      const double start_s = now_s();
      STEELYARD_MPI(MPI_Send(nullptr, 0, MPI_BYTE, 1, 0, comm));
      if (mode == Mode::synchronous) {
        STEELYARD_MPI(MPI_Ssend(buffer.data(), bytes, MPI_BYTE, 1, 1, comm));
      } else {
        STEELYARD_MPI(MPI_Send(buffer.data(), bytes, MPI_BYTE, 1, 1, comm));
      }
      least_s = std::min(least_s, now_s() - start_s);
    } else if (session().rank() == 1) {
      STEELYARD_MPI(MPI_Recv(nullptr, 0, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE));
      for (const double start_s = now_s(); now_s() - start_s < late_s;) {
        int found = 0;
        STEELYARD_MPI(MPI_Iprobe(0, 2, comm, &found, MPI_STATUS_IGNORE));
        std::this_thread::yield();
      }
      STEELYARD_MPI(MPI_Recv(buffer.data(), bytes, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE));
    }
  }
  STEELYARD_MPI(MPI_Bcast(&least_s, 1, MPI_DOUBLE, 0, comm));
  return least_s < late_s - 1e-3;
}

}  // namespace

TEST_CASE("messages after a sweep of other memory give times in all ways, however much that is") {
  if (session().size() < 2) return;
  constexpr int largest = 65536;
  for (const std::size_t footprint : {std::size_t{1}, std::size_t{65537}, std::size_t{1} << 20}) {
    MessageExchange exchange(session().comm(), ranks_in_order(), largest, footprint);
    for (const int bytes : {0, 1, 5000, largest}) {
      std::vector<double> times = exchange.ring_s(bytes, 5);
      CHECK(times.size() == 5);
      times.insert(times.end(), {exchange.ping_pong_s(bytes, 5), exchange.ping_pong_s(bytes, 5, true),
                                 exchange.send_overhead_s(bytes, 5), exchange.receive_overhead_s(bytes, 5)});
      CAPTURE(footprint, bytes, times);
      CHECK(std::all_of(times.begin(), times.end(), [](double time_s) { return time_s > 0.0; }));
      CHECK(exchange.gap_s(bytes, 20) >= 0.0);
      CHECK(same_on_all_ranks(times));
    }
  }
}

TEST_CASE("messages need two ranks and an order in which each stands once") {
  std::vector<std::vector<int>> wrong{{}, {0}, {0, 0}, {1}, {-1, 0}, {0, session().size()}};
  for (const int change : {-1, 1}) {
    wrong.push_back(ranks_in_order());
    wrong.back().back() += change;
  }
  wrong.push_back(ranks_in_order());
  wrong.back().push_back(session().size());
  if (session().size() == 1) wrong.push_back(ranks_in_order());
  for (const std::vector<int>& order : wrong) {
    CAPTURE(order);
    CHECK_THROWS_AS(MessageExchange(session().comm(), order, 8), InvalidArgument);
  }
}

TEST_CASE("a ring in any order goes around, with any size, and all ranks know its times") {
  if (session().size() < 2) return;
  for (const std::vector<int>& order : orders()) {
    MessageExchange exchange(session().comm(), order, 1 << 20);
    for (const int bytes : {0, 1, 4096, 100000, 1 << 20}) {
      const std::vector<double> times = exchange.ring_s(bytes, 3);
      CAPTURE(order, bytes, times);
      CHECK(times.size() == 3);
      CHECK(std::all_of(times.begin(), times.end(), [](double time_s) { return time_s > 0.0; }));
      CHECK(same_on_all_ranks(times));
    }
    CHECK(exchange.ring_s(8, 0).empty());
  }
}

TEST_CASE("times between the first two of an order are positive and the same on all ranks") {
  if (session().size() < 2) return;
  for (const std::vector<int>& order : orders()) {
    MessageExchange exchange(session().comm(), order, 65536);
    for (const int bytes : {0, 65536}) {
      const std::vector<double> times{exchange.ping_pong_s(bytes, 2), exchange.ping_pong_s(bytes, 2, true),
                                      exchange.send_overhead_s(bytes, 2), exchange.receive_overhead_s(bytes, 2)};
      const double gap_s = exchange.gap_s(bytes, 4);
      CAPTURE(order, bytes, times, gap_s);
      CHECK(std::all_of(times.begin(), times.end(), [](double time_s) { return time_s > 0.0; }));
      CHECK(gap_s >= 0.0);
      CHECK(same_on_all_ranks(times));
      CHECK(same_on_all_ranks({gap_s}));
    }
  }
}

TEST_CASE("long messages take longer than short ones, however they are timed") {
  if (session().size() < 2) return;
  constexpr int large = 1 << 20;
  MessageExchange exchange(session().comm(), ranks_in_order(), large);
  CHECK(eventually([&] { return exchange.ping_pong_s(large, 8) > exchange.ping_pong_s(8, 8); }));
  CHECK(eventually([&] { return exchange.send_overhead_s(large, 8) > exchange.send_overhead_s(8, 8); }));
  CHECK(eventually([&] { return exchange.gap_s(large, 8) > exchange.gap_s(8, 8); }));
  CHECK(eventually([&] {
    const std::vector<double> longer = exchange.ring_s(large, 9);
    const std::vector<double> shorter = exchange.ring_s(8, 9);
    return *std::min_element(longer.begin(), longer.end()) > *std::min_element(shorter.begin(), shorter.end());
  }));
}

TEST_CASE("an empty synchronous message waits for a late receiver, an empty one does not") {
  if (session().size() < 2) return;
  CHECK_FALSE(returns_before_receiver(0, Mode::synchronous, 10));
  CHECK(eventually([] { return returns_before_receiver(0, Mode::standard, 10); }));
  // That answer takes time.
  MessageExchange exchange(session().comm(), ranks_in_order(), 8);
  CHECK(eventually([&] { return exchange.ping_pong_s(0, 50, true) > exchange.ping_pong_s(0, 50); }, 20));
}

TEST_CASE("messages up to the eager limit return before a late receiver, longer ones never") {
  if (session().size() < 2) return;
  constexpr int largest = 1 << 17;
  MessageExchange exchange(session().comm(), ranks_in_order(), largest);
  // A busy machine can make eager messages look late, but not all the time.
  int limit = 0;
  CHECK(eventually([&] {
    limit = exchange.eager_limit();
    return returns_before_receiver(limit, Mode::standard, 20) &&
           (limit == largest || !returns_before_receiver(limit + 1, Mode::standard, 10));
  }));
  CAPTURE(limit);
  CHECK(limit > 0);
  CHECK(limit <= largest);
  CHECK(same_on_all_ranks({static_cast<double>(limit)}));
  // Where everything fits, the largest is the limit.
  const int small = std::min(64, limit);
  CHECK(eventually([&] { return MessageExchange(session().comm(), ranks_in_order(), small).eager_limit() == small; }));
}

TEST_CASE("steps of a protocol are pairs of growing sizes close to each other, within the sizes") {
  if (session().size() < 2) return;
  constexpr int largest = 1 << 17;
  MessageExchange exchange(session().comm(), ranks_in_order(), largest);
  for (const int smallest : {2048, 32768, largest}) {
    const std::vector<int> steps = exchange.protocol_steps(smallest);
    CAPTURE(smallest, steps);
    CHECK(steps.size() % 2 == 0);
    CHECK(same_on_all_ranks({steps.begin(), steps.end()}));
    if (steps.empty()) continue;
    CHECK(std::is_sorted(steps.begin(), steps.end()));
    CHECK(steps.front() >= smallest);
    CHECK(steps.back() <= largest);
    for (std::size_t i = 0; i + 1 < steps.size(); i += 2) {
      CHECK(steps[i + 1] > steps[i]);
      CHECK(steps[i + 1] - steps[i] <= std::max(1, steps[i] / 64));
    }
  }
}

}  // namespace steelyard::test_message_exchange
