#pragma once

#include <algorithm>
#include <cstdint>

#include "core/sweep/host_row.hpp"
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

namespace detail {

/// MultigridHostRows::down() for one cell, in two parts: merged rows, then merged columns.
struct MergedRows {
  LevelAccess level;
  RowAccess<1> r;
  RowAccess<1> result;  ///< merged rows, all columns

  KOKKOS_FORCEINLINE_FUNCTION double step(const std::int64_t j, const std::int64_t i) const {
    return level.row(j).step(i, r(j, i));
  }
  KOKKOS_FORCEINLINE_FUNCTION double left(const std::int64_t j, const std::int64_t i) const {
    return level.row(j).left(i, r(j, i), step(j, i - 1), step(j, i + 1), step(j - 1, i), step(j + 1, i));
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t merged, const std::int64_t i) const {
    const CellChildren children = level.children[merged];
    const std::int64_t j = children.first;
    result(merged, i) = children.merged(left(j - 1, i), left(j, i), left(j + 1, i), left(j + 2, i));
  }
};
struct MergedColumns {
  ColumnTransfer transfer;
  RowAccess<1> rows;
  RowAccess<1> result;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const std::int64_t i) const {
    result(j, i) = transfer.merges ? transfer.merged(rows.row(j), i) : rows(j, i);
  }
};

/// MultigridHostRows::up() for one cell.
struct CorrectedStep {
  LevelAccess level;
  RowAccess<1> r;
  RowAccess<1> correction;
  RowAccess<1> z;

  KOKKOS_FORCEINLINE_FUNCTION double corrected(const std::int64_t j, const std::int64_t i) const {
    const CellParents parents = level.parents[j];
    return level.row(j).step(i, r(j, i)) +
           parents.interpolated(correction(parents.parent, i), correction(parents.other, i));
  }
  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const std::int64_t i) const {
    z(j, i) = level.row(j).next_step(i, r(j, i), corrected(j, i), corrected(j, i - 1), corrected(j, i + 1),
                                     corrected(j - 1, i), corrected(j + 1, i));
  }
};

/// z = G r on the coarsest level.
struct BottomSolve {
  RowPointer<const double> inverse = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  RowAccess<1> r;
  RowAccess<1> z;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const std::int64_t i) const {
    // G is symmetric, so its columns are as good as its rows, and neighbours read neighbouring ones.
    const RowPointer<const double> column = inverse + j * columns + i;
    double sum = 0.0;
    for (std::int64_t l = 0; l < rows; ++l) {
      for (std::int64_t k = 0; k < columns; ++k) sum += column[(l * columns + k) * rows * columns] * r(l, k);
    }
    z(j, i) = sum;
  }
};

}  // namespace detail

/// How one host thread sweeps over rows of a level: in order, each intermediate row computed once and kept in a few
/// rows of its own that stay in the cache.
class MultigridHostRows {
 public:
  /// Scratch elements of a level with `columns` columns.
  static std::int64_t scratch_elements(std::int64_t columns) { return kept_rows * pitch(columns); }

  MultigridHostRows(const LevelAccess& level, const RowPointer<double> scratch)
      : level_(level), columns_(level.columns), pitch_(pitch(level.columns)), scratch_(scratch + ghosts) {}

  /// Restricts what a step from 0 leaves of r. @param merged rows of the result
  void down(const RowAccess<1>& r, const RowAccess<1>& result, std::int64_t merged_columns, RowRange merged) const {
    if (merged.empty()) return;
    const std::int64_t begin = level_.children[merged.begin].first - 1;
    std::int64_t steps = begin - 1, lefts = begin;  // The first rows not yet there.
    const RowPointer<double> sum = kept(7);
    for (std::int64_t m = merged.begin; m < merged.end; ++m) {
      const CellChildren children = level_.children[m];
      for (; lefts < children.first + 3; ++lefts) {
        for (; steps < lefts + 2; ++steps) write_step(steps, r.row(steps));
        write_left(lefts, r.row(lefts));
      }
      const RowPointer<const double> a = left_row(children.first - 1), b = left_row(children.first);
      const RowPointer<const double> c = left_row(children.first + 1), d = left_row(children.first + 2);
      const RowPointer<double> target = level_.column_transfer.merges ? sum : result.row(m);
      for_columns(columns_, [=](const std::int64_t i) { target[i] = children.merged(a[i], b[i], c[i], d[i]); });
      if (!level_.column_transfer.merges) continue;
      sum[-1] = sum[columns_] = sum[columns_ + 1] = 0.0;
      const RowPointer<double> to = result.row(m);
      const ColumnTransfer transfer = level_.column_transfer;
      for_columns(merged_columns, [=](const std::int64_t i) { to[i] = transfer.merged(sum, i); });
    }
  }

  /// z: a step from 0, what comes down from merged rows, and another step.
  template <class Finished>
  void up(const RowAccess<1>& r, const RowAccess<1>& correction, const RowAccess<1>& z, RowRange rows,
          const Finished& finished) const {
    std::int64_t corrected = rows.begin - 1;
    for (std::int64_t j = rows.begin; j < rows.end; ++j) {
      for (; corrected < j + 2; ++corrected) write_corrected(corrected, r.row(corrected), correction);
      const LevelRow row = level_.row(j);
      const RowPointer<const double> below = step_row(j - 1), here = step_row(j), above = step_row(j + 1);
      const RowPointer<const double> right = r.row(j);
      const RowPointer<double> to = z.row(j);
      for_columns(columns_, [=](const std::int64_t i) {
        to[i] = row.next_step(i, right[i], here[i], here[i - 1], here[i + 1], below[i], above[i]);
      });
      finished(j);
    }
  }

 private:
  static constexpr std::int64_t ghosts = 8;
  static constexpr std::int64_t kept_rows = 8;  ///< three steps, four of what they leave, and their sum

  static std::int64_t pitch(std::int64_t columns) { return RowField<HostExecution>::pitch_of(columns + 2); }
  RowPointer<double> kept(std::int64_t k) const { return part_of_row(scratch_, k * pitch_, -1, columns_ + 2); }
  RowPointer<double> step_row(std::int64_t j) const { return kept((j + 3) % 3); }
  RowPointer<double> left_row(std::int64_t j) const { return kept(3 + (j + 4) % 4); }

  void write_step(std::int64_t j, const RowPointer<const double> r) const {
    const LevelRow row = level_.row(j);
    const RowPointer<double> to = step_row(j);
    for_columns(columns_, [=](const std::int64_t i) { to[i] = row.step(i, r[i]); });
    to[-1] = to[columns_] = 0.0;
  }
  void write_left(std::int64_t j, const RowPointer<const double> r) const {
    const LevelRow row = level_.row(j);
    const RowPointer<const double> below = step_row(j - 1), here = step_row(j), above = step_row(j + 1);
    const RowPointer<double> to = left_row(j);
    for_columns(columns_,
                [=](const std::int64_t i) { to[i] = row.left(i, r[i], here[i - 1], here[i + 1], below[i], above[i]); });
  }
  void write_corrected(std::int64_t j, const RowPointer<const double> r, const RowAccess<1>& correction) const {
    const LevelRow row = level_.row(j);
    const CellParents parents = level_.parents[j];
    const RowPointer<const double> first = correction.row(parents.parent), second = correction.row(parents.other);
    const RowPointer<double> to = step_row(j);
    for_columns(columns_,
                [=](const std::int64_t i) { to[i] = row.step(i, r[i]) + parents.interpolated(first[i], second[i]); });
    to[-1] = to[columns_] = 0.0;
  }

  LevelAccess level_;
  std::int64_t columns_;
  std::int64_t pitch_;
  RowPointer<double> scratch_;
};

/// A level's values at the next finer level's columns: two of these, or one where columns are not merged.
struct ExtendedColumns {
  ColumnTransfer transfer;   ///< of the finer level
  std::int64_t columns = 0;  ///< to be called with; 0 for nothing to do
  RowAccess<1> z;
  RowAccess<1> result;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const std::int64_t j, const std::int64_t i) const {
    if (transfer.merges) {
      transfer.extend(z.row(j), result.row(j), i);
    } else {
      result(j, i) = z(j, i);
    }
  }
  /// A whole row, by one host thread.
  void row(const std::int64_t j) const {
    if (columns == 0) return;
    const ColumnTransfer across = transfer;
    const RowPointer<const double> from = z.row(j);
    const RowPointer<double> to = result.row(j);
    if (across.merges) {
      for_columns(columns, [=](const std::int64_t i) { across.extend(from, to, i); });
    } else {
      std::copy_n(&from[0], columns, &to[0]);
    }
  }
};

}  // namespace steelyard::cavity
