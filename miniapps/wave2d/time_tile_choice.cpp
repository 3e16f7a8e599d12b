#include "miniapps/wave2d/time_tile_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "comm/collective.hpp"
#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/timing.hpp"
#include "miniapps/app/slot_shares.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/pass_sample.hpp"
#include "miniapps/wave2d/prediction.hpp"
#include "miniapps/wave2d/scheme_options.hpp"
#include "miniapps/wave2d/tile_shape.hpp"
#include "models/fpm_file.hpp"
#include "partition/balancing/outcome.hpp"

namespace steelyard::wave2d {
namespace {

/// Seconds of a pass at these sizes, of the slowest unit of all ranks.
double pass_seconds(const Session& session, const PassSamples& samples, const UnitSizes& share) {
  const auto scaled = [](const UnitSample& sample, std::int64_t rows) {
    return sample.rows > 0 ? sample.pass_s * static_cast<double>(rows) / static_cast<double>(sample.rows) : 0.0;
  };
  return all_max(session.comm(),
                 std::max(scaled(samples.host, share.host), scaled(samples.companion, share.companion)));
}

/// That of the first model file; collective.
std::optional<int> of_model_file(const Session& session, const RunOptions& options) {
  if (options.models.empty()) return std::nullopt;
  std::optional<int> steps;
  collectively(session.comm(), [&] {
    const models::FpmFile file = models::read_fpm_file(options.models.front());
    const auto found = file.parameters.find("time_tile");
    // Files that do not say are of whatever the user says, or of single steps.
    const double tile = found == file.parameters.end() ? 1.0 : found->second;
    if (!(tile >= 1.0 && tile <= most_steps_per_pass)) {
      throw FileFormatError(options.models.front().string(), "parameters.time_tile",
                            fmt::format("is {} (expected 1 to {})", tile, most_steps_per_pass));
    }
    steps = static_cast<int>(tile);
  });
  return steps;
}

}  // namespace

std::vector<int> time_tile_candidates(const Problem& problem, std::int64_t steps, std::size_t units, int most_steps) {
  std::vector<int> candidates{1};
  const std::int64_t share = std::max<std::int64_t>(1, problem.rows / static_cast<std::int64_t>(units));
  for (int k = 2; k <= most_steps; k *= 2) {
    const bool small_halo = 4 * halo_depth(problem, k).current <= share;
    // A last pass may be shorter, so there have to be some.
    if (std::int64_t{4} * k <= steps && small_halo) candidates.push_back(k);
  }
  return candidates;
}

int most_steps_of_units(const Session& session, const RankUnits& units, const Problem& problem, ElementType element) {
  const std::size_t bytes = element == ElementType::float64 ? sizeof(double) : sizeof(float);
  const int own =
      units.companion ? TileShape<CompanionExecution>::most_steps(problem.radius(), bytes) : most_steps_per_pass;
  return -static_cast<int>(all_max(session.comm(), -static_cast<double>(own)));
}

int choose_time_tile(const Session& session, CoExecution& co_execution, const RankUnits& units, const Options& options,
                     const Problem& problem, const std::vector<Slot>& slots,
                     const std::optional<models::Platform>& platform, RunRecord& record) {
  int chosen = options.time_tile;
  if (chosen == 0) chosen = of_model_file(session, options.run).value_or(0);
  if (chosen == 0) {
    const double start_s = now_s();
    const double element_bytes = options.run.element == ElementType::float64 ? sizeof(double) : sizeof(float);
    const std::vector<std::int64_t> rows = partition::start_or_even(problem.rows, slots.size(), {}, {});
    const UnitSizes share = own_share(session, slots, rows);
    double best_s = std::numeric_limits<double>::infinity();
    const int most_steps = most_steps_of_units(session, units, problem, options.run.element);
    for (const int steps : time_tile_candidates(problem, options.run.steps, slots.size(), most_steps)) {
      const PassSamples samples =
          sample_passes(session, co_execution, units, problem, options.run.element, steps, share, Overlap::full);
      const double kernels_s = pass_seconds(session, samples, share);
      const double exchange_s =
          predict_exchange(session, problem, slots, row_slices(problem, rows), steps, element_bytes, platform).time_s;
      const double step_s = (kernels_s + exchange_s) / steps;
      // Longer passes cost memory and cannot end in between: they have to be worth it.
      if (step_s < 0.98 * best_s) {
        best_s = step_s;
        chosen = steps;
      } else if (steps > 8 && step_s > 1.1 * best_s) {
        break;  // still longer passes only have larger borders
      }
    }
    const double seconds = all_max(session.comm(), now_s() - start_s);
    record.figures["time_tile_time_s"] = seconds;
    session.print(fmt::format("time tile  {} step{} per pass, chosen in {}\n", chosen, chosen == 1 ? "" : "s",
                              format_seconds(seconds)));
  }
  record.params["time_tile"] = chosen;
  return chosen;
}

}  // namespace steelyard::wave2d
