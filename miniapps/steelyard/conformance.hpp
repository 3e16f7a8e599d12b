#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/measurable_kernel.hpp"

namespace steelyard::tool {

/// How a case of a kernel did on one unit.
struct ConformanceResult {
  std::string app;
  std::string options;
  std::string unit;     ///< host or device
  std::string element;  ///< double or float
  double error = 0.0;   ///< the largest of a value, in roundings of the largest value of the reference
  double tolerance = 0.0;
  SameBits same_bits = SameBits::again;  ///< what is promised
  bool has_rates = false;                ///< whether the kernel was timed
  double bytes_per_s = 0.0;
  double flops_per_s = 0.0;
  std::string wrong;  ///< what differs first, and from what; empty where nothing does

  bool passed() const { return wrong.empty(); }
};

/// Compares kernels with their serial references and with themselves, and times them.
class Conformance {
 public:
  using Kernels = std::vector<std::shared_ptr<MeasurableKernel>>;
  /// Called with each case that comes next.
  using Notify = std::function<void(const std::string&)>;

  explicit Conformance(Kernels kernels, Notify notify = {})
      : kernels_(std::move(kernels)), notify_(std::move(notify)) {}

  /// Runs all cases on a unit, whose own thread calls. Every shape and size of a case is computed by two instances: the
  /// first one's values are compared with the reference, the other's with the first one's, bit by bit, and where any
  /// unit is to have the same bits, with those of the unit that was checked before. Then the kernel's users' shape is
  /// timed: the fastest of a few runs of a size that takes a hundredth of a second, or the largest that is worth
  /// measuring and takes at most `memory_bytes`. What a kernel throws counts as wrong. A kernel without cases is wrong.
  void check(ProcessingUnit::Kind kind, double memory_bytes);

  const std::vector<ConformanceResult>& results() const { return results_; }

 private:
  void check(const ConformanceCase& one, ProcessingUnit::Kind kind, double memory_bytes, ConformanceResult& result);

  Kernels kernels_;
  Notify notify_;
  std::vector<ConformanceResult> results_;
  std::map<std::string, std::vector<double>> values_;  ///< that any unit is to have, by case, shape and size
};

}  // namespace steelyard::tool
