#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/sweep/row_field.hpp"
#include "miniapps/cavity/grid/unit_table.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"

namespace steelyard::cavity {

/// Damping of Jacobi's method in multigrid: what needed fewest iterations of 0.7, 0.75, 0.8, 0.87 and 0.95.
inline constexpr double multigrid_damping = 0.8;

/// A row of a level's matrix D - N, where D is the diagonal: what its cells have in common, and its tables of columns.
struct LevelRow {
  const double* inverse_diagonal = nullptr;  ///< omega D^-1
  const double* column_faces = nullptr;
  const double* column_weights = nullptr;
  double weight = 0.0;
  double lower_face = 0.0;
  double upper_face = 0.0;

  /// N times values around a cell.
  KOKKOS_FORCEINLINE_FUNCTION double neighbours(const std::int64_t i, const double west, const double east,
                                                const double below, const double above) const {
    return weight * (column_faces[i] * west + column_faces[i + 1] * east) +
           column_weights[i] * (lower_face * below + upper_face * above);
  }
  /// A step of damped Jacobi from 0: q = omega D^-1 r.
  KOKKOS_FORCEINLINE_FUNCTION double step(const std::int64_t i, const double r) const {
    return inverse_diagonal[i] * r;
  }
  /// What it leaves: r - (D - N) q = (1 - omega) r + N q.
  KOKKOS_FORCEINLINE_FUNCTION double left(const std::int64_t i, const double r, const double west, const double east,
                                          const double below, const double above) const {
    return (1.0 - multigrid_damping) * r + neighbours(i, west, east, below, above);
  }
  /// Another step from c: c + omega D^-1 (r - (D - N) c) = (1 - omega) c + omega D^-1 (r + N c).
  KOKKOS_FORCEINLINE_FUNCTION double next_step(const std::int64_t i, const double r, const double c, const double west,
                                               const double east, const double below, const double above) const {
    return (1.0 - multigrid_damping) * c + inverse_diagonal[i] * (r + neighbours(i, west, east, below, above));
  }
};

/// A row's way down from merged rows; see AxisTransfer.
struct RowParents {
  std::int64_t parent = 0;
  std::int64_t other = 0;
  double parent_weight = 0.0;
  double other_weight = 0.0;

  KOKKOS_FORCEINLINE_FUNCTION double interpolated(const double from_parent, const double from_other) const {
    return parent_weight * from_parent + other_weight * from_other;
  }
};

/// A merged row's way up: its first row, and weights of the row before and of three from the first on.
struct RowChildren {
  std::int64_t first = 0;
  double weights[4] = {};

  KOKKOS_FORCEINLINE_FUNCTION double merged(const double a, const double b, const double c, const double d) const {
    return (weights[0] * a + weights[1] * b) + (weights[2] * c + weights[3] * d);
  }
};

/// The ways across columns, for merged cell I of the columns 2I and 2I+1; without merging, a copy.
struct ColumnTransfer {
  bool merges = false;
  const double* up[4] = {};  ///< weights of columns 2I-1 to 2I+2
  /// Down to column 2I from I and I-1, to column 2I+1 from I and I+1; 0 beyond the grid.
  const double* even[2] = {};
  const double* odd[2] = {};

  KOKKOS_FORCEINLINE_FUNCTION double merged(const double* fine, const std::int64_t merged) const {
    const double* const cell = fine + 2 * merged;
    return (up[0][merged] * cell[-1] + up[1][merged] * cell[0]) + (up[2][merged] * cell[1] + up[3][merged] * cell[2]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void extend(const double* coarse, double* fine, const std::int64_t merged) const {
    fine[2 * merged] = even[0][merged] * coarse[merged] + even[1][merged] * coarse[merged - 1];
    fine[2 * merged + 1] = odd[0][merged] * coarse[merged] + odd[1][merged] * coarse[merged + 1];
  }
};

/// A level in kernels. Tables of rows may be read three rows beyond the grid, those of columns one column.
struct LevelAccess {
  std::int64_t columns = 0;
  const double* column_faces = nullptr;
  const double* row_weights = nullptr;
  const double* row_faces = nullptr;
  const double* column_weights = nullptr;
  const std::int32_t* kind_of_row = nullptr;  ///< rows of one kind share their diagonals
  const double* inverse_diagonals = nullptr;  ///< by kind of row and column; column 0 of kind 0
  std::int64_t kind_pitch = 0;
  const std::int32_t* parent = nullptr;  ///< of rows; see AxisTransfer
  const std::int32_t* other = nullptr;
  const double* parent_weight = nullptr;
  const double* other_weight = nullptr;
  const std::int32_t* first = nullptr;
  const double* up[4] = {};
  ColumnTransfer column_transfer;

  KOKKOS_FORCEINLINE_FUNCTION LevelRow row(const std::int64_t j) const {
    return {inverse_diagonals + kind_of_row[j] * kind_pitch,
            column_faces,
            column_weights,
            row_weights[j],
            row_faces[j],
            row_faces[j + 1]};
  }
  KOKKOS_FORCEINLINE_FUNCTION RowParents parents(const std::int64_t j) const {
    return {parent[j], other[j], parent_weight[j], other_weight[j]};
  }
  KOKKOS_FORCEINLINE_FUNCTION RowChildren children(const std::int64_t merged) const {
    return {first[merged], {up[0][merged], up[1][merged], up[2][merged], up[3][merged]}};
  }
};

/// A level of a multigrid preconditioner as one unit holds it, in the unit's memory.
template <class Execution>
class MultigridUnitLevel {
 public:
  /// @param held rows that the unit works on, `merged` those of the next coarser level's right side that it computes
  MultigridUnitLevel(const Execution& space, const MultigridLevel& level, RowRange held, RowRange merged)
      : held_(held), merged_(merged) {
    access_.columns = level.columns();
    access_.column_faces = table(space, level.column_faces);
    access_.row_weights = table(space, level.row_weights);
    access_.row_faces = table(space, level.row_faces);
    access_.column_weights = table(space, level.column_weights);
    if (level.row_transfer.parent.empty()) return;
    add_diagonals(space, level);
    add_rows(space, level.row_transfer);
    add_columns(space, level.column_transfer);
  }

  const LevelAccess& access() const { return access_; }
  RowRange held() const { return held_; }
  RowRange merged() const { return merged_; }
  std::int64_t columns() const { return access_.columns; }

 private:
  static constexpr std::size_t padding = 4;

  const double* table(const Execution& space, const std::vector<double>& values) {
    return numbers_.emplace_back(space, values, padding).data();
  }
  const std::int32_t* table(const Execution& space, const std::vector<std::int32_t>& values) {
    return indices_.emplace_back(space, values, padding).data();
  }

  void add_rows(const Execution& space, const AxisTransfer& axis) {
    access_.parent = table(space, axis.parent);
    access_.other = table(space, axis.other);
    access_.first = table(space, axis.first);
    access_.parent_weight = table(space, axis.parent_weight);
    access_.other_weight = table(space, axis.other_weight);
    for (std::size_t k = 0; k < axis.up.size(); ++k) access_.up[k] = table(space, axis.up[k]);
  }

  void add_columns(const Execution& space, const AxisTransfer& axis) {
    ColumnTransfer& transfer = access_.column_transfer;
    transfer.merges = axis.first.size() < axis.parent.size();
    if (!transfer.merges) return;
    for (std::size_t k = 0; k < axis.up.size(); ++k) transfer.up[k] = table(space, axis.up[k]);
    const std::size_t pairs = (axis.parent.size() + 1) / 2;
    std::vector<double> weights[2][2];
    for (auto& of_side : weights) {
      for (auto& of_source : of_side) of_source.assign(pairs, 0.0);
    }
    for (std::size_t i = 0; i < axis.parent.size(); ++i) {
      // The last of three belongs to the pair before its own.
      const bool is_third = static_cast<std::size_t>(axis.parent[i]) != i / 2;
      weights[i % 2][is_third ? 1 : 0][i / 2] = axis.parent_weight[i];
      if (!is_third) weights[i % 2][1][i / 2] = axis.other_weight[i];
    }
    for (std::size_t k = 0; k < 2; ++k) {
      transfer.even[k] = table(space, weights[0][k]);
      transfer.odd[k] = table(space, weights[1][k]);
    }
  }

  /// Most rows of a grid have the same diagonal, so that a few rows of quotients serve all and need no memory traffic.
  void add_diagonals(const Execution& space, const MultigridLevel& level) {
    access_.kind_pitch = RowField<Execution>::pitch_of(columns());
    std::map<std::pair<double, double>, std::int32_t> kinds;
    std::vector<std::int32_t> kind_of_row;
    std::vector<double> quotients;
    for (std::int64_t j = 0; j < level.rows(); ++j) {
      const auto row = static_cast<std::size_t>(j);
      const auto [found, is_new] =
          kinds.emplace(std::pair(level.row_weights[row], level.row_faces[row] + level.row_faces[row + 1]),
                        static_cast<std::int32_t>(kinds.size()));
      kind_of_row.push_back(found->second);
      if (!is_new) continue;
      for (std::int64_t i = 0; i < access_.kind_pitch; ++i) {
        const double diagonal = i < columns() ? level.diagonal(j, i) : 0.0;
        quotients.push_back(diagonal > 0.0 ? multigrid_damping / diagonal : 0.0);
      }
    }
    access_.kind_of_row = table(space, kind_of_row);
    access_.inverse_diagonals = table(space, quotients);
  }

  RowRange held_;
  RowRange merged_;
  LevelAccess access_;
  std::vector<UnitTable<Execution, double>> numbers_;
  std::vector<UnitTable<Execution, std::int32_t>> indices_;
};

}  // namespace steelyard::cavity
