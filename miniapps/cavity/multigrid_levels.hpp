#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/row_exchange.hpp"
#include "comm/row_gather.hpp"
#include "miniapps/cavity/multigrid_coefficients.hpp"
#include "miniapps/cavity/row_field.hpp"
#include "miniapps/cavity/shared_grid.hpp"

namespace steelyard::cavity {

/// The levels of a multigrid preconditioner and how the units of a rank share them out; made once by every rank, used
/// by both of its units. See MultigridPreconditioner.
///
/// A merged row belongs to the owner of the first row in it. From the first level on that is small, or where a unit
/// that works on the next finer one would get no row, every unit has the whole level and does the same there, without
/// messages. With all rows in one unit nothing is exchanged at all.
class MultigridLevels {
 public:
  /// Levels of at most so many cells are not shared out.
  static constexpr std::int64_t most_whole_cells = 4096;

  /// Collective. @param levels as multigrid_levels() gives them, the finest one the size of the grid
  /// @throws InvalidArgument for another size
  MultigridLevels(SharedGrid& grid, std::vector<MultigridLevel> levels);

  const std::vector<MultigridLevel>& levels() const { return levels_; }
  int count() const { return static_cast<int>(levels_.size()); }
  const std::vector<double>& bottom_inverse() const { return bottom_inverse_; }
  /// The first level that every unit has whole, after a gather; count() if there is none.
  int first_whole() const { return first_whole_; }

  /// What a slot owns of a level, which is shared out or the first whole one.
  RowRange owned(int level, int slot) const;
  /// What a unit holds: its own rows, or the whole level.
  RowRange held(int level, int slot) const;

  /// Of right sides, `right_side_depth` rows, on levels that are shared out.
  RowExchange& right_sides(int level) { return *right_sides_[static_cast<std::size_t>(level)]; }
  /// Of corrections from a level that is shared out, already interpolated to the next finer level's columns.
  RowExchange& corrections(int level) { return *corrections_[static_cast<std::size_t>(level)]; }
  /// Of the first whole level's right side.
  RowGather& gather() { return *gather_; }

  static constexpr std::int64_t right_side_depth = 3;
  static constexpr std::int64_t correction_depth = 2;

 private:
  std::vector<MultigridLevel> levels_;
  std::vector<double> bottom_inverse_;
  int first_whole_ = 0;
  std::vector<std::vector<std::int64_t>> begins_;  ///< by level down to the first whole one and slot, and their end
  std::vector<std::unique_ptr<RowExchange>> right_sides_;
  std::vector<std::unique_ptr<RowExchange>> corrections_;
  std::unique_ptr<RowGather> gather_;
};

}  // namespace steelyard::cavity
