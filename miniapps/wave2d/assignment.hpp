#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "miniapps/wave2d/problem.hpp"
#include "models/speed_model.hpp"
#include "partition/distribution.hpp"
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
/// @param models of every unit: seconds of a pass over a number of rows
/// @throws InvalidArgument for an unknown name, and as the algorithms do
Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& models,
                  const std::string& partition);

/// Slices of these numbers of rows, one below the other.
std::vector<partition::Rectangle> row_slices(const Problem& problem, const std::vector<std::int64_t>& rows);

/// The one-dimensional algorithm that shares come from: itself, or geometric for `column`.
/// @throws InvalidArgument naming the partitions that there are
std::string row_algorithm(const std::string& partition);

/// Points of two time levels that one unit owns and another needs around its own rectangle.
struct HaloMessage {
  int from = 0;  ///< index of the unit that owns them
  int to = 0;
  /// Points of level n, and of level n - 1, each a rectangle without gaps in a message.
  std::vector<partition::Rectangle> current;
  std::vector<partition::Rectangle> previous;

  std::int64_t points() const;
};
/// Calls `use(level, part)` for all parts in the order of the message: those of level n first.
template <class Use>
void for_parts(const HaloMessage& message, const Use& use) {
  for (const partition::Rectangle& part : message.current) use(Level::current, part);
  for (const partition::Rectangle& part : message.previous) use(Level::previous, part);
}

/// Calls `use(i, j)` for the points of a rectangle, row after row.
template <class Use>
void for_points(const partition::Rectangle& part, const Use& use) {
  for (std::int64_t i = part.row; i < part.end_row(); ++i) {
    for (std::int64_t j = part.column; j < part.end_column(); ++j) use(i, j);
  }
}

/// How far from its rectangle a unit reads level n, and level n - 1, in a pass of `steps` steps.
struct HaloDepth {
  std::int64_t current = 0;
  std::int64_t previous = 0;
};
HaloDepth halo_depth(const Problem& problem, int steps);

/// The messages between units before a pass of `steps` steps: for steps > 1 all points in a frame around a unit's
/// rectangle, corners too, for the points that it computes beside its own read sideways and downwards; for one step
/// the stencil's arms. Points behind a thin neighbour come from their own owner. Ordered by
/// `from`, then by `to`. O(p^2).
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

}  // namespace steelyard::wave2d
