#include "miniapps/wave2d/prediction.hpp"

#include <algorithm>
#include <functional>
#include <optional>

#include "comm/collective.hpp"
#include "comm/ping_pong.hpp"
#include "miniapps/app/start_seconds.hpp"
#include "models/communication/platform_file.hpp"
#include "partition/algorithms.hpp"
#include "partition/slices.hpp"

namespace steelyard::wave2d {
namespace {

/// Seconds of a halo row from one rank to another; 0 inside a rank.
using MessageTime = std::function<double(int from, int to)>;

MessageTime message_times(const Session& session, const RunOptions& options, const Problem& problem) {
  const double element_bytes = options.element == ElementType::float64 ? 8.0 : 4.0;
  const double bytes = element_bytes * static_cast<double>(problem.columns);
  if (options.platform.empty()) {
    const std::optional<models::Hockney> measured = measure_neighbours(session.comm(), bytes);
    return [=](int from, int to) { return from == to ? 0.0 : measured->time_s(bytes); };
  }
  models::Platform platform;
  collectively(session.comm(), [&] { platform = models::read_platform_file(options.platform); });
  const std::vector<int> node = session.nodes().node_of_rank;
  return [=](int from, int to) {
    if (from == to) return 0.0;
    const bool same_node = node[static_cast<std::size_t>(from)] == node[static_cast<std::size_t>(to)];
    return platform.channel(same_node ? 0 : 1).time_s(bytes);
  };
}

}  // namespace

Prediction predict(const Session& session, CoExecution& co_execution, const RunOptions& options, const Problem& problem,
                   const std::vector<Slot>& slots, const SpeedModels& models) {
  Prediction prediction;
  const MessageTime message_s = message_times(session, options, problem);
  // Both units are started twice a step: for borders and for the interior.
  prediction.start_s = 2.0 * start_seconds(session, co_execution);
  collectively(session.comm(), [&] {
    prediction.distribution = partition::find_algorithm(options.partition).distribute(problem.rows, models.pointers());
    const std::vector<partition::Slice> slices = partition::make_slices(prediction.distribution.units);
    std::vector<double> exchange_s(static_cast<std::size_t>(session.size()), 0.0);
    std::vector<int> units_of_rank(exchange_s.size(), 0);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto rank = static_cast<std::size_t>(slots[i].rank);
      ++units_of_rank[rank];
      for (const int other : {slices[i].above, slices[i].below}) {
        if (other >= 0) exchange_s[rank] += message_s(slots[i].rank, slots[static_cast<std::size_t>(other)].rank);
      }
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto rank = static_cast<std::size_t>(slots[i].rank);
      const bool drives_mpi = slots[i].kind == ProcessingUnit::Kind::host || units_of_rank[rank] == 1;
      const double own_s = prediction.distribution.predicted_s[i] + (drives_mpi ? exchange_s[rank] : 0.0);
      prediction.exchange_s = std::max(prediction.exchange_s, exchange_s[rank]);
      prediction.step_s = std::max(prediction.step_s, prediction.start_s + own_s);
    }
  });
  return prediction;
}

}  // namespace steelyard::wave2d
