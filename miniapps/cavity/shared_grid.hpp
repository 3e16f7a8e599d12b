#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/row_exchange.hpp"
#include "comm/unit_group.hpp"
#include "miniapps/cavity/row_field.hpp"

namespace steelyard::cavity {

/// A grid whose rows are shared out among the units of all ranks, in the order of their slots: what the units of a rank
/// need to work on it together. See UnitGrid for what one unit does.
class SharedGrid {
 public:
  /// Most components of a field.
  static constexpr int most_components = 2;

  /// @param rows of every slot; a slot may own none
  /// @throws InvalidArgument for another number of slots
  SharedGrid(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t columns);

  UnitGroup& group() const { return group_; }
  std::int64_t rows() const { return begins_.back(); }
  std::int64_t columns() const { return columns_; }
  RowRange rows_of(int slot) const;
  /// Of all slots.
  const std::vector<std::int64_t>& shares() const { return shares_; }

  /// Halos of fields of so many components, `depth` (1 or 2) rows deep.
  RowExchange& exchange(int components, int depth);

 private:
  UnitGroup& group_;
  std::vector<std::int64_t> shares_;
  std::vector<std::int64_t> begins_;
  std::int64_t columns_;
  std::array<std::array<std::unique_ptr<RowExchange>, 2>, most_components> exchanges_;
};

}  // namespace steelyard::cavity
