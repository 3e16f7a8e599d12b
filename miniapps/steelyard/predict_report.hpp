#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "partition/rectangle.hpp"

namespace steelyard::tool {

/// What one model of communication makes of a run.
struct PredictedCommunication {
  std::string model;
  double communication_s = 0.0;
  double total_s = 0.0;  ///< with the computation, which may go on meanwhile
};

/// Seconds of a whole run.
struct Prediction {
  std::string app;
  std::optional<double> computation_s;                ///< nothing where there are no speed models
  std::vector<PredictedCommunication> communication;  ///< the first one counts; at least one
  std::vector<partition::Rectangle> rectangles;       ///< of each process
};

/// A row per model of communication, and the total by the first one.
std::string prediction_table(const Prediction& prediction);

/// {"app", "phases": [{"name", "time_s"}…], "time_s"}, and besides "communication_model", "models" and "rectangles".
std::string prediction_json(const Prediction& prediction);

}  // namespace steelyard::tool
