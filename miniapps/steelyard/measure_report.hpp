#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/measurement/model_builder.hpp"
#include "comm/nodes.hpp"
#include "models/fpm_file.hpp"

namespace steelyard::tool {

/// Models of one unit of the run.
struct MeasuredUnit {
  int rank = 0;
  models::FpmFile group;
  std::optional<models::FpmFile> solo;
};

/// What is measured, where and how.
std::string measure_header(const Nodes& nodes, const KernelFacts& kernel, const BuildPlan& plan);

/// A row for every size of every unit, precise or not. With `plan.solo` also seconds alone and the contention factor
/// t_c(x) / t_1(x), by which the others slow the unit down (000, figures 3.2 and 4.3).
std::string measure_table(const std::vector<MeasuredUnit>& units, const BuildPlan& plan);

/// Outliers, sizes that drift or do not count, and where the time went.
std::string measure_summary(const std::vector<MeasuredUnit>& units, const BuildPlan& plan, const MeasuringTime& time);

/// Whether an adaptive selection reached its goal. @param uncertain the largest error that is left where it did not
std::string adaptive_summary(const BuildPlan& plan, double uncertain);

}  // namespace steelyard::tool
