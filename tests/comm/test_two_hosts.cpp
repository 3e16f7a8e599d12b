// What holds only where tests/two_hosts started the ranks, and has to be asked for by tag.

#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/timing.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/core/affinity.hpp"

namespace steelyard::test_two_hosts {

using namespace steelyard::tests;

namespace {

/// The first rank that shares this one's node, or does not, and has the same place among its node's ranks or the next;
/// each is the other's partner.
int partner(bool same_node) {
  const Nodes& nodes = session().nodes();
  const int node = nodes.node_of_rank[static_cast<std::size_t>(session().rank())];
  const int place = same_node ? nodes.rank_on_node ^ 1 : nodes.rank_on_node;
  int passed = 0;
  for (int rank = 0; rank < session().size(); ++rank) {
    if ((nodes.node_of_rank[static_cast<std::size_t>(rank)] == node) == same_node && passed++ == place) return rank;
  }
  return MPI_PROC_NULL;
}

/// Bytes of a message, none like those of another rank's or of the same message shifted by a page or a packet.
std::vector<unsigned> numbers_of(int rank, std::size_t count) {
  std::vector<unsigned> numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<unsigned>(rank) << 24U);
  return numbers;
}

/// There and back again, by both partners: seconds of the one who begins, for the other may be late.
double round_trip_s(int other, int bytes) {
  std::vector<char> buffer(static_cast<std::size_t>(bytes) + 1);
  const MPI_Comm comm = session().comm();
  const auto send = [&] { STEELYARD_MPI(MPI_Send(buffer.data(), bytes, MPI_BYTE, other, 7, comm)); };
  const auto receive = [&] {
    STEELYARD_MPI(MPI_Recv(buffer.data(), bytes, MPI_BYTE, other, 7, comm, MPI_STATUS_IGNORE));
  };
  double seconds = 0.0;
  if (session().rank() < other) {
    const double start_s = now_s();
    send();
    receive();
    seconds = now_s() - start_s;
    STEELYARD_MPI(MPI_Send(&seconds, 1, MPI_DOUBLE, other, 8, comm));
  } else {
    receive();
    send();
    STEELYARD_MPI(MPI_Recv(&seconds, 1, MPI_DOUBLE, other, 8, comm, MPI_STATUS_IGNORE));
  }
  return seconds;
}

}  // namespace

TEST_CASE("two hosts are two nodes of different names with half of the ranks each", "[.two_hosts]") {
  const Nodes& nodes = session().nodes();
  CHECK(nodes.count() == 2);
  CHECK(std::set<std::string>(nodes.hosts.begin(), nodes.hosts.end()).size() == 2);
  CHECK(2 * nodes.ranks_on_node == session().size());
  CHECK(2 * std::count(nodes.node_of_rank.begin(), nodes.node_of_rank.end(), 0) == session().size());
}

TEST_CASE("large messages between two hosts arrive intact, all ways at once", "[.two_hosts]") {
  const int other = partner(false);
  const std::size_t count = (std::size_t{4} << 20U) / sizeof(unsigned);
  const std::vector<unsigned> sent = numbers_of(session().rank(), count);
  for (int round = 0; round < 3; ++round) {
    std::vector<unsigned> received(count);
    STEELYARD_MPI(MPI_Sendrecv(sent.data(), static_cast<int>(count), MPI_UNSIGNED, other, round, received.data(),
                               static_cast<int>(count), MPI_UNSIGNED, other, round, session().comm(),
                               MPI_STATUS_IGNORE));
    CHECK((received == numbers_of(other, count)));  // not to be printed
  }
}

TEST_CASE("ranks that bind themselves stay on their host's cores", "[.two_hosts]") {
  const Cpus mine = cpus_of_process(0);
  const Cpus host = cpus_of_process(::getppid());  // MPI's daemon, which is where tests/two_hosts put it
  CHECK_FALSE(mine.empty());
  CHECK(std::includes(host.begin(), host.end(), mine.begin(), mine.end()));
}

TEST_CASE("no round trip over a cable of 20 ms takes less than 40 ms", "[.delay_20ms]") {
  for (const int bytes : {0, 8192}) CHECK(round_trip_s(partner(false), bytes) >= 0.04);
}

TEST_CASE("no message over a cable of 100 Mbit/s is faster than the cable, unlike one within a host",
          "[.rate_100mbit]") {
  constexpr int bytes = 1 << 20;
  const double burst_bytes = 72 << 10;  // what the cable lets through at once after a rest
  const double least_s = (bytes - burst_bytes) * 8.0 / 100e6;
  CHECK(round_trip_s(partner(false), bytes) >= 2.0 * least_s);
  const int near = partner(true);
  if (near != MPI_PROC_NULL) CHECK(round_trip_s(near, bytes) < 2.0 * least_s);
}

}  // namespace steelyard::test_two_hosts
