#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace steelyard::cavity {

/// How values go between the cells along one axis of a grid and those of the next coarser one, where neighbours are
/// merged in pairs. The last one of an odd number joins the last pair, or stays alone, whichever leaves an even number.
///
/// Down goes linear interpolation between the centres of merged cells: the first of a pair takes its share of the cell
/// before, the second of the one after; next to walls, and in the middle of three, the value is that of the merged
/// cell. Up goes the transpose, which keeps sums: what has been integrated over cells stays so. Without merging (see
/// MultigridLevel) both are the identity.
struct AxisTransfer {
  std::vector<std::int32_t> parent;  ///< of a fine cell: the merged cell that it is in
  std::vector<std::int32_t> other;  ///< the one whose value it takes a share of as well; the parent where there is none
  std::vector<double> parent_weight;  ///< these two add up to 1
  std::vector<double> other_weight;
  std::vector<std::int32_t> first;  ///< of a merged cell: the first fine one in it
  /// Of a merged cell: weights of the fine cells first-1, first, first+1 and first+2.
  std::array<std::vector<double>, 4> up;
};

/// One level of the multigrid hierarchy of PressureOperator, whose four arrays these are. Coarser ones are discretised
/// anew: weights of merged cells are sums, and faces 1 / the distance of merged cells' centres, for the flux through a
/// merged face is the sum of weights times the slope between the centres. An axis whose cells are more than 1.5 times
/// as wide as the other one's is left as it is: smoothing hardly works along it.
struct MultigridLevel {
  std::vector<double> column_faces;  ///< one more than columns, 0 at walls
  std::vector<double> row_weights;
  std::vector<double> row_faces;
  std::vector<double> column_weights;
  std::vector<double> column_widths;
  std::vector<double> row_widths;
  AxisTransfer column_transfer;  ///< to the next coarser level; empty on the coarsest
  AxisTransfer row_transfer;

  std::int64_t rows() const { return static_cast<std::int64_t>(row_weights.size()); }
  std::int64_t columns() const { return static_cast<std::int64_t>(column_weights.size()); }
  std::int64_t cells() const { return rows() * columns(); }
  double diagonal(std::int64_t row, std::int64_t column) const;
};

/// Cells of the coarsest level at most, which is solved directly.
inline constexpr std::int64_t most_bottom_cells = 64;

/// The finest level first. Faces of the finest grid must be 1 / distance of centres of equal cells, but for walls.
/// @throws InvalidArgument for arrays that do not fit each other
std::vector<MultigridLevel> multigrid_levels(std::vector<double> column_faces, std::vector<double> row_weights,
                                             std::vector<double> row_faces, std::vector<double> column_weights);

/// The inverse of a small level's matrix plus the mean of its diagonal times the mean of the values, row by row: where
/// the right side sums up to 0, that is a solution.
std::vector<double> bottom_inverse(const MultigridLevel& level);

}  // namespace steelyard::cavity
