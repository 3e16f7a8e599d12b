#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/measurable_kernel.hpp"

namespace steelyard::tool {

/// How a case of a kernel did on one unit.
struct ConformanceResult {
  std::string app;
  std::string unit;         ///< host or device
  ConformanceCase checked;  ///< without shapes for a kernel that names no case
  std::string element;      ///< double or float
  double error = 0.0;       ///< the largest of a value, in roundings of the largest value of the reference
  bool has_rates = false;   ///< whether the kernel was timed
  double bytes_per_s = 0.0;
  double flops_per_s = 0.0;
  std::string wrong;  ///< what differs first, and from what; empty where nothing does

  bool passed() const { return wrong.empty(); }
};

/// Values that any unit is to have, by case, shape and size.
using CommonValues = std::map<std::string, std::vector<double>>;

/// Compares kernels with their serial references and with themselves, and times them: all cases on a unit, whose own
/// thread calls. Every shape and size of a case is computed by two instances: the first one's values are compared with
/// the reference, the other's with the first one's, bit by bit, and where any unit is to have the same bits, with those
/// of the unit that was checked before, which are in `common`. Then the kernel's users' shape is timed: the fastest of
/// a few runs of a size that takes a hundredth of a second, or the largest that is worth measuring and takes at most
/// `memory_bytes`. What a kernel throws counts as wrong. A kernel without cases is wrong.
/// @param notify called with each case that comes next
std::vector<ConformanceResult> check_kernels(const std::vector<std::shared_ptr<MeasurableKernel>>& kernels,
                                             ProcessingUnit::Kind kind, double memory_bytes, CommonValues& common,
                                             const std::function<void(const std::string&)>& notify = {});

}  // namespace steelyard::tool
