#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "miniapps/app/frame.hpp"
#include "miniapps/wave2d/assignment.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "miniapps/wave2d/options.hpp"

namespace steelyard::wave2d {

/// Predicts what passes take on the units and channels of all ranks. It runs samples of a few passes, on all units of
/// all ranks at once, and measures the channels or reads `--platform`. All functions are collective.
class PassPrediction {
 public:
  /// Obtains the platform. @throws CollectiveError for a bad platform file
  PassPrediction(Frame& frame, const Options& options, const Problem& problem);

  /// Steps per pass: those of `--time-tile`, those of the models of `--model`, or of some candidates the one whose
  /// steps cost least: sampled passes, scaled to an even share, plus the predicted exchange. Prints which one is chosen
  /// and how long that took, and keeps both as `time_tile` and `time_tile_time_s`.
  /// @throws CollectiveError for bad model files, and where memory is short
  int choose_time_tile();

  /// What a pass takes: units' passes as the assignment says, split into phases as sampled. Nothing for an assignment
  /// without predictions.
  /// @throws CollectiveError where no channel joins two ranks, no model has parameters, or memory is short
  std::optional<PassCost> predict(const Assignment& assignment, int time_tile);

 private:
  /// Medians of some passes of one unit, with what an emulated slowdown adds.
  struct UnitSample {
    std::int64_t rows = 0;
    double pass_s = 0.0;
    UnitTimes times;
    EdgePoints points;

    double scaled_s(std::int64_t to_rows) const;
  };

  std::int64_t enough_rows(int steps) const;
  PerUnit<UnitSample> sample(const UnitSizes& share, int steps, Overlap overlap);
  double exchange_s(const std::vector<partition::Rectangle>& rectangles, int steps) const;
  int time_tile_of_models() const;
  int fastest_time_tile();

  Frame& frame_;
  const Options& options_;
  Problem problem_;
  std::vector<int> candidates_;  ///< time tiles that are considered
  std::optional<models::Platform> platform_;
  std::optional<models::Placement> placement_;
};

}  // namespace steelyard::wave2d
