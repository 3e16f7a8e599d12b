#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/base/run_record.hpp"

namespace steelyard {

/// Fills in what follows from the repetitions' seconds: the median, `confidence_s` (half width of the 95 % interval, 0
/// for a single repetition), `coefficient_of_variation`, a sample each under the record's parameters and settings, the
/// prediction, and where both are positive how far it is off (`percentage_difference`, `proportional_error`).
/// @param times_s at least one
/// @throws InvalidArgument for no times
void record_times(RunRecord& record, std::span<const double> times_s, std::optional<double> predicted_s);

/// The line `time       226 ms for 20 steps (median of 5, …)`, or `(measured once)`. @param record after record_times()
/// @param of_what words behind the time, such as `for 20 steps`, or none
std::string time_line(const RunRecord& record, const std::string& of_what);

/// The line `predicted  230 ms, difference 1.8 %, …`, without a difference where record_times() left it out; nothing
/// where nothing is predicted.
std::string predicted_line(const RunRecord& record);

}  // namespace steelyard
