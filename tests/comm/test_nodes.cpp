#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "comm/collective.hpp"
#include "comm/session.hpp"
#include "tests/comm/split_comm.hpp"
#include "tests/comm/started_session.hpp"

namespace steelyard::test_nodes {

using steelyard::tests::session;
using steelyard::tests::SplitComm;

namespace {

/// What holds for the nodes of any communicator, seen from one of its ranks.
void check_consistent(const Nodes& nodes, int rank, int size, const std::string& host_name) {
  CHECK(nodes.node_of_rank.size() == static_cast<std::size_t>(size));
  if (nodes.node_of_rank.size() != static_cast<std::size_t>(size)) return;
  const auto begin = nodes.node_of_rank.begin();
  const int mine = begin[rank];
  CHECK(nodes.ranks_on_node == std::count(begin, nodes.node_of_rank.end(), mine));
  CHECK(nodes.rank_on_node == std::count(begin, begin + rank, mine));
  int next = 0;
  for (const int node : nodes.node_of_rank) {
    CHECK(node <= next);  // numbered by their lowest rank, none left out
    next = std::max(next, node + 1);
  }
  CHECK(nodes.count() == next);
  CHECK(nodes.hosts[static_cast<std::size_t>(mine)] == host_name);
}

}  // namespace

TEST_CASE("every rank is on one node, counted there by rank") {
  const std::string name = session().machine().host_name();
  const Nodes nodes = find_nodes(session().comm(), name);
  check_consistent(nodes, session().rank(), session().size(), name);
  check_consistent(session().nodes(), session().rank(), session().size(), name);
}

TEST_CASE("all ranks see the same nodes") {
  std::string seen;
  for (const int node : session().nodes().node_of_rank) seen += std::to_string(node) + " ";
  for (const std::string& host : session().nodes().hosts) seen += host + " ";
  for (const std::string& text : all_gather_text(session().comm(), seen)) CHECK(text == seen);
}

TEST_CASE("ranks of one host are on one node") {
  const std::string name = session().machine().host_name();
  const auto names = all_gather_text(session().comm(), name);
  if (std::count(names.begin(), names.end(), name) != session().size()) SKIP("ranks on several hosts");
  CHECK(session().nodes().count() == 1);
  CHECK(session().nodes().ranks_on_node == session().size());
  CHECK(session().nodes().rank_on_node == session().rank());
  // Shared memory makes a node, not its name; it goes by the name that its lowest rank gave.
  const Nodes nodes = find_nodes(session().comm(), "rank" + std::to_string(session().rank()));
  CHECK(nodes.hosts == std::vector<std::string>{"rank0"});
}

TEST_CASE("nodes are those of the communicator, in its order") {
  const std::string name = session().machine().host_name();
  const SplitComm backward(session().comm(), 0, -session().rank());
  check_consistent(find_nodes(backward.comm(), name), backward.rank(), backward.size(), name);
  const SplitComm half(session().comm(), session().rank() % 2, session().rank());
  check_consistent(find_nodes(half.comm(), name), half.rank(), half.size(), name);
}

}  // namespace steelyard::test_nodes
