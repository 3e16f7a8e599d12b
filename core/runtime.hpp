#pragma once

#include <string>

#include "core/machine.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// `4.5.01`, of the Kokkos that the suite was compiled with.
std::string kokkos_version();

/// Kokkos for the length of a scope, with one host thread per core of the host unit, each bound to its own core.
/// The calling thread is bound to the first core of the host unit, or to the companion's where there is no host unit.
class Runtime {
 public:
  /// @throws InvalidArgument for cores that the machine does not have, RuntimeFailure when binding is refused
  Runtime(const Machine& machine, const RankUnits& units);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  /// False where the operating system refused to bind; results then say so.
  bool bound() const { return bound_; }

 private:
  bool bound_ = true;
};

}  // namespace steelyard
