#pragma once

#include <cstdint>
#include <vector>

namespace steelyard::gemm {

/// C = alpha A B + beta C cut into blocks: C into rows() x columns() of at most height x width, A and B into panels()
/// panels of at most `depth` columns and rows. All but the last of each direction have full size.
struct BlockGrid {
  std::int64_t m = 0, n = 0, k = 0;               ///< A is m x k, B k x n, C m x n
  std::int64_t height = 1, width = 1, depth = 1;  ///< of a block; at least 1

  std::int64_t rows() const { return count(m, height); }
  std::int64_t columns() const { return count(n, width); }
  /// At least 1: without a column in A there is still beta C to compute.
  std::int64_t panels() const { return k > 0 ? count(k, depth) : 1; }

 private:
  static std::int64_t count(std::int64_t extent, std::int64_t block) { return (extent + block - 1) / block; }
};

/// How a device multiplies within its memory: block sizes, and buffers that hold a height x depth block of A, a depth x
/// width block of B or a height x width block of C. There is one buffer for B. In core, each row of blocks has a buffer
/// for A and one for C, in order; together these have as many rows as the multiple of 32 that holds m.
struct Blocking {
  BlockGrid grid;
  std::int64_t a_buffers = 1;
  std::int64_t c_buffers = 1;
  bool in_core = true;  ///< all of A, B and C have a buffer of their own: nothing moves twice

  /// Rows of the buffer number i of A, or of C.
  std::int64_t buffer_rows(std::int64_t i) const;
  /// Elements of all buffers together.
  double buffer_elements() const;
  /// Elements that go to the device and back when blocks are taken in the order of make_block_steps().
  double moved_elements(bool reads_c) const;
};

/// The memory of a device, and the block sizes that suit it.
struct BlockingGoal {
  double memory_bytes = 0.0;
  double element_bytes = 8.0;
  std::int64_t least_extent = 128;  ///< blocks of C with fewer rows or columns are slow: only where memory forces it
  std::int64_t in_core_blocks =
      1;  ///< at least 1; rows of blocks in core, whose transfers overlap with each other's computation
};

/// In core if all matrices fit; otherwise five buffers, A0 A1 B0 C0 C1, in block sizes that move the fewest elements.
/// Sizes of blocks, and so leading dimensions of buffers, are multiples of 32. Source: 000, section 4.2.1.
/// @throws InvalidArgument where the matrices do not fit and the memory does not hold five buffers of 32 x 32
Blocking plan_blocking(std::int64_t m, std::int64_t n, std::int64_t k, bool reads_c, const BlockingGoal& goal);

/// The same for panels of a given depth, one after the other: the depth is kept as it is.
/// @throws InvalidArgument where the matrices do not fit with a panel of A and B, and five buffers of 32 rows or
/// columns do not either
Blocking plan_panel_blocking(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t depth,
                             const BlockingGoal& goal);

/// Bytes without which plan_blocking() has no plan for any large matrices: five buffers of 32 x 32.
double least_memory_bytes(double element_bytes);

/// Likewise for plan_panel_blocking().
double least_panel_memory_bytes(double element_bytes, std::int64_t depth);

/// The multiple of 32 that holds an extent, as a buffer's are; 32 for none.
std::int64_t padded_extent(std::int64_t extent);

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
/// panel. Buffers are taken in turns (least recently used); a block that is still in a buffer is not loaded again, and
/// a block of C is stored only when another one takes its buffer or nothing more is added to it.
/// @param reads_c whether the first update of a block reads it (beta is not 0)
/// Source: 000, section 4.2.1, Algorithm 1 and the text after it.
std::vector<BlockStep> make_block_steps(const Blocking& blocking, bool reads_c);

}  // namespace steelyard::gemm
