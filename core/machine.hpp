#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace steelyard {

/// Cores of a machine by hwloc's logical core number, increasing.
using CoreList = std::vector<int>;

/// `0-3,6` for {0, 1, 2, 3, 6}; `none` for an empty list.
std::string format_cores(const CoreList& cores);

/// The reverse of format_cores(). @throws InvalidArgument naming `text` and what is expected
CoreList parse_cores(const std::string& text);

/// Hardware of this host, as hwloc sees it, and the binding of threads to its cores.
class Machine {
 public:
  struct Cache {
    int level = 0;
    std::int64_t bytes = 0;
    int count = 0;  ///< caches of this level
  };
  struct NumaNode {
    std::int64_t bytes = 0;
    CoreList cores;
  };
  struct Gpu {
    int number = 0;    ///< as Kokkos counts its devices
    std::string name;  ///< model
    std::string bus;   ///< PCI address; empty where unknown
    CoreList cores;    ///< cores nearest to it; all where unknown
  };

  /// @throws RuntimeFailure when hwloc cannot read the topology
  Machine();
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::string host_name() const;
  std::string processor() const;
  /// Cores that the operating system lets this process have (cgroup), whatever the launcher bound it to.
  CoreList cores() const;
  /// Cores that the calling process is bound to now.
  CoreList bound_cores() const;
  std::vector<Cache> caches() const;
  std::vector<NumaNode> numa_nodes() const;
  /// Bytes of all memory; 0 where unknown.
  double memory_bytes() const;
  /// Adds locality to GPUs whose PCI address is known.
  CoreList cores_near(const std::string& pci_bus) const;

  /// Binds the calling thread. @throws InvalidArgument for cores that are not there, RuntimeFailure when refused
  void bind_this_thread(const CoreList& cores) const;

 private:
  struct Topology;
  std::unique_ptr<Topology> topology_;
};

}  // namespace steelyard
