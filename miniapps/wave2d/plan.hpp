#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/measurable_kernel.hpp"
#include "core/options.hpp"
#include "miniapps/app/plan.hpp"
#include "miniapps/wave2d/problem.hpp"
#include "models/communication/message_pattern.hpp"
#include "models/speed_model.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::wave2d {

/// Points of every unit, and the predicted time of a pass over them.
struct Assignment {
  std::vector<partition::Rectangle> rectangles;  ///< of every unit, in points; whole rows but for `column`
  std::vector<double> pass_s;                    ///< of every unit; 0 without points

  double makespan_s() const;
  /// Whether every unit owns whole rows.
  bool in_slices(const Problem& problem) const;
  /// Rows of every unit, or points where some rows are not whole.
  std::vector<std::int64_t> shares(const Problem& problem) const;
};

/// Rectangles by name: `column` for areas by the geometric algorithm arranged in columns
/// (partition/rectangles/column.hpp), otherwise slices of rows by that one-dimensional algorithm.
/// @param models of every unit: seconds of a pass over a number of rows @param algorithm of row_algorithm()
/// @throws InvalidArgument as the algorithm does
Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& models,
                  const std::string& partition, const partition::Algorithm& algorithm);

/// Slices of these numbers of rows, one below the other.
std::vector<partition::Rectangle> row_slices(const Problem& problem, const std::vector<std::int64_t>& rows);

/// The one-dimensional algorithm that shares come from: itself, or geometric for `column`.
/// @throws InvalidArgument naming the partitions that there are
std::string row_algorithm(const std::string& partition);

/// Part of a time level.
struct LevelPart {
  Level level = Level::current;
  partition::Rectangle rectangle;
};

/// Points of two time levels that one unit owns and another needs around its own rectangle.
struct HaloMessage {
  int from = 0;  ///< index of the unit that owns them
  int to = 0;
  std::vector<LevelPart> parts;  ///< one after the other, each without gaps, those of level n first

  std::int64_t points() const;
};

/// Calls `use(i, j)` for the points of a rectangle, row after row.
template <class Use>
void for_points(const partition::Rectangle& part, const Use& use) {
  for (std::int64_t i = part.row; i < part.end_row(); ++i) {
    for (std::int64_t j = part.column; j < part.end_column(); ++j) use(i, j);
  }
}

/// How far from its rectangle a unit reads level n in a pass of `steps` steps; level n - 1 as in one step less.
inline std::int64_t halo_depth(const Problem& problem, int steps) { return std::int64_t{problem.radius()} * steps; }

/// The messages between units before a pass of `steps` steps: for steps > 1 all points in a frame around a unit's
/// rectangle, corners too, for the points that it computes beside its own read sideways and downwards; for one step
/// the stencil's arms. Points behind a thin neighbour come from their own owner. Ordered by `from`, then by `to`.
/// O(p^2).
/// Source: 001, section 4.2 (arbitrary neighbours, one step); deep halos are ours.
std::vector<HaloMessage> halo_messages(const Problem& problem, std::span<const partition::Rectangle> rectangles,
                                       int steps);

/// A rectangle and `depth` points around it, inside the grid.
partition::Rectangle widened(const Problem& problem, const partition::Rectangle& rectangle, std::int64_t depth);

/// A rectangle cut into the points that other units may need after a pass of `steps` steps, and the rest.
struct BorderAndInterior {
  std::vector<partition::Rectangle> border;  ///< disjoint
  partition::Rectangle interior;             ///< may be empty
};
BorderAndInterior cut_border(const Problem& problem, const partition::Rectangle& rectangle, int steps);

/// The messages between ranks of one pass: every rank starts all of its own at once. Source: 001, equations 13 and 14.
/// @param rank_of_unit rank that drives the unit which owns rectangle i
models::MessagePattern exchange_pattern(const std::vector<HaloMessage>& messages, std::span<const int> rank_of_unit,
                                        int ranks, double element_bytes);

/// Points that a unit's pass works on besides its interior.
struct EdgePoints {
  std::int64_t border = 0;
  std::int64_t leaving = 0;   ///< packed
  std::int64_t arriving = 0;  ///< unpacked
};
/// Edge points of every unit, for passes of `steps` steps.
std::vector<EdgePoints> edge_points(const Problem& problem, std::span<const partition::Rectangle> rectangles,
                                    int steps);

/// A unit's rows between those of two neighbours, as many as reach into the middle: the grid of a pass that runs alone.
struct MiddleRows {
  Problem problem;
  std::vector<partition::Rectangle> slices;  ///< the unit's is the second
};
MiddleRows middle_rows(Problem problem, std::int64_t rows, int steps);

/// Measures a pass of `time_tile` steps on one unit's rows, borders packed as between two neighbours: a computation
/// unit is a grid row advanced by the pass's steps. See LeapFrog for its memory traffic. The parts of a run that it
/// times are unpacking, border and packing.
std::shared_ptr<MeasurableKernel> pass_kernel(const Problem& problem, ElementType element, int time_tile);

/// Seconds of one unit's part of its passes, by phase. A device's kernels run beside its copies, so the host may wait
/// in one phase for the work of another; exact when phases are run apart (see Overlap).
struct UnitTimes {
  double unpacking_s = 0.0;  ///< halos into the unit's memory
  double border_s = 0.0;
  double packing_s = 0.0;  ///< borders out of the unit's memory
  double interior_s = 0.0;

  /// Until the border is packed.
  double begin_s() const { return unpacking_s + border_s + packing_s; }
};

inline constexpr std::array unit_phases{&UnitTimes::unpacking_s, &UnitTimes::border_s, &UnitTimes::packing_s,
                                        &UnitTimes::interior_s};

inline UnitTimes operator*(double factor, UnitTimes times) {
  for (const auto phase : unit_phases) times.*phase *= factor;
  return times;
}
/// Phase by phase, the longer one.
inline UnitTimes slower(UnitTimes a, const UnitTimes& b) {
  for (const auto phase : unit_phases) a.*phase = std::max(a.*phase, b.*phase);
  return a;
}

/// Splits a unit's pass into phases, by the seconds of a sample's phases, which grow with the points that they work on:
/// T_X = T_X,b + T_X,i. A speed model is of a slice with neighbours on both sides, like the sample; its seconds without
/// the sample's border are those of such a slice's interior, and grow with the points too. Where none are left, the
/// phases are shortened to the pass. Source: 003, equations 5.6 and 5.7.
/// @param pass_s of a whole pass over `owned_points`, as a speed model says
UnitTimes split_pass(double pass_s, std::int64_t owned_points, const EdgePoints& unit, const UnitTimes& sample,
                     const EdgePoints& sample_points);

/// Seconds of a pass: T = max_X T_X,b + max(max_D T_D,i + T_comm, max_X T_X,i), where X is every unit and D those whose
/// thread also drives MPI (the host's, or a rank's only unit's); others go on meanwhile. Packing counts as border.
/// Source: 003, equations 5.5-5.10, for passes of several steps.
struct PassCost {
  UnitTimes phases;        ///< of the slowest unit each
  double begin_s = 0.0;    ///< of the slowest unit, until its border is packed
  double driving_s = 0.0;  ///< interior of the slowest unit that also drives MPI
  double exchange_s = 0.0;

  double kernels_s() const { return begin_s + phases.interior_s; }
  double total_s() const { return begin_s + std::max(driving_s + exchange_s, phases.interior_s); }
};

/// Names of a pass' phases, those of the slowest unit each; the exchange is that of the rank that waits least.
inline constexpr std::array phase_names{"kernels", "exchange", "unpacking", "border", "packing", "interior"};
/// Their seconds. @param slowest of each phase
constexpr std::array<double, 6> phase_seconds(double kernels_s, double exchange_s, const UnitTimes& slowest) {
  return {kernels_s, exchange_s, slowest.unpacking_s, slowest.border_s, slowest.packing_s, slowest.interior_s};
}

/// Cost of units with such phases, without an exchange. The first unit of every rank drives MPI.
/// @param rank_of_unit ascending
PassCost pass_cost(std::span<const int> rank_of_unit, std::span<const UnitTimes> units);

/// Assigns points to units in place of speed models. @param plan takes what that finds out
using Balance = std::function<Assignment(int time_tile, Plan& plan)>;

/// Chooses steps per pass k, assigns points to units and predicts n / k passes, each with the cost of PassCost. k is
/// that of `--time-tile` or of the models of `--model`; without either, in a run, that of 1, 2, 4, … whose steps cost
/// least: passes tried out on even shares, plus the predicted exchange; on paper 1. Kept as `time_tile`.
/// @throws InvalidArgument, FileFormatError
Plan make_plan(Resources& on, const Options& options, const Balance& balance = {});

}  // namespace steelyard::wave2d
