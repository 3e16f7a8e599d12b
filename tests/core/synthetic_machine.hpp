#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "core/machine.hpp"

namespace steelyard::tests {

/// A machine that is not there, by hwloc's description of its shape. Binding to its cores does nothing.
class SyntheticMachine {
 public:
  /// With this many cores of one hardware thread each.
  explicit SyntheticMachine(int cores) : SyntheticMachine("core:" + std::to_string(cores) + " pu:1") {}
  explicit SyntheticMachine(const std::string& shape) {
    ::setenv("HWLOC_SYNTHETIC", shape.c_str(), 1);
    machine_.emplace();
    ::unsetenv("HWLOC_SYNTHETIC");
  }
  const Machine& operator*() const { return *machine_; }
  const Machine* operator->() const { return &*machine_; }

 private:
  std::optional<Machine> machine_;
};

}  // namespace steelyard::tests
