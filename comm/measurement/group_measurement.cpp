#include "comm/measurement/group_measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

/// A unit without work, which always takes 0 s, is as precise as can be.
bool is_precise(const std::vector<double>& seconds, const Precision& precision) {
  const double centre = mean(seconds);
  return centre <= 0.0 || confidence_half_width(seconds, precision.confidence) <= precision.relative * centre;
}

models::MeasuredPoint summarise(const std::vector<double>& seconds, double confidence) {
  const double half_width = seconds.size() > 1 ? confidence_half_width(seconds, confidence) : 0.0;
  return {0.0, mean(seconds), static_cast<int>(seconds.size()), half_width, count_outliers(seconds), {}};
}

}  // namespace

void require_precision(const Precision& precision) {
  if (!(precision.confidence > 0.0 && precision.confidence < 1.0)) {
    throw InvalidArgument(fmt::format("confidence {} (expected a level between 0 and 1)", precision.confidence));
  }
  if (!(precision.relative > 0.0 && precision.relative < 1.0)) {
    throw InvalidArgument(fmt::format("precision {} (expected a share between 0 and 1)", precision.relative));
  }
  if (precision.repetitions_min < 2 || precision.repetitions_max < precision.repetitions_min) {
    throw InvalidArgument(fmt::format("{} to {} repetitions (expected 2 <= min <= max)", precision.repetitions_min,
                                      precision.repetitions_max));
  }
  if (precision.warmups < 0) {
    throw InvalidArgument(fmt::format("{} warm-ups (expected 0, 1, …)", precision.warmups));
  }
  if (!(precision.time_limit_s > 0.0)) {
    throw InvalidArgument(fmt::format("time limit {} s (expected > 0)", precision.time_limit_s));
  }
}

GroupPoint measure_group(MPI_Comm group, const RunOnce& run, const Precision& precision, const RunCounts& counts) {
  GroupPoint point;
  std::vector<double> host;
  std::vector<double> companion;
  double start_s = now_s();
  for (int repetition = -precision.warmups; repetition < precision.repetitions_max; ++repetition) {
    if (repetition == 0) start_s = now_s();
    STEELYARD_MPI(MPI_Barrier(group));
    UnitSeconds seconds;
    std::exception_ptr error;
    try {
      seconds = run();
    } catch (...) {
      error = std::current_exception();
    }
    if (repetition < 0 && all_max(group, error ? 1.0 : 0.0) == 0.0) continue;
    host.push_back(seconds.host_s / counts.host);
    companion.push_back(seconds.companion_s / counts.companion);
    const bool enough = repetition + 1 >= precision.repetitions_min;
    const bool imprecise = !enough || !(is_precise(host, precision) && is_precise(companion, precision));
    const bool late = now_s() - start_s > precision.time_limit_s;
    // Everyone has to stop at the same repetition: precise everywhere, or out of time on some rank.
    const std::vector<double> any = all_max(group, {imprecise ? 1.0 : 0.0, late ? 1.0 : 0.0,
                                                    std::max(seconds.host_s, seconds.companion_s), error ? 1.0 : 0.0});
    if (any[3] > 0.0) {
      collectively(group, [&] {
        if (error) std::rethrow_exception(error);
      });
    }
    point.precise = any[0] == 0.0;
    point.kernels_s += any[2];
    if (enough && (point.precise || any[1] > 0.0)) break;
  }
  point.elapsed_s = now_s() - start_s;
  point.host = summarise(host, precision.confidence);
  point.companion = summarise(companion, precision.confidence);
  return point;
}

}  // namespace steelyard
