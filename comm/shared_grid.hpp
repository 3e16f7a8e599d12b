#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/row_exchange.hpp"
#include "comm/unit_group.hpp"
#include "core/sweep/row_field.hpp"

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

}  // namespace steelyard
