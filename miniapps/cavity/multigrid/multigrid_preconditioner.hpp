#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "comm/unit_grid.hpp"
#include "core/sweep/host_row.hpp"
#include "core/sweep/row_field.hpp"
#include "core/sweep/row_sweep.hpp"
#include "miniapps/cavity/multigrid/level_kernels.hpp"
#include "miniapps/cavity/multigrid/levels.hpp"

namespace steelyard::cavity {

/// A level of a multigrid preconditioner as one unit holds it, in the unit's memory, and sweeps over it by the unit's
/// threads; the caller fences.
template <class Execution>
class UnitLevel {
 public:
  using Field = RowField<Execution>;

  /// @param rows,coarser_rows `held` and `merged`
  UnitLevel(const Execution& space, const MultigridLevel& level, RowRange rows, RowRange coarser_rows)
      : held(rows), merged(coarser_rows) {
    access.columns = level.columns();
    access.column_faces = table(space, level.column_axis.faces);
    access.row_weights = table(space, level.row_axis.weights);
    access.row_faces = table(space, level.row_axis.faces);
    access.column_weights = table(space, level.column_axis.weights);
    const AxisTransfer& transfer = level.row_axis.transfer;
    if (transfer.parents.empty()) return;
    add_diagonals(space, level);
    parents_ = {space, transfer.parents, padding};
    children_ = {space, transfer.children, padding};
    access.parents = parents_.data();
    access.children = children_.data();
    add_columns(space, level.column_axis.transfer);
    if constexpr (runs_on_host<Execution>) {
      scratch_ = Field(space, RowRange{0, space.concurrency()}, MultigridHostRows::scratch_elements(access.columns));
    } else {
      scratch_ = Field(space, merged, access.columns + 2);
    }
  }

  RowRange held;    ///< rows that the unit works on
  RowRange merged;  ///< rows of the next coarser level's right side that it computes
  LevelAccess access;
  // Without memory on the finest level.
  Field right_side;
  Field solution;
  Field extended_solution;   ///< at the next finer level's columns
  ExtendedColumns extended;  ///< of the solution to these

  /// Restricts what a step of damped Jacobi from 0 leaves of r to `rows` of the next coarser level's right side.
  void down(const Execution& space, const RowAccess<1>& r, const Field& coarser, RowRange rows) const {
    constexpr const char* label = "steelyard::cavity::multigrid_down";
    const RowAccess<1> result = coarser.access();
    const std::int64_t columns = coarser.columns();
    if constexpr (runs_on_host<Execution>) {
      by_thread(space, label, rows, 2 * access.columns,
                [=](const MultigridHostRows& host, RowRange chunk) { host.down(r, result, columns, chunk); });
    } else {
      const RowAccess<1> half = scratch_.access();
      for_cells(space, label, rows, access.columns, detail::MergedRows{access, r, half});
      for_cells(space, label, rows, columns, detail::MergedColumns{access.column_transfer, half, result});
    }
  }

  /// z: a step of damped Jacobi from 0, the correction, and another step; then the same at the finer level's columns.
  void up(const Execution& space, const RowAccess<1>& r, const RowAccess<1>& correction, const RowAccess<1>& z,
          RowRange rows) const {
    constexpr const char* label = "steelyard::cavity::multigrid_up";
    if constexpr (runs_on_host<Execution>) {
      const ExtendedColumns& finer = extended;
      by_thread(space, label, rows, access.columns, [=](const MultigridHostRows& host, RowRange chunk) {
        host.up(r, correction, z, chunk, [&](std::int64_t j) { finer.row(j); });
      });
    } else {
      for_cells(space, label, rows, access.columns, detail::CorrectedStep{access, r, correction, z});
      for_cells(space, label, rows, extended.columns, extended);
    }
  }

  /// z = G r, of the coarsest level; then the same at the finer level's columns.
  void bottom(const Execution& space, const detail::BottomSolve& solve, RowRange rows) const {
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
  static constexpr std::size_t padding = 4;

  RowPointer<const double> table(const Execution& space, const std::vector<double>& values) {
    return numbers_.emplace_back(space, values, padding).data();
  }

  void add_columns(const Execution& space, const AxisTransfer& axis) {
    ColumnTransfer& transfer = access.column_transfer;
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
    access.kind_pitch = RowField<Execution>::pitch_of(access.columns);
    std::map<std::pair<double, double>, std::int32_t> kinds;
    std::vector<std::int32_t> kind_of_row;
    std::vector<double> quotients;
    const LevelAxis& axis = level.row_axis;
    for (std::size_t row = 0; row < axis.weights.size(); ++row) {
      const auto [found, is_new] = kinds.emplace(std::pair(axis.weights[row], axis.faces[row] + axis.faces[row + 1]),
                                                 static_cast<std::int32_t>(kinds.size()));
      kind_of_row.push_back(found->second);
      if (!is_new) continue;
      for (std::int64_t i = 0; i < access.kind_pitch; ++i) {
        const double diagonal = i < access.columns ? level.diagonal(row, static_cast<std::size_t>(i)) : 0.0;
        quotients.push_back(diagonal > 0.0 ? multigrid_damping / diagonal : 0.0);
      }
    }
    kind_of_row_ = {space, kind_of_row, padding};
    access.kind_of_row = kind_of_row_.data();
    access.inverse_diagonals = table(space, quotients);
  }

  /// Calls `body` for the rows of each host thread.
  template <class Body>
  void by_thread(const Execution& space, const char* label, RowRange rows, std::int64_t row_cells,
                 const Body& body) const {
    const RowAccess<1> scratch = scratch_.access();
    const LevelAccess level = access;
    for_row_chunks(space, label, rows, row_cells, [=](const std::int64_t thread, RowRange chunk) {
      body(MultigridHostRows(level, scratch.row(thread)), chunk);
    });
  }

  std::vector<UnitTable<Execution, double>> numbers_;
  UnitTable<Execution, std::int32_t> kind_of_row_;
  UnitTable<Execution, CellParents> parents_;
  UnitTable<Execution, CellChildren> children_;
  Field scratch_;  ///< a row for each thread of a host; merged rows of a device
};

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
      const std::int64_t columns = level.access.columns;
      // A gather leaves all rows, even in units that do not work on them.
      if (k == whole_) level.right_side = Field(grid.space(), RowRange{0, host(k).rows()}, columns);
      if (k == whole_) part_ = Field(grid.space(), shared.owned(k, slot), columns);
      if (k == 0) continue;
      if (k != whole_) level.right_side = Field(grid.space(), held, columns);
      // A column more, of zeros: with an odd number of finer columns the last pair asks for it.
      level.solution = Field(grid.space(), held, columns + 1);
      const LevelAccess& finer = at(k - 1).access;
      level.extended_solution = Field(grid.space(), held, finer.columns);
      const std::int64_t calls = finer.column_transfer.merges ? (finer.columns + 1) / 2 : finer.columns;
      level.extended = {finer.column_transfer, calls, level.solution.access(), level.extended_solution.access()};
    }
  }

  /// z = M^-1 r in the unit's own rows. All units call it. @param r its ghost rows are overwritten
  void apply(const UnitGrid<Execution>& grid, Field& r, Field& z) {
    const UnitPeer<Execution>& peer = grid.peer();
    const Execution& space = peer.space();
    const double start_s = grid.own_clock_s();
    const int first_alone = std::min(bottom_, whole_);
    const auto right = [&](int k) -> Field& { return k == 0 && whole_ > 0 ? r : at(k).right_side; };
    const auto down = [&](int k, RowRange rows) {
      at(k).down(space, right(k).access(), k + 1 == whole_ ? part_ : at(k + 1).right_side, rows);
    };
    const auto solution = [&](int k) { return k == 0 ? z.access() : at(k).solution.access(); };
    const auto up = [&](int k, RowRange rows) {
      at(k).up(space, right(k).access(), at(k + 1).extended_solution.access(), solution(k), rows);
    };
    for (int k = 0; k < first_alone; ++k) {
      with_halo(grid, shared_->right_sides(k), MultigridLevels::right_side_depth, right(k), k, at(k).merged, down);
    }
    if (whole_ <= bottom_) {
      const Field& part = whole_ == 0 ? r : part_;
      const Field& whole = at(whole_).right_side;
      const std::int64_t bytes =
          whole.rows().count() * whole.row_elements() * static_cast<std::int64_t>(sizeof(double));
      grid.timed_exchange(bytes, [&] { shared_->gather().gather(peer, part.slice(), whole.slice()); });
    }
    peer.compute([&] {
      for (int k = first_alone; k < bottom_; ++k) down(k, at(k).merged);
      at(bottom_).bottom(
          space,
          {inverse_.data(), host(bottom_).rows(), host(bottom_).columns(), right(bottom_).access(), solution(bottom_)},
          bottom_ == 0 ? grid.rows() : at(bottom_).held);
      for (int k = bottom_ - 1; k >= first_alone; --k) up(k, at(k).held);
    });
    for (int k = first_alone - 1; k >= 0; --k) {
      if (k + 1 < whole_) {
        with_halo(grid, shared_->corrections(k + 1), MultigridLevels::correction_depth, at(k + 1).extended_solution, k,
                  at(k).held, up);
      } else {
        peer.compute([&] { up(k, at(k).held); });
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

  /// Calls `sweep(k, rows)` of level k, while the halo is exchanged for rows that read none of `field`.
  template <class Sweep>
  void with_halo(const UnitGrid<Execution>& grid, RowExchange& exchange, int depth, Field& field, int k, RowRange rows,
                 const Sweep& sweep) const {
    // Down, a merged row reads from two rows before its first one to three behind that. Up, a row and both neighbours
    // read merged rows that begin from two rows before them to one behind. Merged rows begin at least a row apart, and
    // belong to the owner of their first row: three rows at an end that has a neighbour suffice, merging or not.
    constexpr std::int64_t outer_rows = 3;
    const RowRange held = at(k).held;
    const std::int64_t begin = held.begin > 0 ? std::min(rows.begin + outer_rows, rows.end) : rows.begin;
    const std::int64_t end = held.end < host(k).rows() ? std::max(rows.end - outer_rows, begin) : rows.end;
    grid.with_halo(
        exchange, depth, field, rows, {{rows.begin, begin}, {end, rows.end}}, [&](RowRange inner) { sweep(k, inner); },
        [&](RowPieces outer) {
          sweep(k, outer.first);
          sweep(k, outer.second);
        });
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
