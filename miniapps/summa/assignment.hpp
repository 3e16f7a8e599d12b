#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/processing_unit.hpp"
#include "miniapps/summa/problem.hpp"
#include "models/speed_model.hpp"
#include "partition/rectangles/communication_aware.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::summa {

/// The models of one process's units, for the update of a rectangle of blocks by one pivot column
/// and row. Not owned. Null for a unit that it does not drive.
using ProcessModels = PerUnit<const models::SpeedModel*>;

/// The block rows of a process's rectangle that each of its units updates: the host's above the companion's.
using UnitRows = PerUnit<std::int64_t>;

/// The blocks of every process and unit, and the predicted seconds of an iteration's update.
struct Assignment {
  std::vector<partition::Rectangle> rectangles;  ///< of each process, in blocks
  std::vector<UnitRows> rows;                    ///< of each process
  std::vector<PerUnit<double>> unit_s;           ///< of each process's units, per iteration; 0 without work

  /// Seconds until the last process has updated its rectangle.
  double update_s() const;
};

/// Rectangles for processes by name:
/// - `column`: areas by the geometric algorithm over all units' models, arranged in columns
/// (partition/rectangles/column.hpp);
/// - `even`: a grid of p x q equal rectangles, p <= q as near to each other as the number of processes allows;
/// - any other one-dimensional algorithm of `steelyard partition --list`: areas by it, arranged in columns;
/// - a file `*.json` with an array `rectangles`, one {"row", "column", "rows", "columns"} in blocks per process, as
///   `steelyard partition --columns --format json` writes it; one without rows or columns is empty.
/// A rectangle's block rows go to the two units of a process such that both end as early as they can together; with
/// `even`, half to each.
/// Source: 000, sections 3.3 and 4.2; 004, section III.
/// @param node_of_process where rectangles in columns are to be ordered such that few messages cross nodes (see
/// partition::order_by_node()), the node of each process; empty where they are left as they are
/// @param communication_s where rectangles in columns are to be those of partition::communication_aware(), what it asks
/// for, in seconds of an iteration; empty where communication does not count
/// @throws InvalidArgument for an unknown name, and as the algorithms do; FileFormatError naming file and key for a
/// file with another number of rectangles, or whose rectangles do not cover every block of the matrix exactly once
Assignment assign(const Problem& problem, const std::vector<ProcessModels>& processes, const std::string& partition,
                  std::span<const int> node_of_process = {}, const partition::RectangleCost& communication_s = {});

/// Whether `partition` is a file rather than a name.
bool is_partition_file(const std::string& partition);

/// Whether rectangles by this partition are arranged in columns, so that assign() may order or choose them.
inline bool is_in_columns(const std::string& partition) { return partition != "even" && !is_partition_file(partition); }

/// The one-dimensional algorithm that areas come from: itself, or geometric for `column` and for files. It asks for
/// models of a kind. @throws InvalidArgument naming the partitions that there are
std::string area_algorithm(const std::string& partition);

}  // namespace steelyard::summa
