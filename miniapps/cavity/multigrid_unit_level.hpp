#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/host_copy.hpp"
#include "miniapps/cavity/multigrid_levels.hpp"
#include "miniapps/cavity/multigrid_sweeps.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {

/// A table in a unit's memory, padded with its first and last entries.
template <class Execution, class Element>
class UnitTable {
 public:
  UnitTable() = default;
  UnitTable(const Execution& space, const std::vector<Element>& values, std::size_t padding = 0) : padding_(padding) {
    std::vector<Element> padded(padding, values.front());
    padded.insert(padded.end(), values.begin(), values.end());
    padded.resize(padded.size() + padding, values.back());
    memory_ = Kokkos::View<Element*, DeviceOf<Execution>>(
        Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::cavity::table"), padded.size());
    copy_from_host(space, memory_.data(), padded.data(), padded.size());
    space.fence();
  }

  const Element* data() const { return memory_.data() + padding_; }

 private:
  std::size_t padding_ = 0;
  Kokkos::View<Element*, DeviceOf<Execution>> memory_;
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
    sweeps_ = MultigridSweeps<Execution>(space, access_, merged);
  }

  const LevelAccess& access() const { return access_; }
  RowRange held() const { return held_; }
  RowRange merged() const { return merged_; }
  std::int64_t columns() const { return access_.columns; }
  /// Of all levels but the coarsest.
  const MultigridSweeps<Execution>& sweeps() const { return sweeps_; }

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
  MultigridSweeps<Execution> sweeps_;
};

}  // namespace steelyard::cavity
