#pragma once

#include <string>
#include <vector>

#include "miniapps/wave2d/problem.hpp"
#include "models/speed_model.hpp"
#include "partition/distribution.hpp"
#include "partition/rectangle.hpp"

namespace steelyard::wave2d {

/// Who owns which points, and how long a pass over them is predicted to take.
struct Assignment {
  std::vector<partition::Rectangle> rectangles;  ///< of every unit, in points; whole rows but for `column`
  std::vector<double> pass_s;                    ///< of every unit; 0 without points

  double makespan_s() const;
  /// Whether every unit owns whole rows.
  bool in_slices(const Problem& problem) const;
  /// Rows of every unit, or points where some rows are not whole.
  std::vector<std::int64_t> shares(const Problem& problem) const;
};

/// Rectangles by name: `column` for areas by the geometric algorithm arranged in columns (partition/column.hpp),
/// otherwise slices of rows by that one-dimensional algorithm.
/// @param models of every unit: seconds of a pass over so many rows; those without one get nothing
/// @throws InvalidArgument for an unknown name, and as the algorithms do
Assignment assign(const Problem& problem, const std::vector<const models::SpeedModel*>& models,
                  const std::string& partition);

/// Slices of so many rows, one below the other.
std::vector<partition::Rectangle> row_slices(const Problem& problem, const std::vector<std::int64_t>& rows);

/// The one-dimensional algorithm that shares come from: itself, or geometric for `column`.
/// @throws InvalidArgument naming the partitions that there are
std::string row_algorithm(const std::string& partition);

}  // namespace steelyard::wave2d
