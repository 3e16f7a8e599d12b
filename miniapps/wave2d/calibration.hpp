#pragma once

#include <cstdint>
#include <vector>

#include "core/measurable_kernel.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/wave2d/options.hpp"

namespace steelyard::wave2d {

/// What trying out has found.
struct Calibration {
  std::vector<std::int64_t> rows;  ///< of every slot
  std::vector<double> pass_s;      ///< kernel seconds of every slot for a pass, as measured last
};

/// Finds the rows of every slot by trying out passes of the kernel on all units of all ranks at once, by
/// Balancing::binary or ternary. Collective; every rank gets the same. Prints how many distributions were tried, how
/// long that took and why it ended, and keeps the seconds as `calibration_time_s`.
/// @throws CollectiveError where memory is short, or a rank's units cannot have a row each
Calibration calibrate(Frame& frame, const MeasurableKernel& kernel, std::int64_t rows, Balancing balancing);

}  // namespace steelyard::wave2d
