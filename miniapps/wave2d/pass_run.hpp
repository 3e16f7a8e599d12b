#pragma once

#include <cstdint>
#include <memory>
#include <vector>

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

/// The grid of a PassRun and who owns its rows: others those above and below, as many as reach into the middle.
struct MiddleRows {
  Problem problem;
  std::vector<partition::Rectangle> slices;  ///< the unit's is the second
  std::vector<HaloMessage> messages;
};
MiddleRows middle_rows(Problem problem, int steps, std::int64_t rows);

/// A point of the field that PassRun::check_run() begins with, from -1 to 1, which float holds exactly. Edges, whose
/// values a boundary may hold, are the same in both levels.
double check_input(const Problem& problem, Level level, std::int64_t row, std::int64_t column);

/// `rows` whole rows in the middle of a grid with enough of them above and below to be a halo. Called on the unit's own
/// thread. check_run() returns the unit's rows of the current level, those of the previous one, and what leaves.
std::unique_ptr<PassRun> make_pass_run(ProcessingUnit::Kind kind, const Problem& problem, ElementType element,
                                       int steps, std::int64_t rows, Overlap overlap);

}  // namespace steelyard::wave2d
