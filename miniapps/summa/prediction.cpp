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

double largest_message_bytes(const Problem& problem, const Assignment& assignment, double element_bytes) {
  std::int64_t most = 0;
  for (const partition::Rectangle& rectangle : assignment.rectangles) {
    const Tile tile = problem.tile(rectangle);
    most = std::max({most, tile.rows, tile.columns});
  }
  return element_bytes * static_cast<double>(most) * static_cast<double>(problem.depth(0));
}

}  // namespace steelyard::summa
