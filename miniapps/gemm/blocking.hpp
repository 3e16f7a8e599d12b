#pragma once

#include <cstdint>
#include <vector>

#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// C = alpha A B + beta C for A of rows x k and B of k x columns, which come whole, or in panels of `depth` columns of
/// A and rows of B (the last one may have fewer).
struct PanelProblem {
  std::int64_t rows = 0, columns = 0, k = 0;
  std::int64_t depth = 0;  ///< 0: whole
  double alpha = 1.0, beta = 1.0;
};

/// How a device multiplies within its memory: C of m x n is cut into rows() x columns() blocks of at most height x
/// width, A and B into panels() panels of at most `depth` columns and rows. All but the last of each direction have
/// full size. Buffers hold a height x depth block of A, a depth x width block of B or a height x width block of C.
struct Blocking {
  std::int64_t m = 0, n = 0, k = 0;               ///< k is 0 where A and B are not read
  std::int64_t height = 1, width = 1, depth = 1;  ///< of a block; at least 1
  bool reads_c = false;
  /// All of A, B and C have a buffer: nothing moves twice. Each row of blocks has one for A and one for C, in order;
  /// together these have as many rows as the multiple of 32 that holds m.
  bool in_core = true;
  std::int64_t buffers = 1;  ///< of A, and as many of C; there is one of B

  std::int64_t rows() const { return quotient_up(m, height); }
  std::int64_t columns() const { return quotient_up(n, width); }
  /// At least 1: without a column in A there is still beta C to compute.
  std::int64_t panels() const { return k > 0 ? quotient_up(k, depth) : 1; }
  /// Rows of the buffer number i of A, or of C.
  std::int64_t buffer_rows(std::int64_t i) const;
  /// Elements of all buffers together.
  double buffer_elements() const;
  /// Elements that go to the device and back when blocks are taken in the order of make_block_steps().
  double moved_elements() const;
  /// Elements of the first step's loads and of the last one's store, which no multiplication hides.
  double exposed_elements() const;
};

/// The memory of a device, and the block sizes that suit it.
struct BlockingGoal {
  double memory_bytes = 0.0;
  double element_bytes = 8.0;
  std::int64_t least_extent = 128;  ///< blocks of C with fewer rows or columns are slow: only where memory forces it
  /// Rows of blocks in core, whose transfers overlap with each other's computation; 1: nothing overlaps.
  std::int64_t in_core_blocks = 1;
};

/// In core if C and all of A and B, or a panel of them, fit; otherwise five buffers, A0 A1 B0 C0 C1, in block sizes
/// that move the fewest elements or, where transfers overlap with computation, that move and expose the fewest
/// together. Sizes of blocks, and so leading dimensions of buffers, are multiples of 32, but for a depth that is given.
/// Source: 000, section 4.2.1.
/// @throws InvalidArgument where the matrices do not fit and the memory is less than least_memory_bytes()
Blocking plan_blocking(const PanelProblem& problem, const BlockingGoal& goal);

/// Bytes without which there is no plan for any large matrices: five buffers of 32 rows or columns and, for A and B, of
/// the depth that is given.
double least_memory_bytes(double element_bytes, std::int64_t depth = 0);

/// The multiple of 32 that holds an extent, as a buffer's are; 32 for none.
std::int64_t padded_extent(std::int64_t extent);

/// The update of one block of C by one panel.
struct BlockStep {
  partition::Rectangle c;                   ///< the block, in elements of C
  std::int64_t depth = 0;                   ///< columns of A, and rows of B
  std::int64_t a_buffer = 0, c_buffer = 0;  ///< B has one buffer
  bool load_a = false, load_b = false;      ///< the buffer does not hold the block yet
  bool load_c = false;                      ///< as above, and the block is read
  bool scales_c = false;                    ///< update: C = alpha A B + beta C rather than C += alpha A B
  bool store_c = false;                     ///< the block leaves its buffer, finished or not
};

/// The order of Algorithm 1: blocks of C column by column, every second column from the bottom up so that A's block
/// stays, and for every second panel the whole order reversed, so that the last two blocks of C stay for the next
/// panel. Buffers are taken in turns (least recently used); a block that is still in a buffer is not loaded again, and
/// a block of C is stored only when another one takes its buffer or nothing more is added to it.
/// Source: 000, section 4.2.1, Algorithm 1 and the text after it.
std::vector<BlockStep> make_block_steps(const Blocking& blocking);

}  // namespace steelyard::gemm
