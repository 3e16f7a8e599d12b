#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/row_exchange.hpp"
#include "comm/unit_grid.hpp"
#include "core/spaces.hpp"
#include "core/sweep/row_field.hpp"
#include "miniapps/cavity/operators.hpp"

namespace steelyard::cavity {

/// A fine cell's way down: the merged cell that it is in, and the one whose value it takes a share of as well, the
/// parent where there is none. Both weights add up to 1.
struct CellParents {
  std::int64_t parent = 0;
  std::int64_t other = 0;
  double parent_weight = 1.0;
  double other_weight = 0.0;

  KOKKOS_FORCEINLINE_FUNCTION double interpolated(const double from_parent, const double from_other) const {
    return parent_weight * from_parent + other_weight * from_other;
  }
};

/// A merged cell's way up: the first fine cell in it, and weights of the cells first-1, first, first+1 and first+2.
struct CellChildren {
  std::int64_t first = 0;
  double weights[4] = {};

  KOKKOS_FORCEINLINE_FUNCTION double merged(const double a, const double b, const double c, const double d) const {
    return (weights[0] * a + weights[1] * b) + (weights[2] * c + weights[3] * d);
  }
};

/// How values go between the cells along one axis of a grid and those of the next coarser one, where neighbours are
/// merged in pairs. The last one of an odd number joins the last pair, or stays alone, whichever leaves an even number.
///
/// Down goes linear interpolation between the centres of merged cells: the first of a pair takes its share of the cell
/// before, the second of the one after; next to walls, and in the middle of three, the value is that of the merged
/// cell. Up goes the transpose, which keeps sums: what has been integrated over cells stays so. Without merging (see
/// MultigridLevel) both are the identity.
struct AxisTransfer {
  std::vector<CellParents> parents;    ///< of fine cells
  std::vector<CellChildren> children;  ///< of merged cells; as many as fine ones where none are merged

  bool merges() const { return children.size() < parents.size(); }
};

/// One axis of a level: the arrays of PressureOperator, and the cells that they are of.
struct LevelAxis {
  std::vector<double> faces;  ///< one more than cells, 0 at walls
  std::vector<double> weights;
  std::vector<double> widths;
  AxisTransfer transfer;  ///< to the next coarser level; empty on the coarsest

  std::int64_t cells() const { return static_cast<std::int64_t>(weights.size()); }
};

/// One level of the multigrid hierarchy of PressureOperator. Coarser ones are discretised anew: weights of merged cells
/// are sums, and faces 1 / the distance of merged cells' centres, for the flux through a merged face is the sum of
/// weights times the slope between the centres. An axis whose cells are more than 1.5 times as wide as the other one's
/// is left as it is: smoothing hardly works along it.
struct MultigridLevel {
  LevelAxis row_axis, column_axis;

  std::int64_t rows() const { return row_axis.cells(); }
  std::int64_t columns() const { return column_axis.cells(); }
  std::int64_t cells() const { return rows() * columns(); }
  double diagonal(std::size_t row, std::size_t column) const;
};

/// The levels of the pressure's matrix, the finest first.
std::vector<MultigridLevel> multigrid_levels(const Coefficients& finest);

/// The levels of a multigrid preconditioner and how the units of a rank share them out; made once by every rank, used
/// by both of its units. See MultigridPreconditioner.
///
/// A merged row belongs to the owner of the first row in it. From the first level on that is small, or where a unit
/// that works on the next finer one would get no row, every unit has the whole level and does the same there, without
/// messages. With all rows in one unit nothing is exchanged at all.
class MultigridLevels {
 public:
  /// Cells of a level up to which it is not shared out.
  static constexpr std::int64_t most_whole_cells = 4096;
  static constexpr int right_side_depth = 3;
  static constexpr int correction_depth = 2;

  /// Collective. @param coefficients of the grid
  MultigridLevels(SharedGrid& grid, const Coefficients& coefficients);

  const std::vector<MultigridLevel>& levels() const { return levels_; }
  int count() const { return static_cast<int>(levels_.size()); }
  /// The inverse of the coarsest level's matrix plus the mean of its diagonal times the mean of the values, row by row:
  /// where the right side sums up to 0, that is a solution.
  const std::vector<double>& bottom_inverse() const { return bottom_inverse_; }
  /// The first level that every unit has whole, after a gather; count() if there is none.
  int first_whole() const { return first_whole_; }

  /// Rows of a level that a slot owns, which is shared out or the first whole one.
  RowRange owned(int level, int slot) const {
    return owned_[static_cast<std::size_t>(level)][static_cast<std::size_t>(slot)];
  }
  /// Rows of a level that a unit holds: its own, or the whole level.
  RowRange held(int level, int slot) const;

  /// Exchange of right sides, `right_side_depth` rows, on levels that are shared out.
  RowExchange& right_sides(int level) { return *right_sides_[static_cast<std::size_t>(level)]; }
  /// Exchange of corrections from a level that is shared out, already interpolated to the next finer level's columns.
  RowExchange& corrections(int level) { return *corrections_[static_cast<std::size_t>(level)]; }
  /// Gather of the first whole level's right side.
  RowGather& gather() { return *gather_; }

 private:
  std::vector<MultigridLevel> levels_;
  std::vector<double> bottom_inverse_;
  int first_whole_;
  std::vector<std::vector<RowRange>> owned_;  ///< by level down to the first whole one and by slot
  std::vector<std::unique_ptr<RowExchange>> right_sides_;
  std::vector<std::unique_ptr<RowExchange>> corrections_;
  std::unique_ptr<RowGather> gather_;
};

}  // namespace steelyard::cavity
