#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "comm/mpi_check.hpp"
#include "comm/unit_group.hpp"
#include "core/base/errors.hpp"
#include "core/base/table.hpp"
#include "core/sweep/time_tiles.hpp"
#include "core/timing.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "miniapps/wave2d/measured_kernel.hpp"
#include "miniapps/wave2d/options.hpp"
#include "models/communication/pattern_costs.hpp"
#include "models/fpm_file.hpp"
#include "partition/balancing/outcome.hpp"

namespace steelyard::wave2d {

/// Predicts what passes take on the units and channels of all ranks. It runs samples of a few passes, on all units of
/// all ranks at once, and measures the channels or reads `--platform`. All functions are collective.
class PassPrediction {
 public:
  /// Obtains the platform. @throws CollectiveError for a bad platform file
  PassPrediction(Frame& frame, const Options& options, const Problem& problem)
      : frame_(frame),
        options_(options),
        problem_(problem),
        group_(frame.comm(), frame.co_execution(), frame.units(), frame.slots()),
        candidates_{options.time_tile} {
    if (options.time_tile == 0) candidates_ = time_tile_candidates();
    platform_ = frame.platform(message_facts(candidates_.front(), candidates_.back()));
    if (platform_) placement_ = frame.placement(*platform_);
  }

  /// Steps per pass: those of `--time-tile`, those of the models of `--model`, or of some candidates the one whose
  /// steps cost least: sampled passes, scaled to an even share, plus the predicted exchange. Prints which one is chosen
  /// and how long that took, and keeps both in the plan as `time_tile` and `time_tile_time_s`.
  /// @throws CollectiveError for bad model files, and where memory is short
  int choose_time_tile(Plan& plan) {
    int chosen = options_.time_tile;
    if (chosen == 0) chosen = time_tile_of_models();
    if (chosen == 0) chosen = fastest_time_tile(plan);
    plan.params["time_tile"] = chosen;
    return chosen;
  }

  /// The exchange of a pass by each model whose parameters all channels have; nothing without a platform.
  std::vector<models::PatternCosts> exchange_costs(const std::vector<partition::Rectangle>& rectangles,
                                                   int steps) const {
    std::vector<models::PatternCosts> costs;
    if (!platform_) return costs;
    frame_.collectively([&] {
      const models::MessagePattern pattern =
          exchange_pattern(halo_messages(problem_, rectangles, steps), frame_.slot_ranks(), frame_.session().size(),
                           frame_.element_bytes());
      costs = models::pattern_costs(std::span(&pattern, 1), *platform_, *placement_);
    });
    return costs;
  }

  /// The cost of a pass: units' passes as the assignment says, split into phases as sampled. Nothing for an assignment
  /// without predictions.
  /// @throws CollectiveError where no channel joins two ranks, no model has parameters, or memory is short
  std::optional<PassCost> predict(const Assignment& assignment, int time_tile) {
    const std::vector<partition::Rectangle>& rectangles = assignment.rectangles;
    const double pass_exchange_s = exchange_s(rectangles, time_tile);
    if (assignment.makespan_s() == 0.0) return std::nullopt;
    std::vector<std::int64_t> rows;
    for (const partition::Rectangle& part : rectangles) {
      rows.push_back((part.area() + problem_.columns - 1) / problem_.columns);
    }
    const PerUnit<UnitSample> samples = sample(frame_.own_share(rows), time_tile, options_.overlap());
    const std::vector<EdgePoints> points = edge_points(problem_, rectangles, time_tile);
    PerUnit<UnitTimes> own;
    for (const Kind kind : {Kind::host, Kind::companion}) {
      if (group_.slot(kind) < 0) continue;
      const auto slot = static_cast<std::size_t>(group_.slot(kind));
      own[kind] = split_pass(assignment.pass_s[slot], rectangles[slot].area(), points[slot], samples[kind].times,
                             samples[kind].points);
    }
    std::vector<UnitTimes> units(rectangles.size());
    for (const auto phase : unit_phases) {
      const std::vector<double> seconds = frame_.gather_seconds({own.host.*phase, own.companion.*phase});
      for (std::size_t i = 0; i < units.size(); ++i) units[i].*phase = seconds[i];
    }
    PassCost pass = pass_cost(frame_.slot_ranks(), units);
    pass.exchange_s = pass_exchange_s;
    return pass;
  }

 private:
  using Kind = ProcessingUnit::Kind;

  /// Medians of some passes of one unit, with what an emulated slowdown adds.
  struct UnitSample {
    std::int64_t rows = 0;
    double pass_s = 0.0;
    UnitTimes times;
    EdgePoints points;

    double scaled_s(std::int64_t to_rows) const {
      return rows > 0 ? pass_s * static_cast<double>(to_rows) / static_cast<double>(rows) : 0.0;
    }
  };

  static constexpr int fewest_passes = 2;
  static constexpr int most_passes = 5;
  static constexpr double enough_s = 0.3;

  /// Steps of the longest pass that all units of all ranks can make; a device's scratch memory limits it.
  int longest_pass() const {
    int own = most_steps_per_pass;
    if (frame_.units().companion) {
      own = TimeTiles<CompanionExecution>::most_steps(own, problem_.radius(),
                                                      static_cast<std::size_t>(frame_.element_bytes()));
    }
    return -static_cast<int>(frame_.max(-static_cast<double>(own)));
  }

  /// 1, 2, 4, … steps, as long as halos stay a small part of a unit's rows and a run has several passes.
  std::vector<int> time_tile_candidates() const {
    std::vector<int> candidates{1};
    const auto units = static_cast<std::int64_t>(frame_.slots().size());
    const std::int64_t share = std::max<std::int64_t>(1, problem_.rows / units);
    const int most = longest_pass();
    for (int k = 2; k <= most; k *= 2) {
      const bool small_halo = 4 * halo_depth(problem_, k).current <= share;
      // A last pass may be shorter, so there have to be some.
      if (std::int64_t{4} * k <= frame_.options().steps && small_halo) candidates.push_back(k);
    }
    return candidates;
  }

  /// The messages of passes from the shortest to the longest one.
  MessageFacts message_facts(int least_steps, int most_steps) const {
    const auto bytes = [&](int steps) {
      const HaloDepth depth = halo_depth(problem_, steps);
      return frame_.element_bytes() * static_cast<double>((depth.current + depth.previous) * problem_.columns);
    };
    const double levels = most_steps > 1 ? 4.0 : 2.0;
    return {bytes(least_steps), bytes(most_steps),
            levels * frame_.element_bytes() * problem_.points() / static_cast<double>(frame_.session().size())};
  }

  /// As many bytes as the largest caches hold, and borders that are a small part of the whole.
  std::int64_t enough_rows(int steps) const {
    double cache_bytes = 0.0;
    for (const Machine::Cache& cache : frame_.session().machine().caches()) {
      cache_bytes = std::max(cache_bytes, static_cast<double>(cache.bytes) * cache.count);
    }
    const double levels = steps == 1 ? 2.0 : 4.0;
    const double row_bytes = levels * frame_.element_bytes() * static_cast<double>(problem_.columns);
    return std::max(static_cast<std::int64_t>(cache_bytes / row_bytes) + 1, 16 * halo_depth(problem_, steps).current);
  }

  /// Runs some passes on all units of all ranks at once, a second or so.
  /// @param share rows of this rank's units; fewer are sampled where these are enough to be out of the caches
  PerUnit<UnitSample> sample(const UnitSizes& share, int steps, Overlap overlap) {
    const MeasuredKernel kernel(problem_, options_.run.element, steps);
    const std::int64_t most_rows = enough_rows(steps);
    const UnitSizes rows{std::min(share.host, most_rows), std::min(share.companion, most_rows)};
    PerUnit<std::unique_ptr<PassRun>> passes;
    PerUnit<Medians> seconds;
    frame_.collectively([&] {
      group_.run([&](const auto& peer) {
        passes[peer.kind()] = kernel.allocate_pass(peer.kind(), rows[peer.kind()], overlap);
      });
    });
    double spent_s = 0.0;
    // The first one touches caches and wakes threads.
    for (int pass = -1; pass < most_passes && (pass < fewest_passes || spent_s <= enough_s); ++pass) {
      STEELYARD_MPI(MPI_Barrier(frame_.comm()));
      const double start_s = now_s();
      const UnitSeconds unit_s =
          group_.run([&](const auto& peer) { peer.compute([&] { passes[peer.kind()]->run(); }); });
      const double pass_s = frame_.max(now_s() - start_s);
      if (pass < 0) continue;
      spent_s += pass_s;
      const auto keep = [&](Kind kind, double unit_pass_s, const std::optional<ProcessingUnit>& unit) {
        if (!unit) return;
        const UnitTimes times = unit->slowdown * passes[kind]->times();
        seconds[kind].add({unit_pass_s, times.unpacking_s, times.border_s, times.packing_s, times.interior_s});
      };
      keep(Kind::host, unit_s.host_s, frame_.units().host);
      keep(Kind::companion, unit_s.companion_s, frame_.units().companion);
    }
    PerUnit<UnitSample> samples;
    for (const Kind kind : {Kind::host, Kind::companion}) {
      if (!passes[kind]) continue;
      const std::vector<double> s = seconds[kind].values();
      samples[kind] = {rows[kind], s[0], {s[1], s[2], s[3], s[4]}, passes[kind]->points()};
    }
    return samples;
  }

  /// Seconds of the exchange of a pass by the first model; 0 without a platform.
  double exchange_s(const std::vector<partition::Rectangle>& rectangles, int steps) const {
    const std::vector<models::PatternCosts> costs = exchange_costs(rectangles, steps);
    return costs.empty() ? 0.0 : costs.front().time_s.front();
  }

  /// That of the first model file; 0 without models.
  int time_tile_of_models() const {
    if (options_.run.models.empty()) return 0;
    const std::filesystem::path& path = options_.run.models.front();
    int steps = 0;
    frame_.collectively([&] {
      const models::FpmFile file = models::read_fpm_file(path);
      const auto found = file.parameters.find("time_tile");
      // Files that do not say are of single steps.
      const double tile = found == file.parameters.end() ? 1.0 : found->second;
      if (!(tile >= 1.0 && tile <= most_steps_per_pass)) {
        throw FileFormatError(path.string(), "parameters.time_tile",
                              fmt::format("is {} (expected 1 to {})", tile, most_steps_per_pass));
      }
      steps = static_cast<int>(tile);
    });
    return steps;
  }

  int fastest_time_tile(Plan& plan) {
    const double start_s = now_s();
    const std::vector<std::int64_t> rows = partition::start_or_even(problem_.rows, frame_.slots().size(), {}, {});
    const UnitSizes share = frame_.own_share(rows);
    int chosen = 0;
    double best_s = std::numeric_limits<double>::infinity();
    for (const int steps : candidates_) {
      const PerUnit<UnitSample> samples = sample(share, steps, Overlap::full);
      const double kernels_s =
          frame_.max(std::max(samples.host.scaled_s(share.host), samples.companion.scaled_s(share.companion)));
      const double step_s = (kernels_s + exchange_s(row_slices(problem_, rows), steps)) / steps;
      // Longer passes cost memory and cannot end in between: a small gain is not worth that.
      if (step_s < 0.98 * best_s) {
        best_s = step_s;
        chosen = steps;
      } else if (steps > 8 && step_s > 1.1 * best_s) {
        break;  // still longer passes only have larger borders
      }
    }
    const double seconds = frame_.max(now_s() - start_s);
    plan.figures["time_tile_time_s"] = seconds;
    frame_.session().print(fmt::format("time tile  {} step{} per pass, chosen in {}\n", chosen, chosen == 1 ? "" : "s",
                                       format_seconds(seconds)));
    return chosen;
  }

  Frame& frame_;
  const Options& options_;
  Problem problem_;
  UnitGroup group_;
  std::vector<int> candidates_;  ///< time tiles that are considered
  std::optional<models::Platform> platform_;
  std::optional<models::Placement> placement_;
};

}  // namespace steelyard::wave2d
