#pragma once

#include <string>

#include "models/communication/platform.hpp"

namespace steelyard::models {

/// Cluster to be described for SimGrid.
struct SimgridCluster {
  int nodes = 1;
  int cores = 1;  ///< of a node
  double flops_per_s = 1e9;
};

/// A platform as XML for SimGrid (version 4.1 of its format), to run programs under SMPI on machines that are not
/// there: nodes `node-0`, `node-1`, … of a cluster, each with a loopback and a link of its own, which the messages that
/// it sends and receives share where two of tau-Lop's measured transfers, one each way, were not much faster than one
/// after the other. No limit is put on a loopback's messages at once.
///
/// A message of m bytes in Hockney's segment i takes l f_i + m / (b g_i), where l is the first segment's latency, half
/// of which belongs to each of two links, and b the last one's bandwidth. Factors are SMPI's, one list for the whole
/// platform: those of the network or, for a single node, of shared memory; in a cluster the loopback has shared
/// memory's l and b alone.
/// Source: SimGrid's manual, the XML reference of `cluster` and SMPI's options `smpi/lat-factor` and `smpi/bw-factor`.
/// @throws InvalidArgument where there is no channel inside nodes, for several nodes none between them, or where it has
/// no Hockney parameters or latencies of 0 before others, and unless all numbers of the cluster are positive
std::string simgrid_platform(const Platform& platform, const SimgridCluster& cluster);

}  // namespace steelyard::models
