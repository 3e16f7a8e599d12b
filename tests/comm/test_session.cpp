#include <map>
#include <optional>
#include <set>

#include "comm/collective.hpp"
#include "comm/session.hpp"
#include "core/runtime.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"
#include "tests/comm/group_units.hpp"

namespace steelyard::test_session {

using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

RunOptions with_host_units() {
  RunOptions options;
  options.units = UnitChoice::host;
  return options;
}

/// A line for each rank of this node, each on the machine's first core.
std::string layout_text() {
  const Machine& machine = session().machine();
  std::string text;
  for (int rank = 0; rank < session().size(); ++rank) {
    text += machine.host_name() + " " + std::to_string(rank) + " " + std::to_string(machine.cores().front()) +
            " host slowdown=" + std::to_string(rank + 1) + ",threads=1\n";
  }
  return text;
}

/// Units of a rank by the bits of a number: 1 for the host, 2 for the companion.
RankUnits units_of(int bits) {
  RankUnits units;
  if ((bits & 1) != 0) units.host = ProcessingUnit{Kind::host, "Host", {0, 1, 5}, -1, 1.0 + bits};
  if ((bits & 2) != 0) units.companion = ProcessingUnit{Kind::companion, "Companion", {bits}, -1, 2.0 * bits};
  units.cores_from = "layout";
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
  const RankUnits units = session().plan_units(with_host_units());
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

TEST_CASE("each rank follows its line of the layout, and a slowdown of one rank is that rank's alone") {
  const TemporaryFolder folder;
  RunOptions options;
  options.layout = folder.write("good.layout", layout_text());
  const RankUnits units = session().plan_units(options);
  CHECK(units.cores_from == "layout");
  CHECK(units.count() == 1);
  CHECK(units.host->cores == CoreList{session().machine().cores().front()});
  CHECK(units.host->slowdown == session().nodes().rank_on_node + 1.0);
  CHECK(units.oversubscribed == (session().nodes().ranks_on_node > 1));

  options = with_host_units();
  const int last = session().size() - 1;
  options.slowdown = {"host=2", "rank" + std::to_string(last) + "=3"};
  CHECK(session().plan_units(options).host->slowdown == (session().rank() == last ? 6.0 : 2.0));
}

TEST_CASE("slots and described units are by rank, the host first, whatever each rank drives") {
  for (int shift = 0; shift < 3; ++shift) {
    const auto bits_of = [&](int rank) { return 1 + (rank + shift) % 3; };
    const RankUnits mine = units_of(bits_of(session().rank()));
    const std::vector<Slot> slots = gather_slots(session(), mine);
    const std::vector<UnitRecord> records = describe_run(session(), "app", {}, mine).units;
    CHECK(slots.size() == records.size());
    std::size_t next = 0;
    for (int rank = 0; rank < session().size(); ++rank) {
      const RankUnits units = units_of(bits_of(rank));
      for (const std::optional<ProcessingUnit>* unit : {&units.host, &units.companion}) {
        if (!*unit) continue;
        CHECK(next < std::min(slots.size(), records.size()));
        if (next >= std::min(slots.size(), records.size())) continue;
        CHECK(slots[next].rank == rank);
        CHECK(slots[next].kind == (*unit)->kind);
        const UnitRecord& record = records[next++];
        CHECK(record.rank == rank);
        CHECK(record.kind == (*unit)->name());
        CHECK(record.space == (*unit)->space);
        CHECK(record.cores == format_cores((*unit)->cores));
        CHECK(record.slowdown == (*unit)->slowdown);
      }
    }
    CHECK(next == slots.size());
  }
}

TEST_CASE("a run is described by its program, versions, hosts and options") {
  RunOptions options;
  options.seed = 12345678901234567890U;
  options.element = ElementType::float32;
  options.partition = "even";
  const RunRecord record = describe_run(session(), "wave2d", options, units_of(3));
  CHECK(record.app == "wave2d");
  CHECK(record.argv == session().arguments());
  CHECK(record.seed == options.seed);
  CHECK(record.kokkos == kokkos_version());
  CHECK(record.mpi == Session::mpi_version());
  CHECK(record.hosts == session().nodes().hosts);
  CHECK(record.processors.size() == record.hosts.size());
  CHECK(record.processors.at(0) == session().machine().processor());
  // What only some apps have is theirs to add.
  CHECK(record.params == std::map<std::string, double>{{"ranks", session().size()}});
  CHECK(record.settings.at("element") == "float");
  CHECK(record.settings.at("partition") == "even");
}

TEST_CASE("cores that one rank shares, or threads that it cannot bind, are said of the whole run") {
  for (int rank = -1; rank < session().size(); ++rank) {
    for (const bool shares : {true, false}) {
      RankUnits units = units_of(3);
      units.bound = true;
      if (session().rank() == rank) (shares ? units.oversubscribed : units.bound) = shares;
      const bool shared = shares && rank >= 0, loose = !shares && rank >= 0;
      CHECK(any_oversubscribed(session(), units) == shared);
      CHECK(any_unbound(session(), units) == loose);
      const std::string cores = describe_run(session(), "app", {}, units).settings.at("cores");
      CHECK(cores.starts_with("layout"));
      CHECK((cores.find("oversubscribed") != std::string::npos) == shared);
      CHECK((cores.find("unbound") != std::string::npos) == loose);
    }
  }
}

}  // namespace steelyard::test_session
