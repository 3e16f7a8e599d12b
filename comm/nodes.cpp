#include "comm/nodes.hpp"

#include <algorithm>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"

namespace steelyard {

Nodes find_nodes(MPI_Comm comm, const std::string& host_name) {
  Nodes nodes;
  int rank = 0;
  STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
  MPI_Comm node = MPI_COMM_NULL;
  STEELYARD_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  STEELYARD_MPI(MPI_Comm_rank(node, &nodes.rank_on_node));
  STEELYARD_MPI(MPI_Comm_size(node, &nodes.ranks_on_node));
  int lowest = rank;
  STEELYARD_MPI(MPI_Bcast(&lowest, 1, MPI_INT, 0, node));
  STEELYARD_MPI(MPI_Comm_free(&node));

  const std::vector<std::string> names = all_gather_text(comm, host_name);
  std::vector<int> lowest_of_rank(names.size());
  STEELYARD_MPI(MPI_Allgather(&lowest, 1, MPI_INT, lowest_of_rank.data(), 1, MPI_INT, comm));
  std::vector<int> leaders;
  for (std::size_t r = 0; r < names.size(); ++r) {
    const auto leader = std::find(leaders.begin(), leaders.end(), lowest_of_rank[r]);
    nodes.node_of_rank.push_back(static_cast<int>(leader - leaders.begin()));
    if (leader == leaders.end()) {
      leaders.push_back(lowest_of_rank[r]);
      nodes.hosts.push_back(names[r]);
    }
  }
  return nodes;
}

}  // namespace steelyard
