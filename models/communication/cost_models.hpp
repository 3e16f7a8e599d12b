#pragma once

#include <span>
#include <string>
#include <vector>

#include "models/communication/message_pattern.hpp"

namespace steelyard::models {

/// `tau-Lop` (channel by channel as in the paper), `tau-Lop event` (followed in time), `HLogGP`, `Hockney`.
const std::vector<std::string>& cost_model_names();

/// Seconds of message patterns by one model.
struct PatternCosts {
  std::string model;           ///< as in cost_model_names()
  std::vector<double> time_s;  ///< of each pattern, as if nothing else went on
};

/// By each model whose parameters all channels have that any of the patterns uses, in the order of cost_model_names():
/// tau-Lop with transfers beyond the measured concurrency in proportion, HLogGP and Hockney by the rules of 001,
/// sections 4.1 and 4.2. Nothing to send costs nothing by all of them.
/// @throws InvalidArgument naming the channels where no model has parameters, or where no channel joins two processes
std::vector<PatternCosts> pattern_costs(std::span<const MessagePattern> patterns, const Platform& platform,
                                        const Placement& placement);

/// Seconds for transmissions by LogGPH, LogGP with parameters of their own for each level of the hierarchy, of which a
/// channel's id is the number: those in sequence add up, and of concurrent ones the longest counts, for the model knows
/// no contention. Source: 001, section 5.5. @param bytes_per_unit of the expression's sizes
/// @throws InvalidArgument for a channel that is not there or has no LogGP parameters
double loggph_cost_s(const Expression& expression, const Platform& platform, double bytes_per_unit);

}  // namespace steelyard::models
