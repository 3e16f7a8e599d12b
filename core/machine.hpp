#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct hwloc_topology;

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

  /// @throws RuntimeFailure when hwloc cannot read the topology
  Machine();

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
  /// Cores nearest to the device of this PCI address; all where it is not known.
  CoreList cores_near(const std::string& pci_bus) const;

  /// @throws InvalidArgument for a core that the machine does not have
  void require_cores(const CoreList& cores) const;
  /// Binds the calling thread. @throws InvalidArgument for cores that are not there, RuntimeFailure when refused
  void bind_this_thread(const CoreList& cores) const;

 private:
  std::unique_ptr<hwloc_topology, void (*)(hwloc_topology*)> topology_;
};

/// Seconds that all cores together have worked since the system started, for any process or, of a virtual machine, for
/// others of its kind; NaN where the system does not say.
double busy_core_seconds();

}  // namespace steelyard
