#include <thread>

#include "comm/measurement/message_exchange.hpp"
#include "comm/mpi_check.hpp"
#include "core/timing.hpp"
#include "tests/catch.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_messages {

using namespace steelyard::tests;

namespace {

enum class Mode { standard, synchronous };

/// Whether a send from rank 0 returned at least 1 ms before rank 1 began to receive, in any of some attempts. The
/// receiver is busy with other things of MPI from when it is told that the sender's clock runs, so that no delay of
/// either looks like it. Collective.
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
      const auto send = mode == Mode::synchronous ? MPI_Ssend : MPI_Send;
      STEELYARD_MPI(send(buffer.data(), bytes, MPI_BYTE, 1, 1, comm));
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

TEST_CASE("long messages take longer than short ones, however they are timed") {
  if (session().size() < 2) return;
  constexpr int large = 1 << 20;
  MessageExchange exchange(session().comm(), large);
  CHECK(eventually([&] { return exchange.ping_pong_s(large, 8) > exchange.ping_pong_s(8, 8); }));
  CHECK(eventually([&] { return exchange.send_overhead_s(large, 8) > exchange.send_overhead_s(8, 8); }));
  CHECK(eventually([&] { return exchange.gap_s(large, 8) > exchange.gap_s(8, 8); }));
  CHECK(eventually([&] {
    const std::vector<double> longer = exchange.ring_s(large, 9), shorter = exchange.ring_s(8, 9);
    return *std::min_element(longer.begin(), longer.end()) > *std::min_element(shorter.begin(), shorter.end());
  }));
}

TEST_CASE("an empty synchronous message waits for a late receiver, one up to the eager limit and none above does not") {
  if (session().size() < 2) return;
  CHECK_FALSE(returns_before_receiver(0, Mode::synchronous, 10));
  constexpr int largest = 1 << 17;
  MessageExchange exchange(session().comm(), largest);
  // The answer takes time.
  CHECK(eventually([&] { return exchange.ping_pong_s(0, 50, true) > exchange.ping_pong_s(0, 50); }, 20));
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
  CHECK(eventually([&] { return MessageExchange(session().comm(), small).eager_limit() == small; }));
}

}  // namespace steelyard::test_messages
