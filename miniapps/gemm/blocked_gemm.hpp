#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/matrix.hpp"
#include "miniapps/gemm/block_steps.hpp"
#include "miniapps/gemm/blocking.hpp"

namespace steelyard::gemm {

/// The multiplication of matrices in host memory on a device of little memory, block by block. Three engines load,
/// multiply and store at the same time, each in the order in which it was asked; what one of them does with a buffer
/// waits for events of the others, as in Algorithm 1. The algorithm's stream per block is here a queue per engine, with
/// the same order of operations on each (Fig. 4.6).
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

  /// @param a, b, c the device's buffers: blocking.a_buffers of height x depth, one of depth x width,
  /// blocking.c_buffers of height x width, in core the last one of each less (see Blocking) @param reads_c false where
  /// beta will be 0
  BlockedGemm(Engines& engines, const Blocking& blocking, bool reads_c, const std::vector<DeviceMatrix>& a,
              const DeviceMatrix& b, const std::vector<DeviceMatrix>& c)
      : engines_(engines), grid_(blocking.grid), steps_(make_block_steps(blocking, reads_c)), b_{b, {}, {}} {
    for (const DeviceMatrix& matrix : a) a_.push_back({matrix, {}, {}});
    for (const DeviceMatrix& matrix : c) c_.push_back({matrix, {}, {}});
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
    for (std::size_t i = begin; i < begin + per_panel; ++i) add_block(steps_[i], alpha, a, b, beta, c);
  }

 private:
  using Event = typename Engines::Event;
  struct Buffer {
    DeviceMatrix matrix;
    Event filled;  ///< what is in the buffer may be used
    Event free;    ///< what was in it is needed no more
  };
  struct Range {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };

  static Range range(std::int64_t block, std::int64_t size, std::int64_t extent) {
    const std::int64_t first = block * size;
    return {first, std::min(size, extent - first)};
  }

  void add_block(const BlockStep& step, Scalar alpha, const ConstHostMatrix& a, const ConstHostMatrix& b, Scalar beta,
                 const HostMatrix& c) {
    const Range rows = range(step.row, grid_.height, grid_.m);
    const Range columns = range(step.column, grid_.width, grid_.n);
    const std::int64_t depth = range(step.panel, grid_.depth, grid_.k).count;
    Buffer& a_buffer = a_[static_cast<std::size_t>(step.a_buffer)];
    Buffer& c_buffer = c_[static_cast<std::size_t>(step.c_buffer)];
    const DeviceMatrix a_block = matrix_block(a_buffer.matrix, 0, rows.count, 0, depth);
    const DeviceMatrix b_block = matrix_block(b_.matrix, 0, depth, 0, columns.count);
    const DeviceMatrix c_block = matrix_block(c_buffer.matrix, 0, rows.count, 0, columns.count);
    const HostMatrix c_host = matrix_block(c, rows.first, rows.count, columns.first, columns.count);
    if (step.load_a) {
      a_buffer.filled = engines_.load(a_block, matrix_block(a, rows.first, rows.count, 0, depth), {a_buffer.free});
    }
    if (step.load_b) {
      b_.filled = engines_.load(b_block, matrix_block(b, 0, depth, columns.first, columns.count), {b_.free});
    }
    if (step.load_c) c_buffer.filled = engines_.load(c_block, c_host, {c_buffer.free});
    // A block that is written without being read is not loaded, so nobody has waited for its buffer yet.
    c_buffer.filled = engines_.multiply(alpha, a_block, b_block, step.first ? beta : Scalar{1}, c_block,
                                        {a_buffer.filled, b_.filled, c_buffer.filled, c_buffer.free});
    a_buffer.free = b_.free = c_buffer.filled;
    if (step.store_c) c_buffer.free = engines_.store(c_host, c_block, {c_buffer.filled});
  }

  Engines& engines_;
  BlockGrid grid_;
  std::vector<BlockStep> steps_;
  std::vector<Buffer> a_;
  Buffer b_;
  std::vector<Buffer> c_;
};

}  // namespace steelyard::gemm
