#pragma once

#include <optional>
#include <string>

#include "core/machine.hpp"

namespace steelyard {

/// Choice of a rank's processing units: the host's cores, a companion, or both.
struct UnitChoice {
  bool has_host = true;
  int devices = 0;  ///< of the companion; 0: no companion

  bool has_companion() const { return devices > 0; }
  bool operator==(const UnitChoice&) const = default;
  static const UnitChoice host, device, host_and_device;
};
inline constexpr UnitChoice UnitChoice::host{true, 0}, UnitChoice::device{false, 1},
    UnitChoice::host_and_device{true, 1};

/// `host`, `device`, `host+device`, or with a number of devices, such as `host+2device`.
/// @throws InvalidArgument naming the choices
UnitChoice parse_unit_choice(const std::string& text);
std::string format_unit_choice(UnitChoice choice);

/// Executes one kernel at a time: cores driven through the host execution space, or the companion with its core. A
/// companion may be several GPUs that execute one kernel together. Source: 000, sections 3.2 and 4.2.2.
struct ProcessingUnit {
  enum class Kind { host, companion };
  Kind kind = Kind::host;
  std::string space;       ///< name of the Kokkos execution space, and a device's model: Cuda (NVIDIA H200)
  CoreList cores;          ///< host: one thread each; companion: the core of its driver thread
  int device = -1;         ///< number of the GPU, or of the first of several; -1 for none
  double slowdown = 1.0;   ///< > 1 emulates a slower unit: it waits after each kernel
  int device_sharers = 1;  ///< ranks of the node that drive this GPU
  int devices = 1;         ///< GPUs that are a companion together

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
