#pragma once

#include <optional>
#include <string>

#include "core/machine.hpp"

namespace steelyard {

/// Which processing units a rank drives.
enum class UnitChoice { host, device, host_and_device };

/// `host`, `device`, `host+device`. @throws InvalidArgument naming the choices
UnitChoice parse_unit_choice(const std::string& text);
std::string format_unit_choice(UnitChoice choice);

/// Executes one kernel at a time: cores driven through the host execution space, or the companion with its core.
struct ProcessingUnit {
  enum class Kind { host, companion };
  Kind kind = Kind::host;
  std::string space;       ///< name of the Kokkos execution space
  CoreList cores;          ///< host: one thread each; companion: the core of its driver thread
  int device = -1;         ///< number of the GPU; -1 for none
  double slowdown = 1.0;   ///< > 1 emulates a slower unit: it waits after each kernel
  int device_sharers = 1;  ///< ranks of the node that drive this GPU

  bool emulated() const { return slowdown > 1.0; }
  /// `host` or `device`
  std::string name() const { return kind == Kind::host ? "host" : "device"; }
};

/// The place of a rank's unit in an array that has one for each: the host unit's first.
inline std::size_t unit_index(ProcessingUnit::Kind kind) { return kind == ProcessingUnit::Kind::host ? 0 : 1; }

/// A value for each of a rank's units; that of a unit which the rank does not drive is not used.
template <class Value>
struct PerUnit {
  Value host{};
  Value companion{};

  Value& operator[](ProcessingUnit::Kind kind) { return kind == ProcessingUnit::Kind::host ? host : companion; }
  const Value& operator[](ProcessingUnit::Kind kind) const {
    return kind == ProcessingUnit::Kind::host ? host : companion;
  }
};

/// The units of one rank: at least one of the two.
struct RankUnits {
  std::optional<ProcessingUnit> host;
  std::optional<ProcessingUnit> companion;
  std::string cores_from;       ///< who chose the cores: layout, launcher or even share
  std::string note;             ///< a line for the user on cores that are not as asked for; empty where all are
  bool oversubscribed = false;  ///< some core serves two threads
  bool bound = true;            ///< threads stay on their cores; false where the operating system refused to bind them

  int count() const { return (host ? 1 : 0) + (companion ? 1 : 0); }
  const std::optional<ProcessingUnit>& unit(ProcessingUnit::Kind kind) const {
    return kind == ProcessingUnit::Kind::host ? host : companion;
  }
  /// Whether a waiting thread may keep its core busy: no other thread works there.
  bool may_spin() const { return !oversubscribed; }
};

}  // namespace steelyard
