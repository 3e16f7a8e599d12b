#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "miniapps/gemm/out_of_core/blocking.hpp"
#include "tests/miniapps/gemm/random_blockings.hpp"

namespace steelyard::test_block_steps {

using namespace steelyard::gemm;
using tests::any_of;
using tests::moved_by_steps;
using tests::random_blocking;
using tests::random_in_core;

namespace {

using Random = std::mt19937_64;
using Block = std::pair<std::int64_t, std::int64_t>;

/// Buffers of one kind, each with what it holds and when that was last used.
class Buffers {
 public:
  explicit Buffers(std::int64_t count) : held_(static_cast<std::size_t>(count)) {}

  /// Uses a buffer for a block; whether the block was there. It is looked for in every buffer, and where it is in none
  /// the buffer is the one least recently used.
  bool use(std::int64_t buffer, const Block& block) {
    REQUIRE(buffer >= 0);
    REQUIRE(static_cast<std::size_t>(buffer) < held_.size());
    Held& used = held_[static_cast<std::size_t>(buffer)];
    const bool somewhere =
        std::any_of(held_.begin(), held_.end(), [&](const Held& held) { return held.block == block; });
    const bool here = used.block == block;
    REQUIRE(here == somewhere);
    if (!here) {
      for (const Held& held : held_) REQUIRE(used.last_use <= held.last_use);
    }
    before_ = used.block;
    used = {block, ++now_};
    return here;
  }
  /// What was in the buffer that was used last; {-1, -1} for nothing.
  const Block& before() const { return before_; }

 private:
  struct Held {
    Block block{-1, -1};
    std::int64_t last_use = 0;
  };
  std::vector<Held> held_;
  Block before_{-1, -1};
  std::int64_t now_ = 0;
};

/// A block of C: how often it was updated, and whether the host has that.
struct State {
  std::int64_t updates = 0;
  bool on_host = true;
};

/// Takes the steps with buffers that know what they hold and blocks that know where their value is.
void simulate(const Blocking& blocking, bool reads_c) {
  const BlockGrid& grid = blocking.grid;
  Buffers a(blocking.a_buffers), b(1), c(blocking.c_buffers);
  std::vector<State> states(static_cast<std::size_t>(grid.rows() * grid.columns()));
  const auto state_of = [&](const Block& block) -> State& {
    return states[static_cast<std::size_t>(block.first * grid.columns() + block.second)];
  };
  for (const BlockStep& step : make_block_steps(blocking, reads_c)) {
    CAPTURE(step.row, step.column, step.panel);
    REQUIRE((step.row >= 0 && step.row < grid.rows()));
    REQUIRE((step.column >= 0 && step.column < grid.columns()));
    const Block block{step.row, step.column};
    State& state = state_of(block);
    REQUIRE(step.panel == state.updates);
    REQUIRE(step.first == (state.updates == 0));

    REQUIRE(step.load_a != a.use(step.a_buffer, {step.row, step.panel}));
    REQUIRE(step.load_b != b.use(0, {step.panel, step.column}));
    const bool c_is_there = c.use(step.c_buffer, block);
    REQUIRE(step.load_c == (!c_is_there && (reads_c || !step.first)));
    if (c_is_there) {
      // It was not stored: nothing else took its buffer.
      REQUIRE(!state.on_host);
    } else {
      REQUIRE(state.on_host);
      if (c.before().first >= 0) REQUIRE(state_of(c.before()).on_host);
    }

    ++state.updates;
    state.on_host = step.store_c;
  }
  for (const State& state : states) {
    REQUIRE(state.updates == grid.panels());
    REQUIRE(state.on_host);
  }
}

}  // namespace

TEST_CASE("every block of C gets every panel once, from buffers that hold what is needed, and comes back whole") {
  Random random(1);
  for (int trial = 0; trial < 400; ++trial) {
    Blocking blocking = random_blocking(random, 6, 4);
    // With one buffer as with two.
    blocking.a_buffers = any_of(random, 1, 2);
    blocking.c_buffers = any_of(random, 1, 2);
    const bool reads_c = any_of(random, 0, 1) == 1;
    CAPTURE(trial, blocking.a_buffers, blocking.c_buffers, reads_c);
    simulate(blocking, reads_c);
    simulate(random_in_core(random, 5, 4), reads_c);
  }
}

TEST_CASE("blocks of C are taken down one column and up the next, and in the opposite order for every second panel") {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const Blocking blocking = random_blocking(random, 6, 4);
    const std::int64_t rows = blocking.grid.rows(), columns = blocking.grid.columns();
    const std::vector<BlockStep> steps = make_block_steps(blocking, true);
    REQUIRE(steps.size() == static_cast<std::size_t>(rows * columns * blocking.grid.panels()));
    std::size_t next = 0;
    for (std::int64_t panel = 0; panel < blocking.grid.panels(); ++panel) {
      for (std::int64_t i = 0; i < rows * columns; ++i, ++next) {
        const std::int64_t place = panel % 2 == 0 ? i : rows * columns - 1 - i;
        const std::int64_t column = place / rows;
        const std::int64_t row = column % 2 == 0 ? place % rows : rows - 1 - place % rows;
        REQUIRE(steps[next].panel == panel);
        REQUIRE(steps[next].column == column);
        REQUIRE(steps[next].row == row);
      }
    }
  }
}

TEST_CASE("in core every element moves once in each direction that it needs, each row of blocks in its own buffers") {
  Random random(4);
  for (int trial = 0; trial < 200; ++trial) {
    const Blocking blocking = random_in_core(random, 5, 6);
    const BlockGrid& grid = blocking.grid;
    for (const bool reads_c : {true, false}) {
      for (const BlockStep& step : make_block_steps(blocking, reads_c)) {
        REQUIRE(step.a_buffer == step.row);
        REQUIRE(step.c_buffer == step.row);
      }
      const auto moved = moved_by_steps(blocking, reads_c);
      REQUIRE(moved.a == grid.m * grid.k);
      REQUIRE(moved.b == grid.k * grid.n);
      REQUIRE(moved.c == (reads_c ? grid.m * grid.n : 0));
      REQUIRE(moved.stored == grid.m * grid.n);
    }
  }
}

TEST_CASE("an empty C takes no step") {
  Random random(5);
  Blocking blocking = random_blocking(random, 5, 4);
  (GENERATE(true, false) ? blocking.grid.m : blocking.grid.n) = 0;
  REQUIRE(make_block_steps(blocking, true).empty());
}

}  // namespace steelyard::test_block_steps
