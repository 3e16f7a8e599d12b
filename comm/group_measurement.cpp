#include "comm/group_measurement.hpp"

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
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
  return {0.0, mean(seconds), static_cast<int>(seconds.size()), half_width};
}

}  // namespace

GroupPoint measure_group(MPI_Comm comm, const RunOnce& run, const Precision& precision) {
  std::vector<double> host;
  std::vector<double> companion;
  double start_s = now_s();
  for (int repetition = -precision.warmups; repetition < precision.repetitions_max; ++repetition) {
    if (repetition == 0) start_s = now_s();
    STEELYARD_MPI(MPI_Barrier(comm));
    const UnitSeconds seconds = run();
    if (repetition < 0) continue;
    host.push_back(seconds.host_s);
    companion.push_back(seconds.companion_s);
    const bool enough = repetition + 1 >= precision.repetitions_min;
    const bool imprecise = !(is_precise(host, precision) && is_precise(companion, precision));
    // Everyone has to stop at the same repetition: precise everywhere, or out of time on some rank.
    const double any_imprecise = all_max(comm, imprecise ? 1.0 : 0.0);
    const double any_late = all_max(comm, now_s() - start_s > precision.time_limit_s ? 1.0 : 0.0);
    if (enough && (any_imprecise == 0.0 || any_late > 0.0)) break;
  }
  return {summarise(host, precision.confidence), summarise(companion, precision.confidence)};
}

}  // namespace steelyard
