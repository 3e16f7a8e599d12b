#pragma once

#include <array>
#include <cstdint>

#include "core/co_execution.hpp"
#include "core/machine.hpp"
#include "core/processing_unit.hpp"

namespace steelyard {

/// Highest rates of a unit, measured: yardsticks of its kernels.
struct UnitRates {
  std::array<double, 4> stream_bytes_per_s{};  ///< STREAM's copy, scale, add and triad
  double gemm_double_flops_per_s = 0.0;
  double gemm_float_flops_per_s = 0.0;
  double to_device_bytes_per_s = 0.0;  ///< from pinned host memory; 0 for a unit that works there
  double to_host_bytes_per_s = 0.0;
};

/// Doubles in each of STREAM's arrays: four times the last cache, as STREAM's rules demand, but at most 256 MiB; 256
/// MiB on a device. @param memory_bytes of the unit, of which all three take a quarter at most
std::int64_t stream_elements(const Machine& machine, ProcessingUnit::Kind kind, double memory_bytes);

/// Measures a unit on the calling thread, its own: the fastest of a few runs each. GEMM is C = A B of square matrices
/// up to a size that takes some hundredths of a second, or a quarter of the unit's memory; copies are of 64 MiB, or a
/// quarter. A slowed-down unit's rates are those that it has. @throws RuntimeFailure from a device
UnitRates measure_unit_rates(ProcessingUnit::Kind kind, std::int64_t elements, double memory_bytes);

/// Seconds of `work` on the calling thread, a unit's own, with what a slowdown adds to them; `work` fences.
double unit_seconds(const CoExecution::Work& work);

}  // namespace steelyard
