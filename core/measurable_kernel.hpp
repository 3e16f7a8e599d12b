#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/processing_unit.hpp"

namespace steelyard {

/// A kernel with its data on one processing unit.
class KernelRun {
 public:
  virtual ~KernelRun() = default;
  /// Runs the kernel once and fences; called on the unit's own thread.
  virtual void run() = 0;
  /// Seconds of the last run's parts, as many as KernelFacts::parts, without what an emulated slowdown adds.
  virtual std::span<const double> parts_s() const { return {}; }
  /// Runs the kernel on the input of MeasurableKernel::reference(); called on the unit's own thread, at any time.
  /// @return all that it computes, in the reference's order
  virtual std::vector<double> check_run() = 0;
};

/// Facts about a kernel that are known without running it.
struct KernelFacts {
  std::string app;
  std::string kernel;
  std::string element;                       ///< double or float
  std::string computation_unit;              ///< what one unit of work is, in words
  std::map<std::string, double> parameters;  ///< what fixes the size of a computation unit, such as `columns`
  std::string host_blas;                     ///< library and kernels that a host unit calls; empty where it calls none
  std::vector<std::string> parts;            ///< of a run, which it times too; at most four, and they need not be all
  double flops_per_unit = 0.0;
  double bytes_per_unit = 0.0;         ///< memory traffic
  double memory_bytes_per_unit = 0.0;  ///< what an instance takes in the unit's own memory …
  double memory_bytes_fixed = 0.0;     ///< … besides this
  double copied_bytes_per_unit = 0.0;  ///< what of it each of several devices has to itself; the rest they share out
  bool runs_out_of_core = false;  ///< on a companion, sizes that its memory does not hold run too, from host memory
  double device_memory_bytes = std::numeric_limits<double>::infinity();  ///< of the companion's memory at most
  std::int64_t smallest = 1;  ///< range of sizes that is worth measuring where the user names none
  std::int64_t largest = 1;

  /// Sets the range of sizes of a kernel that sweeps over memory: from what a core's cache holds to these bytes, far
  /// more than any cache.
  void set_sizes_up_to(double largest_bytes) {
    smallest = 16;
    largest = std::max<std::int64_t>(64, static_cast<std::int64_t>(largest_bytes / memory_bytes_per_unit));
  }
};

/// How far the bits of a kernel's results are promised to be the same.
enum class SameBits {
  again,     ///< on the same unit
  any_unit,  ///< on whichever unit
};

class MeasurableKernel;

/// A row of `steelyard conformance`: a kernel whose options are these, in computation units of some shapes.
struct ConformanceCase {
  std::string options;                                          ///< as they are typed for `steelyard measure APP`
  std::vector<std::shared_ptr<const MeasurableKernel>> shapes;  ///< small ones, which the reference can follow
  std::vector<std::int64_t> sizes;                              ///< in computation units, of each shape
  double tolerance = 0.0;  ///< of a value's error, in roundings of the largest value of the reference
  SameBits same_bits = SameBits::again;
  std::shared_ptr<const MeasurableKernel> timed;  ///< of a shape that users run
};

/// A mini-app's kernel, offered for measurement and for checks: what `steelyard measure APP` and `steelyard
/// conformance` need to know of it. Source: 000, section 6.1.2 (fupermod_kernel).
class MeasurableKernel {
 public:
  virtual ~MeasurableKernel() = default;

  /// @throws InvalidArgument for options that make no sense
  virtual KernelFacts facts() const = 0;
  /// An instance of `units` computation units in the memory of a unit of this kind, whose own thread calls this.
  virtual std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const = 0;

  /// Cases to check of the app on units of this kind, whatever the options of this object.
  virtual std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const = 0;
  /// Expected result of check_run(), complex numbers as pairs: by the formula, in more than double precision.
  virtual std::vector<double> reference(std::int64_t units) const = 0;
};

}  // namespace steelyard
