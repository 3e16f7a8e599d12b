#pragma once

#include <cstdint>
#include <memory>

#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/wave2d/cost.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "miniapps/wave2d/unit_field.hpp"
#include "miniapps/wave2d/unit_times.hpp"

namespace steelyard::wave2d {

/// Passes of one unit, borders packed as between two neighbours.
class PassRun : public KernelRun {
 public:
  /// Of the last run.
  virtual const UnitTimes& times() const = 0;
  virtual const EdgePoints& points() const = 0;
};

/// `rows` whole rows in the middle of a grid with enough of them above and below to be a halo. Called on the unit's own
/// thread.
std::unique_ptr<PassRun> make_pass_run(ProcessingUnit::Kind kind, const Problem& problem, ElementType element,
                                       int steps, std::int64_t rows, Overlap overlap);

}  // namespace steelyard::wave2d
