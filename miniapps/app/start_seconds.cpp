#include "miniapps/app/start_seconds.hpp"

#include <vector>

#include "comm/collective.hpp"
#include "core/base/statistics.hpp"
#include "core/timing.hpp"

namespace steelyard {

double start_seconds(const Session& session, CoExecution& co_execution) {
  constexpr int batches = 20;
  constexpr int per_batch = 50;
  const CoExecution::Work nothing = [] {};
  std::vector<double> seconds;
  for (int batch = 0; batch < batches; ++batch) {
    const double start_s = now_s();
    for (int i = 0; i < per_batch; ++i) co_execution.run(nothing, nothing);
    seconds.push_back((now_s() - start_s) / per_batch);
  }
  return all_max(session.comm(), median(seconds));
}

}  // namespace steelyard
