#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "comm/unit_grid.hpp"
#include "core/sweep/row_field.hpp"
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

  /// A unit's part; all units make theirs. @param shared of the grid's size
  MultigridPreconditioner(const UnitGrid<Execution>& grid, MultigridLevels& shared)
      : shared_(&shared),
        whole_(shared.first_whole()),
        bottom_(shared.count() - 1),
        inverse_(grid.space(), shared.bottom_inverse()) {
    const int slot = grid.peer().slot();
    for (int k = 0; k <= bottom_; ++k) {
      const RowRange held = shared.held(k, slot);
      const RowRange merged = k == bottom_ ? RowRange{}
                              : k < whole_ ? shared.owned(k + 1, slot)
                                           : shared.held(k + 1, slot);
      UnitLevel<Execution>& level = levels_.emplace_back(grid.space(), host(k), held, merged);
      // A gather leaves all rows, even in units that do not work on them.
      if (k == whole_) level.right_side = Field(grid.space(), RowRange{0, host(k).rows()}, level.columns());
      if (k == whole_) part_ = Field(grid.space(), shared.owned(k, slot), level.columns());
      if (k == 0) continue;
      if (k != whole_) level.right_side = Field(grid.space(), held, level.columns());
      // A column more, of zeros: with an odd number of finer columns the last pair asks for it.
      level.solution = Field(grid.space(), held, level.columns() + 1);
      level.extended_solution = Field(grid.space(), held, host(k - 1).columns());
    }
  }

  /// z = M^-1 r in the unit's own rows. All units call it. @param r its ghost rows are overwritten
  void apply(const UnitGrid<Execution>& grid, Field& r, Field& z) {
    const UnitPeer<Execution>& peer = grid.peer();
    const Execution& space = peer.space();
    const double start_s = grid.own_clock_s();
    const int first_alone = std::min(bottom_, whole_);
    for (int k = 0; k < first_alone; ++k) {
      Field& right = k == 0 ? r : at(k).right_side;
      const RowAccess<1> values = right.access();
      with_halo(grid, shared_->right_sides(k), MultigridLevels::right_side_depth, right, at(k).merged(),
                without_halo_down(k), [&](RowRange rows) { down(space, k, values, rows); });
    }
    if (whole_ <= bottom_) {
      const Field& part = whole_ == 0 ? r : part_;
      const Field& whole = at(whole_).right_side;
      const std::int64_t bytes =
          whole.rows().count() * whole.row_elements() * static_cast<std::int64_t>(sizeof(double));
      grid.timed_exchange(bytes, [&] { shared_->gather().gather(peer, part.slice(), whole.slice()); });
    }
    const auto right = [&](int k) { return k == 0 && whole_ > 0 ? r.access() : at(k).right_side.access(); };
    peer.compute([&] {
      for (int k = first_alone; k < bottom_; ++k) down(space, k, right(k), at(k).merged());
      solve_bottom(space, bottom_ == 0 ? grid.rows() : at(bottom_).held(), right(bottom_), z);
      for (int k = bottom_ - 1; k >= first_alone; --k) up(space, k, right(k), z, at(k).held());
    });
    for (int k = first_alone - 1; k >= 0; --k) {
      const RowAccess<1> values = right(k);
      const auto sweep = [&](RowRange rows) { up(space, k, values, z, rows); };
      if (k + 1 < whole_) {
        with_halo(grid, shared_->corrections(k + 1), MultigridLevels::correction_depth, at(k + 1).extended_solution,
                  at(k).held(), without_halo_up(k), sweep);
      } else {
        peer.compute([&] { sweep(at(k).held()); });
      }
    }
    work_s_ += grid.own_clock_s() - start_s;
  }

  /// Seconds of the unit's own sweeps since the last call.
  double take_work_s() { return std::exchange(work_s_, 0.0); }

 private:
  UnitLevel<Execution>& at(int level) { return levels_[static_cast<std::size_t>(level)]; }
  const UnitLevel<Execution>& at(int level) const { return levels_[static_cast<std::size_t>(level)]; }
  const MultigridLevel& host(int level) const { return shared_->levels()[static_cast<std::size_t>(level)]; }

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
    const auto& children = host(k).row_axis.transfer.children;
    const RowRange held = at(k).held();
    return inner(at(k).merged(), [&](std::int64_t row) {
      const std::int64_t begin = children[static_cast<std::size_t>(row)].first - 2;
      return std::max<std::int64_t>(0, begin) >= held.begin && std::min(host(k).rows(), begin + 6) <= held.end;
    });
  }
  /// Rows whose results need no merged rows of other units, from `parent` and `other` of them and both neighbours.
  RowRange without_halo_up(int k) const {
    const auto& parents = host(k).row_axis.transfer.parents;
    const RowRange merged = at(k).merged();
    const auto is_own = [&](std::int64_t row) { return row >= merged.begin && row < merged.end; };
    return inner(at(k).held(), [&](std::int64_t row) {
      for (std::int64_t j = std::max<std::int64_t>(0, row - 1); j < std::min(host(k).rows(), row + 2); ++j) {
        const CellParents& way = parents[static_cast<std::size_t>(j)];
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
    const Field& target = k + 1 == whole_ ? part_ : at(k + 1).right_side;
    at(k).down(space, right, target.access(), at(k + 1).columns(), merged);
  }
  void up(const Execution& space, int k, const RowAccess<1>& right, const Field& z, RowRange rows) const {
    const RowAccess<1> result = k == 0 ? z.access() : at(k).solution.access();
    at(k).up(space, right, at(k + 1).extended_solution.access(), result, rows, extended(k, result));
  }
  void solve_bottom(const Execution& space, RowRange rows, const RowAccess<1>& right, const Field& z) const {
    const RowAccess<1> result = bottom_ == 0 ? z.access() : at(bottom_).solution.access();
    UnitLevel<Execution>::bottom(space, {inverse_.data(), host(bottom_).rows(), host(bottom_).columns(), right, result},
                                 rows, extended(bottom_, result));
  }
  /// A level's result at the next finer level's columns, if there is one.
  ExtendedColumns extended(int k, const RowAccess<1>& result) const {
    if (k == 0) return {};
    const LevelAccess& finer = at(k - 1).access();
    const std::int64_t calls = finer.column_transfer.merges ? (finer.columns + 1) / 2 : finer.columns;
    return {finer.column_transfer, calls, result, at(k).extended_solution.access()};
  }

  MultigridLevels* shared_;
  int whole_;
  int bottom_;
  UnitTable<Execution, double> inverse_;
  std::vector<UnitLevel<Execution>> levels_;
  Field part_;  ///< of the right side that is gathered
  double work_s_ = 0.0;
};

}  // namespace steelyard::cavity
