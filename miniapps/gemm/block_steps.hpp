#pragma once

#include <cstdint>
#include <vector>

#include "miniapps/gemm/blocking.hpp"

namespace steelyard::gemm {

/// The update of one block of C by one panel: block(row, column) += A(row, panel) B(panel, column).
struct BlockStep {
  std::int64_t row = 0, column = 0, panel = 0;
  std::int64_t a_buffer = 0, c_buffer = 0;  ///< B has one buffer
  bool load_a = false, load_b = false;      ///< the buffer does not hold the block yet
  bool load_c = false;                      ///< as above, and the block is read
  bool first = false;                       ///< update of this block: C = alpha A B + beta C rather than C += alpha A B
  bool store_c = false;                     ///< the block leaves its buffer, finished or not
};

/// The order of Algorithm 1: blocks of C column by column, every second column from the bottom up so that A's block
/// stays, and for every second panel the whole order reversed, so that the last two blocks of C stay for the next
/// panel. Buffers are taken in turns (least recently used); what a buffer still holds is not loaded again, and a block
/// of C is stored only when another one takes its buffer or nothing more is added to it.
/// @param reads_c whether the first update of a block reads it (beta is not 0)
/// Source: 000, section 4.2.1, Algorithm 1 and the text after it.
std::vector<BlockStep> make_block_steps(const Blocking& blocking, bool reads_c);

}  // namespace steelyard::gemm
