#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/communication/message_pattern.hpp"
#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"

namespace steelyard::models {

/// Seconds of message patterns by one model.
struct PatternCosts {
  std::string model;           ///< as in cost_model_names()
  std::vector<double> time_s;  ///< of each pattern, as if nothing else went on
};

/// By each model whose parameters all channels have that any of the patterns uses; nothing to send costs nothing by all
/// of them. See cost_models().
/// @throws InvalidArgument where no model has parameters, or no channel joins two processes
std::vector<PatternCosts> pattern_costs(std::span<const MessagePattern> patterns, const Platform& platform,
                                        const Placement& placement);

}  // namespace steelyard::models
