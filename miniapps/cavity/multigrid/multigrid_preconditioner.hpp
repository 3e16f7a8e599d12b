#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm/unit_grid.hpp"
#include "core/sweep/row_field.hpp"
#include "miniapps/cavity/multigrid/level_sweeps.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"
#include "miniapps/cavity/multigrid/unit_level.hpp"

namespace steelyard::cavity {

/// Geometric multigrid for PressureOperator: z = M^-1 r is one V-cycle from 0, with a step of damped Jacobi before and
/// after each coarser level and a direct solution on the coarsest. M^-1 is symmetric, and positive definite on what
/// sums up to 0; z is determined up to a constant, as the equation's solution is. All is the same bits however rows are
/// shared out. See MultigridLevel for the levels and AxisTransfer for the ways between them.
///
/// The step from 0, omega D^-1 r, is not stored but computed where it is read, and columns are merged and interpolated
/// in the sweeps that write a row, so that a level is swept twice: for the residual (reads r, writes it in merged
/// cells: 10 bytes a cell) and for the result (reads r and what comes down from merged rows, writes z: 20 bytes, and z
/// at the finer level's columns: 4 bytes a cell of that). With all levels a V-cycle moves 45 bytes a cell of the finest
/// one. Devices also store merged rows in between. Halos: r three rows deep, corrections two, once each on every level
/// that is shared out.
template <class Execution>
class MultigridPreconditioner {
 public:
  using Field = RowField<Execution>;

  /// A unit's part; all units make theirs. @param levels of the grid's size
  MultigridPreconditioner(const UnitGrid<Execution>& grid, MultigridLevels& levels)
      : levels_(&levels),
        whole_(levels.first_whole()),
        bottom_(levels.count() - 1),
        inverse_(grid.space(), levels.bottom_inverse()) {
    const int slot = grid.peer().slot();
    for (int k = 0; k <= bottom_; ++k) {
      const MultigridLevel& level = at(levels.levels(), k);
      const RowRange held = levels.held(k, slot);
      const RowRange merged = k == bottom_ ? RowRange{}
                              : k < whole_ ? levels.owned(k + 1, slot)
                                           : levels.held(k + 1, slot);
      units_.emplace_back(grid.space(), level, held, merged);
      if (k < bottom_) sweeps_.emplace_back(grid.space(), units_.back().access(), merged);
      const bool is_gathered = k == whole_;
      // A gather leaves all rows, even in units that do not work on them.
      right_sides_.push_back(is_gathered ? Field(grid.space(), RowRange{0, level.rows()}, level.columns())
                             : k > 0     ? Field(grid.space(), held, level.columns())
                                         : Field());
      if (is_gathered) part_ = Field(grid.space(), levels.owned(k, slot), level.columns());
      // A column more, of zeros: with an odd number of finer columns the last pair asks for it.
      results_.push_back(k > 0 ? Field(grid.space(), held, level.columns() + 1) : Field());
      corrections_.push_back(k > 0 ? Field(grid.space(), held, at(levels.levels(), k - 1).columns()) : Field());
    }
  }

  /// z = M^-1 r in the unit's own rows. All units call it. @param r its ghost rows are overwritten
  void apply(const UnitGrid<Execution>& grid, Field& r, Field& z) {
    const UnitPeer<Execution>& peer = grid.peer();
    const double start_s = grid.own_clock_s();
    const int shared = std::min(bottom_, whole_);
    for (int k = 0; k < shared; ++k) {
      Field& right = k == 0 ? r : at(right_sides_, k);
      const RowAccess<1> values = right.access();
      const RowRange rows = at(units_, k).merged();
      with_halo(grid, levels_->right_sides(k), MultigridLevels::right_side_depth, right, rows, without_halo_down(k),
                [&](RowRange part) { down(peer.space(), k, values, part); });
    }
    if (whole_ <= bottom_) {
      const Field& part = whole_ == 0 ? r : part_;
      const Field& whole = at(right_sides_, whole_);
      const std::int64_t bytes =
          whole.rows().count() * whole.row_elements() * static_cast<std::int64_t>(sizeof(double));
      grid.timed_exchange(bytes, [&] { levels_->gather().gather(peer, part.slice(), whole.slice()); });
    }
    peer.compute([&] {
      const auto right = [&](int k) { return k == 0 && whole_ > 0 ? r.access() : at(right_sides_, k).access(); };
      for (int k = shared; k < bottom_; ++k) down(peer.space(), k, right(k), at(units_, k).merged());
      solve_bottom(peer.space(), bottom_ == 0 ? grid.rows() : at(units_, bottom_).held(), right(bottom_), z);
      for (int k = bottom_ - 1; k >= shared; --k) up(peer.space(), k, right(k), z, at(units_, k).held());
    });
    for (int k = shared - 1; k >= 0; --k) {
      const RowAccess<1> right = k == 0 ? r.access() : at(right_sides_, k).access();
      const RowRange rows = at(units_, k).held();
      const auto sweep = [&](RowRange part) { up(peer.space(), k, right, z, part); };
      if (k + 1 < whole_) {
        with_halo(grid, levels_->corrections(k + 1), MultigridLevels::correction_depth, at(corrections_, k + 1), rows,
                  without_halo_up(k), sweep);
      } else {
        peer.compute([&] { sweep(rows); });
      }
    }
    work_s_ += grid.own_clock_s() - start_s;
  }

  /// Seconds of the unit's own sweeps since the last call.
  double take_work_s() { return std::exchange(work_s_, 0.0); }

 private:
  template <class Values>
  static auto& at(Values& values, int level) {
    return values[static_cast<std::size_t>(level)];
  }

  /// Sweeps `rows`, the `inner` ones, which read no halo, while it is under way.
  template <class Sweep>
  void with_halo(const UnitGrid<Execution>& grid, RowExchange& exchange, int depth, Field& field, RowRange rows,
                 RowRange inner, const Sweep& sweep) const {
    grid.with_halo(exchange, depth, field, rows, {{rows.begin, inner.begin}, {inner.end, rows.end}}, sweep,
                   [&](RowPieces outer) {
                     sweep(outer.first);
                     sweep(outer.second);
                   });
  }

  /// Merged rows whose residuals need no rows of other units.
  RowRange without_halo_down(int k) const {
    const auto& children = at(levels_->levels(), k).row_transfer.children;
    const std::int64_t all = at(levels_->levels(), k).rows();
    const RowRange held = at(units_, k).held();
    return inner(at(units_, k).merged(), [&](std::int64_t row) {
      const std::int64_t begin = children[static_cast<std::size_t>(row)].first - 2;
      return std::max<std::int64_t>(0, begin) >= held.begin && std::min(all, begin + 6) <= held.end;
    });
  }
  /// Rows whose results need no merged rows of other units, from `parent` and `other` of them and both neighbours.
  RowRange without_halo_up(int k) const {
    const AxisTransfer& transfer = at(levels_->levels(), k).row_transfer;
    const RowRange merged = at(units_, k).merged();
    const auto is_own = [&](std::int64_t row) { return row >= merged.begin && row < merged.end; };
    return inner(at(units_, k).held(), [&](std::int64_t row) {
      for (std::int64_t j = std::max<std::int64_t>(0, row - 1); j < std::min(at(levels_->levels(), k).rows(), row + 2);
           ++j) {
        const CellParents& way = transfer.parents[static_cast<std::size_t>(j)];
        if (!is_own(way.parent) || !is_own(way.other)) return false;
      }
      return true;
    });
  }
  /// Rows without those at their ends that do not do.
  template <class Test>
  static RowRange inner(RowRange rows, const Test& does) {
    RowRange left = rows;
    while (!left.empty() && !does(left.begin)) ++left.begin;
    while (!left.empty() && !does(left.end - 1)) --left.end;
    return left;
  }

  void down(const Execution& space, int k, const RowAccess<1>& right, RowRange merged) const {
    const Field& target = k + 1 == whole_ ? part_ : at(right_sides_, k + 1);
    at(sweeps_, k).down(space, right, target.access(), at(units_, k + 1).columns(), merged);
  }
  void up(const Execution& space, int k, const RowAccess<1>& right, const Field& z, RowRange rows) const {
    const RowAccess<1> result = k == 0 ? z.access() : at(results_, k).access();
    at(sweeps_, k).up(space, right, at(corrections_, k + 1).access(), result, rows, extended(k, result));
  }
  void solve_bottom(const Execution& space, RowRange rows, const RowAccess<1>& right, const Field& z) const {
    const MultigridLevel& level = levels_->levels().back();
    const RowAccess<1> result = bottom_ == 0 ? z.access() : at(results_, bottom_).access();
    MultigridSweeps<Execution>::bottom(space, {inverse_.data(), level.rows(), level.columns(), right, result}, rows,
                                       extended(bottom_, result));
  }
  /// A level's result at the next finer level's columns, if there is one.
  ExtendedColumns extended(int k, const RowAccess<1>& result) const {
    if (k == 0) return {};
    const LevelAccess& finer = at(units_, k - 1).access();
    return {finer.column_transfer, ExtendedColumns::columns_of(finer), result, at(corrections_, k).access()};
  }

  MultigridLevels* levels_;
  int whole_;
  int bottom_;
  UnitTable<Execution, double> inverse_;
  std::vector<MultigridUnitLevel<Execution>> units_;
  std::vector<MultigridSweeps<Execution>> sweeps_;  ///< of all levels but the coarsest
  std::vector<Field> right_sides_;                  ///< of coarser levels
  std::vector<Field> results_;
  std::vector<Field> corrections_;  ///< results at the next finer level's columns
  Field part_;                      ///< of the right side that is gathered
  double work_s_ = 0.0;
};

}  // namespace steelyard::cavity
