// What holds only where tests/two_hosts started the ranks, and has to be asked for by tag.

#include <unistd.h>

#include <numeric>
#include <set>

#include "comm/mpi_check.hpp"
#include "core/timing.hpp"
#include "tests/catch.hpp"
#include "tests/comm/started_session.hpp"
#include "tests/core/affinity.hpp"

namespace steelyard::test_two_hosts {

using namespace steelyard::tests;

namespace {

/// The rank on the other host that has the same place among its node's ranks; each is the other's partner.
int partner() {
  const Nodes& nodes = session().nodes();
  const auto mine = nodes.node_of_rank.begin() + session().rank();
  int passed = 0;
  for (int rank = 0; rank < session().size(); ++rank) {
    const int node = nodes.node_of_rank[static_cast<std::size_t>(rank)];
    if (node != *mine && passed++ == nodes.rank_on_node) return rank;
  }
  return MPI_PROC_NULL;
}

/// Both partners send and receive a message. Seconds until all have come and all ranks know.
double exchange_s(const std::vector<unsigned>& sent, std::vector<unsigned>& received) {
  const int count = static_cast<int>(sent.size());
  STEELYARD_MPI(MPI_Barrier(session().comm()));
  const double start_s = now_s();
  STEELYARD_MPI(MPI_Sendrecv(sent.data(), count, MPI_UNSIGNED, partner(), 7, received.data(), count, MPI_UNSIGNED,
                             partner(), 7, session().comm(), MPI_STATUS_IGNORE));
  STEELYARD_MPI(MPI_Barrier(session().comm()));
  return now_s() - start_s;
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
  // None like those of another rank or of the same message shifted by a page or a packet.
  const auto numbers_of = [&](int rank) {
    std::vector<unsigned> numbers((std::size_t{4} << 20U) / sizeof(unsigned));
    std::iota(numbers.begin(), numbers.end(), static_cast<unsigned>(rank) << 24U);
    return numbers;
  };
  const std::vector<unsigned> sent = numbers_of(session().rank()), expected = numbers_of(partner());
  for (int round = 0; round < 3; ++round) {
    std::vector<unsigned> received(sent.size());
    exchange_s(sent, received);
    CHECK((received == expected));
  }
}

TEST_CASE("ranks that bind themselves stay on their host's cores", "[.two_hosts]") {
  const Cpus mine = cpus_of_process(0);
  const Cpus host = cpus_of_process(::getppid());  // MPI's daemon, which is where tests/two_hosts put it
  CHECK_FALSE(mine.empty());
  CHECK(std::includes(host.begin(), host.end(), mine.begin(), mine.end()));
}

TEST_CASE("no message over a cable of 20 ms and the news that it came take less than 40 ms", "[.delay_20ms]") {
  for (const std::size_t count : {0, 2048}) {
    std::vector<unsigned> sent(count), received(count);
    CHECK(exchange_s(sent, received) >= 0.04);
  }
}

TEST_CASE("no message over a cable of 100 Mbit/s is faster than the cable", "[.rate_100mbit]") {
  std::vector<unsigned> sent((std::size_t{1} << 20U) / sizeof(unsigned)), received(sent.size());
  const double burst_bytes = 72 << 10;  // what the cable lets through at once after a rest
  CHECK(exchange_s(sent, received) >= ((1 << 20) - burst_bytes) * 8.0 / 100e6);
}

}  // namespace steelyard::test_two_hosts
