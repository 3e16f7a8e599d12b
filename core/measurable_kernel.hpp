#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>

#include "core/processing_unit.hpp"

namespace CLI {
class App;
}

namespace steelyard {

/// A kernel with its data on one processing unit.
class KernelRun {
 public:
  virtual ~KernelRun() = default;
  /// Runs the kernel once and fences; called on the unit's own thread.
  virtual void run() = 0;
};

/// What is known of a kernel without running it.
struct KernelFacts {
  std::string app;
  std::string kernel;
  std::string element;                       ///< double or float
  std::string computation_unit;              ///< what one unit of work is, in words
  std::map<std::string, double> parameters;  ///< what fixes the size of a computation unit, such as `columns`
  double flops_per_unit = 0.0;
  double bytes_per_unit = 0.0;         ///< memory traffic
  double memory_bytes_per_unit = 0.0;  ///< what an instance takes in the unit's own memory …
  double memory_bytes_fixed = 0.0;     ///< … besides this
  bool runs_out_of_core = false;  ///< on a companion, sizes that its memory does not hold run too, from host memory
  double device_memory_bytes = std::numeric_limits<double>::infinity();  ///< of the companion's memory at most
  std::int64_t smallest = 1;  ///< range of sizes that is worth measuring where the user names none
  std::int64_t largest = 1;
};

/// A mini-app's kernel, offered for measurement: what `steelyard measure APP` needs to know of it.
/// Source: 000, section 6.1.2 (fupermod_kernel).
class MeasurableKernel {
 public:
  virtual ~MeasurableKernel() = default;

  /// The program's name, and what its kernel does, in one line.
  virtual std::string app() const = 0;
  virtual std::string description() const = 0;
  /// Options of the program that fix what a computation unit is.
  virtual void add_options(CLI::App&) {}
  /// @throws InvalidArgument for options that make no sense
  virtual KernelFacts facts() const = 0;
  /// An instance of `units` computation units on a unit of this kind, in the unit's memory and touched by its own
  /// threads, which call this.
  virtual std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const = 0;
};

}  // namespace steelyard
