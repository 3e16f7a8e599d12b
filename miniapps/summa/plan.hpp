#pragma once

#include <vector>

#include "comm/slots.hpp"
#include "miniapps/app/plan.hpp"
#include "miniapps/summa/assignment.hpp"
#include "miniapps/summa/cost.hpp"
#include "miniapps/summa/options.hpp"

namespace steelyard::summa {

/// A plan, and what a run takes from it.
struct RunPlan {
  Plan plan;
  Assignment assignment;
  std::vector<CommunicationCost> communication;  ///< by each model; empty where channels are unknown
};

/// Plans rectangles whose areas the units' models ask for, and the seconds of their updates and messages: total_cost().
/// @throws InvalidArgument for more iterations than can be counted, FileFormatError
RunPlan make_plan(Resources& on, const Options& options, const Problem& problem);

/// The part of its rank's rectangle that a unit updates, in blocks.
partition::Rectangle part_of(const Assignment& assignment, const Slot& slot);

}  // namespace steelyard::summa
