#pragma once

#include "miniapps/app/plan.hpp"
#include "miniapps/fft2d/cost.hpp"
#include "miniapps/fft2d/options.hpp"

namespace steelyard::fft2d {

/// A plan, and what a run takes from it.
struct RunPlan {
  Plan plan;
  Assignment assignment;
  PassPlans passes;
};

/// Plans rows and columns by the models of their passes, and the seconds of a transform, whose phases follow one
/// another.
/// @throws InvalidArgument, also where models of columns are missing, FileFormatError
RunPlan make_plan(Resources& on, const Options& options, const Problem& problem);

}  // namespace steelyard::fft2d
