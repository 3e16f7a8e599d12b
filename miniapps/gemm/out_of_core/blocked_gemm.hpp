#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/memory/matrix.hpp"
#include "miniapps/gemm/out_of_core/blocking.hpp"

namespace steelyard::gemm {

/// The multiplication of matrices in host memory on a device of little memory, block by block. Three engines load,
/// multiply and store at the same time, each in the order of its queue; an operation on a buffer waits for events of
/// the other engines, as in Algorithm 1. The algorithm's stream per block is here a queue per engine, with the same
/// order of operations on each (Fig. 4.6).
///
/// `Engines` does the work, all of it possibly later, and has
///   - types `Execution` and `Scalar`; `Event`, the end of an operation; a new one stands for none and has happened
///   - `Event load(Matrix<Execution, Scalar> to, ConstMatrix<HostExecution, Scalar> from, Events after)`
///   - `Event multiply(Scalar alpha, ConstMatrix<Execution, Scalar> a, b, Scalar beta, Matrix<Execution, Scalar> c,
///     Events after)`
///   - `Event store(Matrix<HostExecution, Scalar> to, ConstMatrix<Execution, Scalar> from, Events after)`
///   - `void finish()`, which returns when all of it has been done
/// where `Events` is std::vector<Event>: the operation starts when these have happened.
/// Source: 000, section 4.2.1, Algorithm 1.
template <class Engines>
class BlockedGemm {
 public:
  using Scalar = typename Engines::Scalar;
  using DeviceMatrix = Matrix<typename Engines::Execution, Scalar>;
  using HostMatrix = Matrix<HostExecution, Scalar>;
  using ConstHostMatrix = ConstMatrix<HostExecution, Scalar>;

  /// @param reads_c false where beta will be 0
  /// @param memory of the device, blocking.buffer_elements() elements: the buffers of A, of B and of C, one by one
  BlockedGemm(Engines& engines, const Blocking& blocking, bool reads_c, Scalar* memory)
      : engines_(engines), grid_(blocking.grid), steps_(make_block_steps(blocking, reads_c)) {
    const auto take = [&memory](std::int64_t rows, std::int64_t columns) {
      Buffer buffer{matrix_at<typename Engines::Execution>(memory, rows, columns, columns), {}, {}};
      memory += rows * columns;
      return buffer;
    };
    const auto take_all = [&](std::int64_t count, std::int64_t columns) {
      std::vector<Buffer> buffers;
      for (std::int64_t i = 0; i < count; ++i) buffers.push_back(take(blocking.buffer_rows(i), columns));
      return buffers;
    };
    a_ = take_all(blocking.a_buffers, grid_.depth);
    b_ = take(grid_.depth, grid_.width);
    c_ = take_all(blocking.c_buffers, grid_.width);
  }

  /// C = alpha A B + beta C for whole matrices in host memory; returns when it is done.
  void run(Scalar alpha, const ConstHostMatrix& a, const ConstHostMatrix& b, Scalar beta, const HostMatrix& c) {
    for (std::int64_t panel = 0; panel < grid_.panels(); ++panel) {
      const Range depth = range(panel, grid_.depth, grid_.k);
      add_panel(panel, alpha, matrix_block(a, 0, grid_.m, depth.first, depth.count),
                matrix_block(b, depth.first, depth.count, 0, grid_.n), beta, c);
    }
    engines_.finish();
  }

  /// One panel of it: `a` and `b` are these columns of A and rows of B. Panels come in order; C is whole after the last
  /// one. Returns before the work is done: the caller leaves the matrices alone until the engines have finished.
  void add_panel(std::int64_t panel, Scalar alpha, const ConstHostMatrix& a, const ConstHostMatrix& b, Scalar beta,
                 const HostMatrix& c) {
    const std::size_t per_panel = steps_.size() / static_cast<std::size_t>(grid_.panels());
    const std::size_t begin = per_panel * static_cast<std::size_t>(panel);
    const std::size_t end = begin + per_panel;
    if (begin < end) load(steps_[begin], a, b, c);
    for (std::size_t i = begin; i < end; ++i) {
      const BlockStep& step = steps_[i];
      multiply(step, alpha, beta);
      // Before this block is stored: a device with a single copy engine copies in the order of submission. It goes
      // first only where it has to make room for the next one.
      const bool makes_room = i + 1 < end && step.store_c && steps_[i + 1].c_buffer == step.c_buffer;
      if (i + 1 < end && !makes_room) load(steps_[i + 1], a, b, c);
      if (step.store_c) store(step, c);
      if (makes_room) load(steps_[i + 1], a, b, c);
    }
  }

 private:
  using Event = typename Engines::Event;
  struct Buffer {
    DeviceMatrix matrix;
    Event filled;  ///< the buffer's block may be used
    Event free;    ///< the buffer may be filled again
  };
  struct Range {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };

  static Range range(std::int64_t block, std::int64_t size, std::int64_t extent) {
    const std::int64_t first = block * size;
    return {first, std::min(size, extent - first)};
  }

  Range rows(const BlockStep& step) const { return range(step.row, grid_.height, grid_.m); }
  Range columns(const BlockStep& step) const { return range(step.column, grid_.width, grid_.n); }
  std::int64_t depth(const BlockStep& step) const { return range(step.panel, grid_.depth, grid_.k).count; }
  Buffer& a_buffer(const BlockStep& step) { return a_[static_cast<std::size_t>(step.a_buffer)]; }
  Buffer& c_buffer(const BlockStep& step) { return c_[static_cast<std::size_t>(step.c_buffer)]; }

  /// The part of a buffer that a block takes.
  static DeviceMatrix part(const Buffer& buffer, std::int64_t rows, std::int64_t columns) {
    return matrix_block(buffer.matrix, 0, rows, 0, columns);
  }
  /// A block of C in host memory.
  HostMatrix c_host(const BlockStep& step, const HostMatrix& c) const {
    return matrix_block(c, rows(step).first, rows(step).count, columns(step).first, columns(step).count);
  }
  void fill(Buffer& buffer, const ConstHostMatrix& block) {
    const DeviceMatrix to =
        part(buffer, static_cast<std::int64_t>(block.extent(0)), static_cast<std::int64_t>(block.extent(1)));
    buffer.filled = engines_.load(to, block, {buffer.free});
  }

  void load(const BlockStep& step, const ConstHostMatrix& a, const ConstHostMatrix& b, const HostMatrix& c) {
    if (step.load_a) fill(a_buffer(step), matrix_block(a, rows(step).first, rows(step).count, 0, depth(step)));
    if (step.load_b) fill(b_, matrix_block(b, 0, depth(step), columns(step).first, columns(step).count));
    if (step.load_c) fill(c_buffer(step), c_host(step, c));
  }

  void multiply(const BlockStep& step, Scalar alpha, Scalar beta) {
    Buffer &a = a_buffer(step), &c = c_buffer(step);
    const std::int64_t height = rows(step).count, width = columns(step).count;
    // A block that is written without being read is not loaded, so no load has waited for its buffer yet.
    c.filled = engines_.multiply(alpha, part(a, height, depth(step)), part(b_, depth(step), width),
                                 step.first ? beta : Scalar{1}, part(c, height, width),
                                 {a.filled, b_.filled, c.filled, c.free});
    a.free = b_.free = c.filled;
  }

  void store(const BlockStep& step, const HostMatrix& c) {
    Buffer& buffer = c_buffer(step);
    buffer.free = engines_.store(c_host(step, c), part(buffer, rows(step).count, columns(step).count), {buffer.filled});
  }

  Engines& engines_;
  BlockGrid grid_;
  std::vector<BlockStep> steps_;
  std::vector<Buffer> a_;
  Buffer b_;
  std::vector<Buffer> c_;
};

}  // namespace steelyard::gemm
