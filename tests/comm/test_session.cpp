#include <unistd.h>

#include <set>

#include "comm/collective.hpp"
#include "comm/session.hpp"
#include "core/timing.hpp"
#include "tests/catch.hpp"
#include "tests/comm/shared_units.hpp"
#include "tests/core/affinity.hpp"

namespace steelyard::test_session {

using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

/// Units of a rank by the bits of a number: 1 for the host, 2 for the companion.
RankUnits units_of(int bits) {
  RankUnits units;
  if ((bits & 1) != 0) units.host = ProcessingUnit{Kind::host, "Host", {0, 1, 5}, -1, 1.0 + bits};
  if ((bits & 2) != 0) units.companion = ProcessingUnit{Kind::companion, "Companion", {bits}, -1, 2.0 * bits};
  return units;
}

/// What holds for the nodes of any communicator.
void check_nodes(MPI_Comm comm, const Nodes& nodes) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  CHECK(nodes.node_of_rank.size() == static_cast<std::size_t>(size));
  if (nodes.node_of_rank.size() != static_cast<std::size_t>(size)) return;
  const auto begin = nodes.node_of_rank.begin();
  CHECK(nodes.ranks_on_node == std::count(begin, nodes.node_of_rank.end(), begin[rank]));
  CHECK(nodes.rank_on_node == std::count(begin, begin + rank, begin[rank]));
  int next = 0;
  for (const int node : nodes.node_of_rank) {
    CHECK(node <= next);  // numbered by their lowest rank, none left out
    next = std::max(next, node + 1);
  }
  CHECK(nodes.count() == next);
  CHECK(nodes.hosts[static_cast<std::size_t>(begin[rank])] == session().machine().host_name());
  std::string seen;
  for (const int node : nodes.node_of_rank) seen += std::to_string(node) + " ";
  for (const std::string& host : nodes.hosts) seen += host + " ";
  for (const std::string& text : all_gather_text(comm, seen)) CHECK(text == seen);
}

/// Both of two ranks on different hosts send and receive a message. Seconds until all have come and all ranks know.
double exchange_s(int bytes) {
  const int partner = (session().rank() + session().size() / 2) % session().size();
  const std::vector<char> sent(static_cast<std::size_t>(bytes) + 1);
  std::vector<char> received(sent.size());
  STEELYARD_MPI(MPI_Barrier(session().comm()));
  const double start_s = now_s();
  STEELYARD_MPI(MPI_Sendrecv(sent.data(), bytes, MPI_CHAR, partner, 7, received.data(), bytes, MPI_CHAR, partner, 7,
                             session().comm(), MPI_STATUS_IGNORE));
  STEELYARD_MPI(MPI_Barrier(session().comm()));
  return now_s() - start_s;
}

}  // namespace

TEST_CASE("nodes are those of the communicator, in its order, and the same to all of its ranks") {
  const std::string name = session().machine().host_name();
  check_nodes(session().comm(), session().nodes());
  const SplitComm backward(0, -session().rank()), half(session().rank() % 2, session().rank());
  for (const MPI_Comm comm : {backward.comm(), half.comm()}) check_nodes(comm, find_nodes(comm, name));
  const auto names = all_gather_text(session().comm(), name);
  if (std::count(names.begin(), names.end(), name) != session().size()) return;
  CHECK(session().nodes().count() == 1);
  // Shared memory makes a node, not its name; it goes by the name that its lowest rank gave.
  const Nodes nodes = find_nodes(session().comm(), "rank" + std::to_string(session().rank()));
  CHECK(nodes.hosts == std::vector<std::string>{"rank0"});
}

TEST_CASE("ranks plan disjoint shares of all cores, or say that they share them") {
  RunOptions options;
  options.units = UnitChoice::host;
  const RankUnits units = session().plan_units(options);
  CHECK(units.host.has_value());
  CHECK_FALSE(units.companion.has_value());
  if (!units.host || session().nodes().count() > 1) return;
  const CoreList cores = session().machine().cores();
  const bool enough = session().size() <= static_cast<int>(cores.size());
  CHECK(units.oversubscribed == !enough);
  std::multiset<int> used;
  for (const std::string& text : all_gather_text(session().comm(), format_cores(units.host->cores))) {
    for (const int core : parse_cores(text)) used.insert(core);
  }
  CHECK(std::set<int>(used.begin(), used.end()) == std::set<int>(cores.begin(), cores.end()));
  CHECK((used.size() == cores.size()) == enough);
}

TEST_CASE("slots and described units are by rank, the host first, whatever each rank drives") {
  for (int shift = 0; shift < 3; ++shift) {
    const auto bits_of = [&](int rank) { return 1 + (rank + shift) % 3; };
    const RankUnits mine = units_of(bits_of(session().rank()));
    std::vector<std::pair<int, ProcessingUnit>> expected;
    for (int rank = 0; rank < session().size(); ++rank) {
      const RankUnits units = units_of(bits_of(rank));
      if (units.host) expected.emplace_back(rank, *units.host);
      if (units.companion) expected.emplace_back(rank, *units.companion);
    }
    const std::vector<Slot> slots = gather_slots(session(), mine);
    const std::vector<UnitRecord> records = describe_run(session(), "app", {}, mine).units;
    CHECK((slots.size() == expected.size() && records.size() == expected.size()));
    for (std::size_t i = 0; i < std::min({slots.size(), records.size(), expected.size()}); ++i) {
      const auto& [rank, unit] = expected[i];
      CHECK(slots[i].rank == rank);
      CHECK(slots[i].kind == unit.kind);
      CHECK(records[i].rank == rank);
      CHECK(records[i].kind == unit.name());
      CHECK(records[i].space == unit.space);
      CHECK(records[i].cores == format_cores(unit.cores));
      CHECK(records[i].slowdown == unit.slowdown);
    }
  }
}

TEST_CASE("cores that one rank shares, or threads that it cannot bind, are said of the whole run") {
  for (int rank = -1; rank < session().size(); ++rank) {
    for (const bool shares : {true, false}) {
      RankUnits units = units_of(3);
      units.bound = true;
      if (session().rank() == rank) (shares ? units.oversubscribed : units.bound) = shares;
      const bool shared = shares && rank >= 0, loose = !shares && rank >= 0;
      const std::string cores = describe_run(session(), "app", {}, units).settings.at("cores");
      CHECK(cores.ends_with(", oversubscribed") == shared);
      CHECK(cores.ends_with(", unbound") == loose);
    }
  }
}

// What holds only where tests/two_hosts started the ranks, and has to be asked for by tag.

TEST_CASE("two hosts are two nodes with half of the ranks each, which stay on their host's cores", "[.two_hosts]") {
  const Nodes& nodes = session().nodes();
  CHECK(std::set<std::string>(nodes.hosts.begin(), nodes.hosts.end()).size() == 2);
  CHECK(2 * nodes.ranks_on_node == session().size());
  const Cpus mine = cpus_of_process(0);
  const Cpus host = cpus_of_process(::getppid());  // MPI's daemon, which is where tests/two_hosts put it
  CHECK_FALSE(mine.empty());
  CHECK(std::includes(host.begin(), host.end(), mine.begin(), mine.end()));
}

TEST_CASE("no message over a cable of 20 ms and the news that it came take less than 40 ms", "[.delay_20ms]") {
  for (const int bytes : {0, 8192}) CHECK(exchange_s(bytes) >= 0.04);
}

TEST_CASE("no message over a cable of 100 Mbit/s is faster than the cable", "[.rate_100mbit]") {
  const double burst_bytes = 72 << 10;  // what the cable lets through at once after a rest
  CHECK(exchange_s(1 << 20) >= ((1 << 20) - burst_bytes) * 8.0 / 100e6);
}

}  // namespace steelyard::test_session
