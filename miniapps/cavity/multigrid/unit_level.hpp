#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/sweep/row_field.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"

namespace steelyard::cavity {

/// Damping of Jacobi's method in multigrid: what needed fewest iterations of 0.7, 0.75, 0.8, 0.87 and 0.95.
inline constexpr double multigrid_damping = 0.8;

/// A row of a level's matrix D - N, where D is the diagonal: what its cells have in common, and its tables of columns.
struct LevelRow {
  RowPointer<const double> inverse_diagonal = nullptr;  ///< omega D^-1
  RowPointer<const double> column_faces = nullptr;
  RowPointer<const double> column_weights = nullptr;
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
  /// Residual after it: r - (D - N) q = (1 - omega) r + N q.
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

/// The ways across columns, for merged cell I of the columns 2I and 2I+1; without merging, a copy.
struct ColumnTransfer {
  bool merges = false;
  RowPointer<const double> up[4] = {};  ///< weights of columns 2I-1 to 2I+2
  /// Down to column 2I from I and I-1, to column 2I+1 from I and I+1; 0 beyond the grid.
  RowPointer<const double> even[2] = {};
  RowPointer<const double> odd[2] = {};

  KOKKOS_FORCEINLINE_FUNCTION double merged(const RowPointer<const double> fine, const std::int64_t merged) const {
    const RowPointer<const double> cell = fine + 2 * merged;
    return (up[0][merged] * cell[-1] + up[1][merged] * cell[0]) + (up[2][merged] * cell[1] + up[3][merged] * cell[2]);
  }
  KOKKOS_FORCEINLINE_FUNCTION void extend(const RowPointer<const double> coarse, const RowPointer<double> fine,
                                          const std::int64_t merged) const {
    fine[2 * merged] = even[0][merged] * coarse[merged] + even[1][merged] * coarse[merged - 1];
    fine[2 * merged + 1] = odd[0][merged] * coarse[merged] + odd[1][merged] * coarse[merged + 1];
  }
};

/// A level in kernels. Tables of rows may be read three rows beyond the grid, those of columns one column.
struct LevelAccess {
  std::int64_t columns = 0;
  RowPointer<const double> column_faces = nullptr;
  RowPointer<const double> row_weights = nullptr;
  RowPointer<const double> row_faces = nullptr;
  RowPointer<const double> column_weights = nullptr;
  RowPointer<const std::int32_t> kind_of_row = nullptr;  ///< rows of one kind share their diagonals
  RowPointer<const double> inverse_diagonals = nullptr;  ///< by kind of row and column; column 0 of kind 0
  std::int64_t kind_pitch = 0;
  RowPointer<const CellParents> parents = nullptr;    ///< of rows
  RowPointer<const CellChildren> children = nullptr;  ///< of merged rows
  ColumnTransfer column_transfer;

  KOKKOS_FORCEINLINE_FUNCTION LevelRow row(const std::int64_t j) const {
    return {part_of_row(inverse_diagonals, kind_of_row[j] * kind_pitch, -1, kind_pitch),
            column_faces,
            column_weights,
            row_weights[j],
            row_faces[j],
            row_faces[j + 1]};
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
    if (level.row_transfer.parents.empty()) return;
    add_diagonals(space, level);
    parents_ = {space, level.row_transfer.parents, padding};
    children_ = {space, level.row_transfer.children, padding};
    access_.parents = parents_.data();
    access_.children = children_.data();
    add_columns(space, level.column_transfer);
  }

  const LevelAccess& access() const { return access_; }
  RowRange held() const { return held_; }
  RowRange merged() const { return merged_; }
  std::int64_t columns() const { return access_.columns; }

 private:
  static constexpr std::size_t padding = 4;

  RowPointer<const double> table(const Execution& space, const std::vector<double>& values) {
    return numbers_.emplace_back(space, values, padding).data();
  }

  void add_columns(const Execution& space, const AxisTransfer& axis) {
    ColumnTransfer& transfer = access_.column_transfer;
    transfer.merges = axis.merges();
    if (!transfer.merges) return;
    for (std::size_t k = 0; k < 4; ++k) {
      std::vector<double> weights;
      for (const CellChildren& cell : axis.children) weights.push_back(cell.weights[k]);
      transfer.up[k] = table(space, weights);
    }
    const std::vector<double> zeros((axis.parents.size() + 1) / 2, 0.0);
    std::array<std::array<std::vector<double>, 2>, 2> weights = {{{zeros, zeros}, {zeros, zeros}}};
    for (std::size_t i = 0; i < axis.parents.size(); ++i) {
      const CellParents& way = axis.parents[i];
      // The last of three belongs to the pair before its own.
      const bool is_third = static_cast<std::size_t>(way.parent) != i / 2;
      weights[i % 2][is_third ? 1 : 0][i / 2] = way.parent_weight;
      if (!is_third) weights[i % 2][1][i / 2] = way.other_weight;
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
    kind_of_row_ = {space, kind_of_row, padding};
    access_.kind_of_row = kind_of_row_.data();
    access_.inverse_diagonals = table(space, quotients);
  }

  RowRange held_;
  RowRange merged_;
  LevelAccess access_;
  std::vector<UnitTable<Execution, double>> numbers_;
  UnitTable<Execution, std::int32_t> kind_of_row_;
  UnitTable<Execution, CellParents> parents_;
  UnitTable<Execution, CellChildren> children_;
};

}  // namespace steelyard::cavity
