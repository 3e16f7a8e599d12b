#include "miniapps/gemm/block_steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace steelyard::gemm {
namespace {

using Block = std::array<std::int64_t, 2>;

/// What buffers of one kind hold. The least recently used one makes room.
class Buffers {
 public:
  explicit Buffers(std::int64_t count) : held_(static_cast<std::size_t>(count)) {}

  struct Place {
    std::int64_t buffer = 0;
    bool loads = false;                 ///< the buffer did not hold the block
    std::optional<std::size_t> evicts;  ///< step that last used the block that had to go
  };

  /// The buffer of a block that `step` uses.
  /// @param only the one that has room for it, if not all have
  Place use(const Block& block, std::size_t step, std::optional<std::int64_t> only = {}) {
    auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& held) { return held.block == block; });
    Place place;
    if (found == held_.end()) {
      found = only ? held_.begin() + *only
                   : std::min_element(held_.begin(), held_.end(),
                                      [](const Held& x, const Held& y) { return x.last_use < y.last_use; });
      place.loads = true;
      place.evicts = found->last_use;
      found->block = block;
    }
    found->last_use = step;
    place.buffer = found - held_.begin();
    return place;
  }

  /// The steps that last used what is held.
  std::vector<std::size_t> last_uses() const {
    std::vector<std::size_t> steps;
    for (const Held& held : held_) {
      if (held.last_use) steps.push_back(*held.last_use);
    }
    return steps;
  }

 private:
  struct Held {
    std::optional<Block> block;
    std::optional<std::size_t> last_use;  // an empty one is less than any other
  };
  std::vector<Held> held_;
};

/// Rows and columns of all blocks of C in the order of the first panel.
std::vector<Block> column_by_column(const BlockGrid& grid) {
  std::vector<Block> blocks;
  for (std::int64_t column = 0; column < grid.columns(); ++column) {
    for (std::int64_t i = 0; i < grid.rows(); ++i) {
      blocks.push_back({column % 2 == 0 ? i : grid.rows() - 1 - i, column});
    }
  }
  return blocks;
}

}  // namespace

std::vector<BlockStep> make_block_steps(const Blocking& blocking, bool reads_c) {
  std::vector<Block> order = column_by_column(blocking.grid);
  std::vector<BlockStep> steps;
  Buffers a(blocking.a_buffers), b(1), c(blocking.c_buffers);
  for (std::int64_t panel = 0; panel < blocking.grid.panels(); ++panel) {
    for (const auto& [row, column] : order) {
      const std::size_t now = steps.size();
      // In core the last row of blocks has a buffer that is too small for the others.
      const Buffers::Place in_a =
          a.use({row, panel}, now, blocking.in_core ? std::optional<std::int64_t>(row) : std::nullopt);
      const Buffers::Place in_c = c.use({row, column}, now);
      BlockStep step{row, column, panel, in_a.buffer, in_c.buffer};
      step.first = panel == 0;
      step.load_a = in_a.loads;
      step.load_b = b.use({column, panel}, now).loads;
      step.load_c = in_c.loads && (reads_c || !step.first);
      if (in_c.evicts) steps[*in_c.evicts].store_c = true;
      steps.push_back(step);
    }
    std::reverse(order.begin(), order.end());
  }
  for (const std::size_t step : c.last_uses()) steps[step].store_c = true;
  return steps;
}

}  // namespace steelyard::gemm
