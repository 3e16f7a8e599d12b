#include "miniapps/summa/prediction.hpp"

#include <algorithm>
#include <utility>

#include "comm/collective.hpp"
#include "miniapps/app/channels.hpp"
#include "miniapps/app/start_seconds.hpp"

namespace steelyard::summa {

Assignment assign_ranks(const Session& session, const Options& options, const Problem& problem,
                        const std::vector<Slot>& slots, const SpeedModels& models) {
  std::vector<ProcessModels> processes(static_cast<std::size_t>(session.size()));
  const std::vector<const models::SpeedModel*> pointers = models.pointers();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    ProcessModels& process = processes[static_cast<std::size_t>(slots[i].rank)];
    (slots[i].kind == ProcessingUnit::Kind::host ? process.host : process.companion) = pointers[i];
  }
  Assignment assignment;
  collectively(session.comm(), [&] { assignment = assign(problem, processes, options.run.partition); });
  return assignment;
}

Prediction predict(const Session& session, CoExecution& co_execution, const Options& options, const Problem& problem,
                   Assignment assignment, const std::optional<models::Platform>& platform) {
  Prediction prediction;
  prediction.assignment = std::move(assignment);
  prediction.start_s = start_seconds(session, co_execution);
  std::vector<double> iteration_s(static_cast<std::size_t>(problem.blocks()), 0.0);
  if (platform) {
    const models::Placement placement = place_ranks(session, *platform);
    const double element_bytes = options.run.element == ElementType::float64 ? sizeof(double) : sizeof(float);
    collectively(session.comm(), [&] {
      prediction.communication = communication_costs(problem, prediction.assignment.rectangles, element_bytes,
                                                     options.communication, *platform, placement);
    });
    iteration_s = prediction.communication.front().iteration_s;
  }
  prediction.cost =
      total_cost(problem, iteration_s, options.communication, prediction.assignment.update_s(), prediction.start_s);
  return prediction;
}

MessageFacts message_facts(const Problem& problem, const Assignment& assignment, double element_bytes) {
  std::int64_t shortest = problem.n, longest = 0, largest_tile = 0;
  for (const partition::Rectangle& rectangle : assignment.rectangles) {
    const Tile tile = problem.tile(rectangle);
    if (tile.empty()) continue;
    shortest = std::min({shortest, tile.rows, tile.columns});
    longest = std::max({longest, tile.rows, tile.columns});
    largest_tile = std::max(largest_tile, tile.rows * tile.columns);
  }
  const double row_bytes = element_bytes * static_cast<double>(problem.depth(0));
  // Between two messages a rank goes through all of its C.
  return {row_bytes * static_cast<double>(shortest), row_bytes * static_cast<double>(longest),
          element_bytes * static_cast<double>(largest_tile)};
}

}  // namespace steelyard::summa
