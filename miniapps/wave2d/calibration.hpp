#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/base/run_record.hpp"
#include "core/co_execution.hpp"
#include "core/measurable_kernel.hpp"

namespace steelyard::wave2d {

/// How the rows are balanced.
enum class Balancing {
  model,    ///< by the speed models, with an algorithm of `--partition`; nothing is tried out
  binary,   ///< as 003 does it: in a rank by binary search until the units' kernels take equally long, between ranks
            ///< once by their throughput (sections 4.1.1 and 4.1.2)
  ternary,  ///< as 003 proposes: in a rank by ternary search for the shortest pass, between ranks by throughput again
            ///< and again (section 8.2)
  dynamic,  ///< from the even distribution on, by the times of the run's own passes, moving rows between units and
            ///< ranks when that pays (000, section 6.1.5)
};

/// `model`, `binary`, `ternary`, `dynamic`.
const std::vector<std::string>& balancing_names();
/// @throws InvalidArgument naming the choices
Balancing parse_balancing(const std::string& name);

/// What a calibration came to.
struct Calibration {
  std::vector<std::int64_t> rows;  ///< of every slot
  std::vector<double> pass_s;      ///< kernel seconds of every slot for a pass, as measured last
  int measurements = 0;            ///< of all ranks together at some distribution of the rows among them
  std::string reason;              ///< why it ended
};

/// Finds the rows of every slot by trying out passes of the kernel on all units of all ranks at once, by
/// Balancing::binary or ternary. Collective; every rank gets the same. Prints what was chosen and what it cost, and
/// keeps that as `calibration_time_s`.
/// @throws CollectiveError where memory is short, or a rank's units cannot have a row each
Calibration calibrate(const Session& session, CoExecution& co_execution, const MeasurableKernel& kernel,
                      std::int64_t rows, const std::vector<Slot>& slots, Balancing balancing, RunRecord& record);

}  // namespace steelyard::wave2d
