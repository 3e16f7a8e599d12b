#pragma once

#include <algorithm>
#include <cstdint>

#include "core/sweep/host_row.hpp"
#include "core/sweep/row_field.hpp"
#include "core/sweep/row_sweep.hpp"
#include "miniapps/cavity/multigrid/unit_level.hpp"

namespace steelyard::cavity {
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

  static std::int64_t columns_of(const LevelAccess& finer) {
    return finer.column_transfer.merges ? (finer.columns + 1) / 2 : finer.columns;
  }
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

/// Sweeps over a level, by a unit's threads; the caller fences.
template <class Execution>
class MultigridSweeps {
 public:
  using Field = RowField<Execution>;

  MultigridSweeps() = default;
  /// @param merged rows of the next coarser level at most
  MultigridSweeps(const Execution& space, const LevelAccess& level, RowRange merged) : level_(level) {
    if constexpr (runs_on_host<Execution>) {
      scratch_ = Field(space, RowRange{0, space.concurrency()}, MultigridHostRows::scratch_elements(level.columns));
    } else {
      merged_rows_ = Field(space, merged, level.columns + 2);
    }
  }

  /// Restricts what a step of damped Jacobi from 0 leaves of r to the next coarser level.
  void down(const Execution& space, const RowAccess<1>& r, const RowAccess<1>& result, std::int64_t merged_columns,
            RowRange merged) const {
    constexpr const char* label = "steelyard::cavity::multigrid_down";
    if constexpr (runs_on_host<Execution>) {
      by_thread(space, label, merged, 2 * level_.columns,
                [=](const MultigridHostRows& rows, RowRange chunk) { rows.down(r, result, merged_columns, chunk); });
    } else {
      const RowAccess<1> half = merged_rows_.access();
      for_cells(space, label, merged, level_.columns, detail::MergedRows{level_, r, half});
      for_cells(space, label, merged, merged_columns, detail::MergedColumns{level_.column_transfer, half, result});
    }
  }

  /// z: a step of damped Jacobi from 0, the correction, and another step; then the same at the finer level's columns.
  void up(const Execution& space, const RowAccess<1>& r, const RowAccess<1>& correction, const RowAccess<1>& z,
          RowRange rows, const ExtendedColumns& extended) const {
    constexpr const char* label = "steelyard::cavity::multigrid_up";
    if constexpr (runs_on_host<Execution>) {
      by_thread(space, label, rows, level_.columns, [=](const MultigridHostRows& host, RowRange chunk) {
        host.up(r, correction, z, chunk, [&](std::int64_t j) { extended.row(j); });
      });
    } else {
      for_cells(space, label, rows, level_.columns, detail::CorrectedStep{level_, r, correction, z});
      for_cells(space, label, rows, extended.columns, extended);
    }
  }

  /// z = G r, of the coarsest level; then the same at the finer level's columns.
  static void bottom(const Execution& space, const detail::BottomSolve& solve, RowRange rows,
                     const ExtendedColumns& extended) {
    constexpr const char* label = "steelyard::cavity::multigrid_bottom";
    if constexpr (runs_on_host<Execution>) {
      for (std::int64_t j = rows.begin; j < rows.end; ++j) {
        for_columns(solve.columns, [=](const std::int64_t i) { solve(j, i); });
        extended.row(j);
      }
    } else {
      for_cells(space, label, rows, solve.columns, solve);
      for_cells(space, label, rows, extended.columns, extended);
    }
  }

 private:
  /// Calls `body` for the rows of each host thread.
  template <class Body>
  void by_thread(const Execution& space, const char* label, RowRange rows, std::int64_t row_cells,
                 const Body& body) const {
    const RowAccess<1> scratch = scratch_.access();
    const LevelAccess level = level_;
    for_row_chunks(space, label, rows, row_cells, [=](const std::int64_t thread, RowRange chunk) {
      body(MultigridHostRows(level, scratch.row(thread)), chunk);
    });
  }

  LevelAccess level_;
  Field scratch_;      ///< of a host's threads, a row each
  Field merged_rows_;  ///< of a device
};

}  // namespace steelyard::cavity
