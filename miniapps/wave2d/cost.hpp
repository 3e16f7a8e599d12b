#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "miniapps/wave2d/halo_plan.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/communication/placement.hpp"
#include "models/communication/platform.hpp"
#include "partition/rectangle.hpp"

namespace steelyard::wave2d {

/// The messages between ranks of one pass: every rank starts all of its own at once. Source: 001, equations 13 and 14.
/// @param rank_of_unit rank that drives the unit which owns rectangle i
models::MessagePattern exchange_pattern(const std::vector<HaloMessage>& messages, std::span<const int> rank_of_unit,
                                        int ranks, double element_bytes);

/// Seconds of an exchange by one model.
struct ExchangeCost {
  std::string model;  ///< as in models::cost_model_names()
  double time_s = 0.0;
};
/// By each model whose parameters all channels in use have; nothing to send costs nothing by all of them.
/// @throws InvalidArgument where no model has parameters, or no channel joins two ranks
std::vector<ExchangeCost> exchange_costs(const models::MessagePattern& pattern, const models::Platform& platform,
                                         const models::Placement& placement);

/// Seconds of a pass: T = start + max(T_C + T_comm, T_G), where T_C is the longest time of a unit whose thread also
/// drives MPI (the host's, or a rank's only unit's) and T_G that of the other units, which go on meanwhile. Border and
/// interior of a unit are one: their sum is what speed models know.
/// Source: 003, equations 5.5-5.10, for passes of several steps.
struct PassCost {
  double start_s = 0.0;    ///< starting the units and waiting for both, twice a pass
  double kernels_s = 0.0;  ///< of the slowest unit, packing included
  double driving_s = 0.0;  ///< of the slowest unit that also drives MPI
  double exchange_s = 0.0;

  double total_s() const { return start_s + std::max(driving_s + exchange_s, kernels_s); }
};

/// The largest of the pass seconds of units that drive MPI: the first one of every rank.
double driving_seconds(std::span<const int> rank_of_unit, std::span<const double> pass_s);

}  // namespace steelyard::wave2d
