#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/row_exchange.hpp"
#include "comm/unit_group.hpp"
#include "core/sweep/row_field.hpp"
#include "core/sweep/row_sweep.hpp"
#include "core/timing.hpp"

namespace steelyard {

/// A grid whose rows are shared out among the units of all ranks, in the order of their slots: what the units of a rank
/// need to work on it together. See UnitGrid for what one unit does.
class SharedGrid {
 public:
  /// Most components of a field.
  static constexpr int most_components = 2;

  /// @param rows of every slot; a slot may own none
  /// @throws InvalidArgument for another number of slots
  SharedGrid(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t columns)
      : group_(group), shares_(rows.begin(), rows.end()), begins_{0}, columns_(columns) {
    for (const std::int64_t count : rows) begins_.push_back(begins_.back() + count);
    const std::int64_t pitch = RowField<HostExecution>::pitch_of(columns);
    for (int components = 1; components <= most_components; ++components) {
      for (int depth = 1; depth <= 2; ++depth) {
        exchanges_.push_back(std::make_unique<RowExchange>(group, rows, depth, components * pitch));
      }
    }
  }

  UnitGroup& group() const { return group_; }
  std::int64_t rows() const { return begins_.back(); }
  std::int64_t columns() const { return columns_; }
  RowRange rows_of(int slot) const {
    const auto index = static_cast<std::size_t>(slot);
    return {begins_[index], begins_[index + 1]};
  }
  /// Rows of all slots.
  const std::vector<std::int64_t>& shares() const { return shares_; }

  /// Halos of fields of `components` components, `depth` (1 or 2) rows deep.
  RowExchange& exchange(int components, int depth) {
    return *exchanges_.at(static_cast<std::size_t>(2 * (components - 1) + depth - 1));
  }

 private:
  UnitGroup& group_;
  std::vector<std::int64_t> shares_;
  std::vector<std::int64_t> begins_;
  std::int64_t columns_;
  std::vector<std::unique_ptr<RowExchange>> exchanges_;  ///< by components and depth
};

/// One unit's part of a shared grid, and what it does there together with all others: sweeps over its cells, sums over
/// the cells of all units, exchanges of halos. All units call the same in the same order. Bodies of sweeps are called
/// with row and column of a cell, in the unit's own execution space; sweeps count as the unit's work and are fenced.
/// Bodies have names: hosts call a lambda that nvcc compiles for devices as well through a pointer, cell by cell.
template <class Execution>
class UnitGrid {
 public:
  UnitGrid(const UnitPeer<Execution>& peer, SharedGrid& grid)
      : peer_(peer), grid_(&grid), rows_(grid.rows_of(peer_.slot())), sums_(peer_.space(), rows_) {}

  const UnitPeer<Execution>& peer() const { return peer_; }
  SharedGrid& shared() const { return *grid_; }
  const Execution& space() const { return peer_.space(); }
  RowRange rows() const { return rows_; }
  std::int64_t columns() const { return grid_->columns(); }

  /// A field of zeros.
  template <int Components = 1>
  RowField<Execution, Components> field() const {
    return {peer_.space(), rows_, columns()};
  }

  /// Calls `body(j, i)` for the unit's cells.
  template <class Body>
  void for_cells(const char* label, const Body& body) const {
    peer_.compute([&] { steelyard::for_cells(peer_.space(), label, rows_, columns(), body); });
  }

  /// Sums of `body(j, i)`, Terms<N>, over the cells of all units, the same bits on all of them however the rows are
  /// shared out.
  template <int N, class Body>
  std::array<double, N> totals(const char* label, const Body& body) const {
    Sums<N> sums;
    peer_.compute([&] {
      sums_.template sweep<N>(peer_.space(), label, {rows_, {}}, columns(), body);
      sums = sums_.template total<N>(peer_.space(), columns());
    });
    return all_units(sums);
  }

  /// Exchanges a field's halos, `depth` rows deep.
  template <int Components>
  void exchange(RowField<Execution, Components>& field, int depth = 1) const {
    timed_exchange(halo_bytes(field, depth),
                   [&] { grid_->exchange(Components, depth).exchange(peer_, field.origin()); });
  }
  /// Runs `work`, an exchange of `bytes` bytes of the unit.
  template <class Work>
  void timed_exchange(std::int64_t bytes, const Work& work) const {
    peer_.group().count_exchange(peer_.kind(), bytes);
    add_seconds(syncs_.halos_s, work);
  }

  /// Sweeps with bodies that read `field` up to a row away: its halos are exchanged while the
  /// cells that do not need them are swept.
  template <class Body, int Components>
  void for_cells_with_halo(RowField<Execution, Components>& field, const char* label, const Body& body) const {
    const auto sweep = [&](RowRange rows) { steelyard::for_cells(peer_.space(), label, rows, columns(), body); };
    with_halo(field, sweep, [&](RowPieces outer) {
      sweep(outer.first);
      sweep(outer.second);
    });
  }
  template <int N, class Body, int Components>
  std::array<double, N> totals_with_halo(RowField<Execution, Components>& field, const char* label,
                                         const Body& body) const {
    return totals_after<N>(field, label, body, [&](RowRange rows) {
      sums_.template sweep<N>(peer_.space(), label, {rows, {}}, columns(), body);
    });
  }

  /// for_cells() and then totals_with_halo(), for which memory is swept once on the host: `update(j, i)` writes
  /// `field`, which `body(j, i)` reads up to a row away. Updates read nothing that other cells' updates write, nor what
  /// bodies write in other cells.
  template <int N, class Update, class Body, int Components>
  std::array<double, N> for_cells_then_totals(RowField<Execution, Components>& field, const char* update_label,
                                              const Update& update, const char* label, const Body& body) const {
    if (grid_->exchange(Components, 1).any()) {
      peer_.compute([&] {
        const RowPieces outer = outer_rows();
        steelyard::for_cells(peer_.space(), update_label, outer.first, columns(), update);
        steelyard::for_cells(peer_.space(), update_label, outer.second, columns(), update);
      });
    }
    return totals_after<N>(field, label, body, [&](RowRange rows) {
      sums_.template sweep_after<N>(peer_.space(), update_label, update, label, rows, columns(), body);
    });
  }

  /// Sweeps over `all` rows of a field whose halo is exchanged meanwhile: calls `inner(rows)` for those that need no
  /// halo, while it is under way, and then `outer(rows)` for the others at both ends; for none where units exchange
  /// nothing.
  template <class Inner, class Outer, int Components>
  void with_halo(RowExchange& exchange, int depth, RowField<Execution, Components>& field, RowRange all,
                 RowPieces outer_rows, const Inner& inner, const Outer& outer) const {
    timed_exchange(halo_bytes(field, depth), [&] {
      if (exchange.any()) exchange.start(peer_, field.origin());
    });
    if (!exchange.any()) {
      peer_.compute([&] {
        inner(all);
        outer(RowPieces{});
      });
      return;
    }
    peer_.compute([&] { inner(RowRange{outer_rows.first.end, outer_rows.second.begin}); });
    add_seconds(syncs_.halos_s, [&] { exchange.finish(peer_, field.origin()); });
    peer_.compute([&] { outer(outer_rows); });
  }

  /// Sums of all units.
  template <std::size_t N>
  std::array<double, N> all_units(const std::array<CompensatedSum, N>& sums) const {
    std::array<double, N> totals;
    add_seconds(syncs_.sums_s, [&] { peer_.sum(sums, totals); });
    return totals;
  }

  /// Seconds of the unit's synchronisations so far, with the waiting for other units.
  struct SyncSeconds {
    double sums_s = 0.0;
    double halos_s = 0.0;
  };
  const SyncSeconds& sync_seconds() const { return syncs_; }
  /// Seconds of a clock that stands still in synchronisations.
  double own_clock_s() const { return now_s() - syncs_.sums_s - syncs_.halos_s; }

  const CellSums<Execution>& cell_sums() const { return sums_; }

 private:
  template <int Components>
  static std::int64_t halo_bytes(const RowField<Execution, Components>& field, int depth) {
    return depth * field.row_elements() * static_cast<std::int64_t>(sizeof(double));
  }

  /// The rows that need a halo, the first and the last one; the grid's own ends have none to wait for.
  RowPieces outer_rows() const {
    const std::int64_t begin = rows_.begin > 0 ? std::min(rows_.begin + 1, rows_.end) : rows_.begin;
    const std::int64_t end = rows_.end < grid_->rows() ? std::max(rows_.end - 1, begin) : rows_.end;
    return {{rows_.begin, begin}, {end, rows_.end}};
  }

  /// Totals of `body`, whose sums over rows that need no halo are those of `sweep_inner`.
  template <int N, class Body, class SweepInner, int Components>
  std::array<double, N> totals_after(RowField<Execution, Components>& field, const char* label, const Body& body,
                                     const SweepInner& sweep_inner) const {
    Sums<N> sums;
    with_halo(field, sweep_inner, [&](RowPieces outer) {
      sums_.template sweep<N>(peer_.space(), label, outer, columns(), body);
      sums = sums_.template total<N>(peer_.space(), columns());
    });
    return all_units(sums);
  }

  /// Sweeps over the unit's rows that read one row away.
  template <class Inner, class Outer, int Components>
  void with_halo(RowField<Execution, Components>& field, const Inner& inner, const Outer& outer) const {
    with_halo(grid_->exchange(Components, 1), 1, field, rows_, outer_rows(), inner, outer);
  }

  template <class Work>
  static void add_seconds(double& sum_s, const Work& work) {
    const double start_s = now_s();
    work();
    sum_s += now_s() - start_s;
  }

  UnitPeer<Execution> peer_;
  SharedGrid* grid_;
  RowRange rows_;
  CellSums<Execution> sums_;
  mutable SyncSeconds syncs_;
};

}  // namespace steelyard
