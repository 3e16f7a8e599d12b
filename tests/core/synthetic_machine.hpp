#pragma once

#include <cstdlib>
#include <string>

#include "core/machine.hpp"

namespace steelyard::tests {

/// hwloc's description of a machine that is not there, in force while this lives: Machine objects made then are of that
/// shape whatever this host has. Binding to their cores does nothing.
class SyntheticShape {
 public:
  explicit SyntheticShape(const std::string& shape) { ::setenv("HWLOC_SYNTHETIC", shape.c_str(), 1); }
  ~SyntheticShape() { ::unsetenv("HWLOC_SYNTHETIC"); }
  SyntheticShape(const SyntheticShape&) = delete;
  SyntheticShape& operator=(const SyntheticShape&) = delete;
};

/// A machine with this many cores of one hardware thread each.
class SyntheticMachine {
 public:
  explicit SyntheticMachine(int cores) : SyntheticMachine("core:" + std::to_string(cores) + " pu:1") {}
  explicit SyntheticMachine(const std::string& shape) : shape_(shape) {}
  const Machine& operator*() const { return machine_; }
  const Machine* operator->() const { return &machine_; }

 private:
  SyntheticShape shape_;
  Machine machine_;
};

}  // namespace steelyard::tests
