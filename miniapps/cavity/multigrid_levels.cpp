#include "miniapps/cavity/multigrid_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/errors.hpp"

namespace steelyard::cavity {
namespace {

std::vector<std::int64_t> counts(const std::vector<std::int64_t>& begins) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 1; i < begins.size(); ++i) all.push_back(begins[i] - begins[i - 1]);
  return all;
}

/// The slots' merged rows: those whose first row is theirs.
std::vector<std::int64_t> merged_begins(const std::vector<std::int64_t>& begins,
                                        const std::vector<std::int32_t>& first) {
  std::vector<std::int64_t> merged;
  for (const std::int64_t begin : begins) {
    merged.push_back(std::lower_bound(first.begin(), first.end(), begin) - first.begin());
  }
  return merged;
}

bool leaves_rows(const std::vector<std::int64_t>& begins, const std::vector<std::int64_t>& merged) {
  for (std::size_t i = 1; i < begins.size(); ++i) {
    if (begins[i] > begins[i - 1] && merged[i] == merged[i - 1]) return false;
  }
  return true;
}

}  // namespace

MultigridLevels::MultigridLevels(SharedGrid& grid, std::vector<MultigridLevel> levels)
    : levels_(std::move(levels)), bottom_inverse_(cavity::bottom_inverse(levels_.back())), begins_{{0}} {
  if (levels_.front().rows() != grid.rows() || levels_.front().columns() != grid.columns()) {
    throw InvalidArgument(fmt::format("multigrid levels of {} x {} cells (expected {} x {})", levels_.front().rows(),
                                      levels_.front().columns(), grid.rows(), grid.columns()));
  }
  for (const std::int64_t count : grid.shares()) begins_[0].push_back(begins_[0].back() + count);
  const auto alone = std::count_if(grid.shares().begin(), grid.shares().end(), [](auto rows) { return rows > 0; }) <= 1;
  first_whole_ = count();
  for (int level = 0; level < count(); ++level) {
    const auto index = static_cast<std::size_t>(level);
    if (level > 0) {
      begins_.push_back(merged_begins(begins_[index - 1], levels_[index - 1].row_transfer.first));
      const bool is_small = levels_[index].cells() <= most_whole_cells;
      if (!alone && (is_small || !leaves_rows(begins_[index - 1], begins_[index]))) first_whole_ = level;
    } else if (!alone && count() == 1) {
      first_whole_ = level;
    }
    const std::int64_t pitch = RowField<HostExecution>::pitch_of(levels_[index].columns());
    const std::vector<std::int64_t> rows = counts(begins_[index]);
    if (level == first_whole_) {
      gather_ = std::make_unique<RowGather>(grid.group(), rows, pitch);
      break;
    }
    right_sides_.push_back(std::make_unique<RowExchange>(grid.group(), rows, right_side_depth, pitch));
    const std::int64_t finer_pitch =
        level == 0 ? pitch : RowField<HostExecution>::pitch_of(levels_[index - 1].columns());
    corrections_.push_back(std::make_unique<RowExchange>(grid.group(), rows, correction_depth, finer_pitch));
  }
}

RowRange MultigridLevels::owned(int level, int slot) const {
  const std::vector<std::int64_t>& begins = begins_[static_cast<std::size_t>(level)];
  return {begins[static_cast<std::size_t>(slot)], begins[static_cast<std::size_t>(slot) + 1]};
}

RowRange MultigridLevels::held(int level, int slot) const {
  if (level < first_whole_) return owned(level, slot);
  // Who has no cells of the finest grid has no use for whole levels either.
  if (owned(0, slot).empty()) return {0, 0};
  return {0, levels_[static_cast<std::size_t>(level)].rows()};
}

}  // namespace steelyard::cavity
