#pragma once

#include <algorithm>
#include <cstdint>

#include "miniapps/cavity/multigrid_formulas.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {

/// How one host thread sweeps over rows of a level: in order, each intermediate row computed once and kept in a few
/// rows of its own that stay in the cache.
class MultigridHostRows {
 public:
  /// Of a level with so many columns.
  static std::int64_t scratch_elements(std::int64_t columns) { return kept_rows * pitch(columns); }

  MultigridHostRows(const LevelAccess& level, double* scratch)
      : level_(level), columns_(level.columns), pitch_(pitch(level.columns)), scratch_(scratch + ghosts) {}

  /// Restricts what a step from 0 leaves of r. @param merged rows of the result
  void down(const RowAccess<1>& r, const RowAccess<1>& result, std::int64_t merged_columns, RowRange merged) const {
    if (merged.empty()) return;
    const std::int64_t begin = level_.first[merged.begin] - 1;
    std::int64_t steps = begin - 1, lefts = begin;  // The first rows not yet there.
    double* const sum = kept(7);
    for (std::int64_t m = merged.begin; m < merged.end; ++m) {
      const RowChildren children = level_.children(m);
      for (; lefts < children.first + 3; ++lefts) {
        for (; steps < lefts + 2; ++steps) write_step(steps, &r(steps, 0));
        write_left(lefts, &r(lefts, 0));
      }
      const double *const a = left_row(children.first - 1), *const b = left_row(children.first);
      const double *const c = left_row(children.first + 1), *const d = left_row(children.first + 2);
      double* const target = level_.column_transfer.merges ? sum : &result(m, 0);
#pragma omp simd
      for (std::int64_t i = 0; i < columns_; ++i) target[i] = children.merged(a[i], b[i], c[i], d[i]);
      if (!level_.column_transfer.merges) continue;
      sum[-1] = sum[columns_] = sum[columns_ + 1] = 0.0;
      double* const to = &result(m, 0);
      const ColumnTransfer transfer = level_.column_transfer;
#pragma omp simd
      for (std::int64_t i = 0; i < merged_columns; ++i) to[i] = transfer.merged(sum, i);
    }
  }

  /// z: a step from 0, what comes down from merged rows, and another step.
  template <class Finished>
  void up(const RowAccess<1>& r, const RowAccess<1>& correction, const RowAccess<1>& z, RowRange rows,
          const Finished& finished) const {
    std::int64_t corrected = rows.begin - 1;
    for (std::int64_t j = rows.begin; j < rows.end; ++j) {
      for (; corrected < j + 2; ++corrected) write_corrected(corrected, &r(corrected, 0), correction);
      const LevelRow row = level_.row(j);
      const double *const below = step_row(j - 1), *const here = step_row(j), *const above = step_row(j + 1);
      const double* const right = &r(j, 0);
      double* const to = &z(j, 0);
#pragma omp simd
      for (std::int64_t i = 0; i < columns_; ++i) {
        to[i] = row.next_step(i, right[i], here[i], here[i - 1], here[i + 1], below[i], above[i]);
      }
      finished(j);
    }
  }

 private:
  static constexpr std::int64_t ghosts = 8;
  static constexpr std::int64_t kept_rows = 8;  ///< three steps, four of what they leave, and their sum

  static std::int64_t pitch(std::int64_t columns) { return RowField<HostExecution>::pitch_of(columns + 2); }
  double* kept(std::int64_t k) const { return scratch_ + k * pitch_; }
  double* step_row(std::int64_t j) const { return kept((j + 3) % 3); }
  double* left_row(std::int64_t j) const { return kept(3 + (j + 4) % 4); }

  void write_step(std::int64_t j, const double* r) const {
    const LevelRow row = level_.row(j);
    double* const to = step_row(j);
#pragma omp simd
    for (std::int64_t i = 0; i < columns_; ++i) to[i] = row.step(i, r[i]);
    to[-1] = to[columns_] = 0.0;
  }
  void write_left(std::int64_t j, const double* r) const {
    const LevelRow row = level_.row(j);
    const double *const below = step_row(j - 1), *const here = step_row(j), *const above = step_row(j + 1);
    double* const to = left_row(j);
#pragma omp simd
    for (std::int64_t i = 0; i < columns_; ++i) {
      to[i] = row.left(i, r[i], here[i - 1], here[i + 1], below[i], above[i]);
    }
  }
  void write_corrected(std::int64_t j, const double* r, const RowAccess<1>& correction) const {
    const LevelRow row = level_.row(j);
    const RowParents parents = level_.parents(j);
    const double *const first = &correction(parents.parent, 0), *const second = &correction(parents.other, 0);
    double* const to = step_row(j);
#pragma omp simd
    for (std::int64_t i = 0; i < columns_; ++i) to[i] = row.step(i, r[i]) + parents.interpolated(first[i], second[i]);
    to[-1] = to[columns_] = 0.0;
  }

  LevelAccess level_;
  std::int64_t columns_;
  std::int64_t pitch_;
  double* scratch_;
};

}  // namespace steelyard::cavity
