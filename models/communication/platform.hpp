#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "models/communication/channel_models.hpp"

namespace steelyard::models {

/// A communication path with its own cost, and the measured parameters of the models that describe it.
struct Channel {
  enum class Scope {
    node,     ///< between processes of a node: shared memory
    network,  ///< between processes of different nodes
    device,   ///< between the memories of a host and a device
  };
  int id = 0;
  std::string name;
  Scope scope = Scope::node;
  std::vector<int> path;                ///< channels whose transfer times a message adds up (001, equations 1-3)
  std::vector<std::string> between;     ///< kinds of the two nodes that it joins, maybe the same; empty: any
  std::vector<HockneySegment> hockney;  ///< by growing up_to_bytes; empty without Hockney parameters
  std::optional<LogGP> loggp;
  std::optional<TauLopTables> tau_lop;
  double error = 0.0;  ///< half width of the 90 % interval of a message's time in one more round, as a share of it,
                       ///< typical of all sizes; 0 where it was not measured

  /// Hockney's seconds of a message, by the first segment that holds `bytes`.
  /// @throws InvalidArgument without Hockney parameters for that size, and for a negative one
  double time_s(double bytes) const;
};

/// A node of a platform.
struct PlatformNode {
  std::string host;
  std::string kind;  ///< nodes of one kind have channels of the same cost
  int cores = 0;
  double memory_bytes_per_s = 0.0;  ///< that these cores reach together, see GroupBandwidth; 0 where it is unknown
  bool operator==(const PlatformNode&) const = default;
};

/// Measured communication parameters of a machine.
struct Platform {
  std::string path;    ///< the file, for messages; empty where there is none
  std::string commit;  ///< of the program that measured it
  std::string mpi;     ///< library and version
  std::string note;    ///< why its times may mislead; empty where no reason is known
  std::vector<Channel> channels;
  std::vector<PlatformNode> nodes;

  /// The largest of all channels.
  double error() const;
  /// Bandwidth of the node with the slowest memory; 0 where none is known.
  double memory_bytes_per_s() const;
  /// @throws InvalidArgument naming the ids that there are
  const Channel& channel(int id) const;
  /// Whether a message between devices takes less time out of their own memory than staged in host memory, by Hockney's
  /// times of the channels `device to device, direct` and `…, staged`; nothing where one of them was not measured.
  std::optional<bool> is_faster_direct(double bytes) const;
};

/// Reads a `*.platform.json` file, schema steelyard.platform/1. Only `schema`, `channels` and of each channel `id` and
/// `path` have to be there (without `scope`, channel 0 is inside nodes and the others are networks).
/// @throws FileFormatError naming file, key and what was expected, also for a path through a channel that is not there,
/// or that has no tau-Lop parameters where the channel itself has them
Platform read_platform_file(const std::filesystem::path& path);

/// Writes one; what is read back is the same, bit for bit (in names, bytes that are not UTF-8 become U+FFFD). What is
/// empty or not there is left out, except names, scopes and nodes.
/// @throws InvalidArgument naming key and value of a platform that could not be read back; nothing is written then
/// @throws RuntimeFailure when the file cannot be written
void write_platform_file(const std::filesystem::path& path, const Platform& platform);

/// The JSON of such a file on one line.
std::string format_platform(const Platform& platform);

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
