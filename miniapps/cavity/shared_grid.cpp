#include "miniapps/cavity/shared_grid.hpp"

namespace steelyard::cavity {

SharedGrid::SharedGrid(UnitGroup& group, std::span<const std::int64_t> rows, std::int64_t columns)
    : group_(group), shares_(rows.begin(), rows.end()), begins_{0}, columns_(columns) {
  for (const std::int64_t count : rows) begins_.push_back(begins_.back() + count);
  const std::int64_t pitch = RowField<HostExecution>::pitch_of(columns);
  for (int components = 1; components <= most_components; ++components) {
    for (int depth = 1; depth <= 2; ++depth) {
      exchanges_[static_cast<std::size_t>(components - 1)][static_cast<std::size_t>(depth - 1)] =
          std::make_unique<RowExchange>(group, rows, depth, components * pitch);
    }
  }
}

RowRange SharedGrid::rows_of(int slot) const {
  const auto index = static_cast<std::size_t>(slot);
  return {begins_[index], begins_[index + 1]};
}

RowExchange& SharedGrid::exchange(int components, int depth) {
  return *exchanges_.at(static_cast<std::size_t>(components - 1)).at(static_cast<std::size_t>(depth - 1));
}

}  // namespace steelyard::cavity
