#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace steelyard {

/// Which ranks share memory.
struct Nodes {
  int rank_on_node = 0;
  int ranks_on_node = 1;
  std::vector<int> node_of_rank;   ///< node number of every rank; nodes are numbered by their lowest rank
  std::vector<std::string> hosts;  ///< host name of every node

  int count() const { return static_cast<int>(hosts.size()); }
};

/// Collective. @throws MpiError
Nodes find_nodes(MPI_Comm comm, const std::string& host_name);

}  // namespace steelyard
