#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <vector>

#include "core/device/device.hpp"
#include "core/gemm.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/gemm/blocking.hpp"

namespace steelyard::gemm {

/// How a companion uses memory of its own.
struct DeviceUse {
  double memory_bytes = std::numeric_limits<double>::infinity();  ///< of each device at most
  /// Whether several devices share the link to the host's memory, so that one copies at a time in either direction;
  /// nothing: as share_link() measures.
  std::optional<bool> shares_link = {};
  /// Whether a device copies while it multiplies (000's kernel of version 3) or does one thing after the other, on one
  /// queue (version 2). Source: 000, section 4.2.2, Fig. 4.7.
  bool overlaps = true;
};

/// Matrices of a slice in host memory, which a device copies from and to fast if it is pinned: rows of A (x k) and C
/// (x n), and all of B (k x n).
template <class Scalar>
struct Operands {
  ConstMatrix<HostExecution, Scalar> a, b;
  Matrix<HostExecution, Scalar> c;
};

/// The engines of a device: rows of 000, Fig. 4.6.
enum class Engine { loading, multiplying, storing };

/// One operation, in seconds from a start that all operations of a run share.
struct EngineOperation {
  int device = 0;  ///< from 0
  Engine engine = Engine::loading;
  double start_s = 0.0;
  double end_s = 0.0;
};

/// The last copies over a link, in both directions, after which the next device has its turn.
struct LinkTurn {
  QueueEvent loaded, stored;
};

/// C = alpha A B + beta C for columns of B and C, block by block in a device's memory.
///
/// The device has three queues: one copies to it, one multiplies and one copies back, all at the same time. An
/// operation on a buffer waits for events of the other queues, as in Algorithm 1, whose stream per block is here a
/// queue per engine with the same order of operations on each (Fig. 4.6). On a host space each operation ends before
/// the next one starts. Source: 000, section 4.2.1, Algorithm 1.
template <class Scalar>
class DeviceGemm {
 public:
  /// Allocates the device's buffers. @param blocking of its columns @param first_column of these in B and C
  /// @throws RuntimeFailure where the device's memory is short
  DeviceGemm(int device, const Blocking& blocking, std::int64_t first_column, Scalar alpha, Scalar beta, bool overlaps)
      : device_(device),
        first_column_(first_column),
        alpha_(alpha),
        beta_(beta),
        blocking_(blocking),
        steps_(make_block_steps(blocking)),
        queues_(make_queues(overlaps ? 3 : 1, device)),
        memory_(Kokkos::view_alloc(queues_.front(), Kokkos::WithoutInitializing, "steelyard::gemm::buffers"),
                static_cast<std::size_t>(blocking_.buffer_elements())) {
    Scalar* free_memory = memory_.data();
    const auto take = [&free_memory](std::int64_t rows, std::int64_t columns) {
      Buffer buffer{matrix_at<CompanionExecution>(free_memory, rows, columns, columns), {}, {}};
      free_memory += rows * columns;
      return buffer;
    };
    b_ = take(blocking_.depth, blocking_.width);
    for (std::int64_t i = 0; i < blocking_.buffers; ++i) {
      a_.push_back(take(blocking_.buffer_rows(i), blocking_.depth));
      c_.push_back(take(blocking_.buffer_rows(i), blocking_.width));
    }
    // The memory may be a queue's own until then.
    queues_.front().fence();
  }

  const Blocking& blocking() const { return blocking_; }
  std::size_t steps_of_panel() const { return steps_.size() / static_cast<std::size_t>(blocking_.panels()); }

  /// Loads the blocks of a panel's first step, where it has one.
  void start_panel(std::int64_t panel, const Operands<Scalar>& operands, LinkTurn* turn) {
    panel_ = static_cast<std::size_t>(panel) * steps_of_panel();
    if (steps_of_panel() > 0) load(steps_[panel_], operands, turn);
  }
  /// Gives the queues step `i` of the panel, and the loads of the next one. The caller leaves the matrices alone until
  /// fence(). @param turn of a link that several devices share; null where they copy at the same time
  void advance(std::size_t i, const Operands<Scalar>& operands, LinkTurn* turn) {
    if (i >= steps_of_panel()) return;
    const BlockStep& step = steps_[panel_ + i];
    const BlockStep* const next = i + 1 < steps_of_panel() ? &steps_[panel_ + i + 1] : nullptr;
    multiply(step);
    // Before this block is stored: a device with a single copy engine copies in the order of submission. It goes first
    // only where it has to make room for the next one.
    const bool makes_room = next != nullptr && step.store_c && next->c_buffer == step.c_buffer;
    if (next != nullptr && !makes_room) load(*next, operands, turn);
    if (step.store_c) store(step, operands.c, turn);
    if (makes_room) load(*next, operands, turn);
  }
  void fence() const {
    for (const CompanionExecution& queue : queues_) queue.fence();
  }

  /// Keeps the times of all operations from here on.
  void start_clock() {
    select_device(device_);
    timed_.emplace();
    origin_ = QueueEvent::record(queues_.front(), true);
  }
  /// @param number of the device in the result
  std::vector<EngineOperation> stop_clock(int number) {
    std::vector<EngineOperation> operations;
    for (const Timed& timed : *timed_) {
      operations.push_back(
          {number, timed.engine, timed.start.seconds_since(origin_), timed.end.seconds_since(origin_)});
    }
    timed_.reset();
    return operations;
  }

 private:
  using DeviceMatrix = Matrix<CompanionExecution, Scalar>;
  using HostMatrix = Matrix<HostExecution, Scalar>;
  struct Buffer {
    DeviceMatrix matrix;
    QueueEvent filled;  ///< the buffer's block may be used
    QueueEvent free;    ///< the buffer may be filled again
  };
  struct Timed {
    Engine engine;
    QueueEvent start, end;
  };

  Buffer& a_buffer(const BlockStep& step) { return a_[static_cast<std::size_t>(step.a_buffer)]; }
  Buffer& c_buffer(const BlockStep& step) { return c_[static_cast<std::size_t>(step.c_buffer)]; }
  /// A block of B or C in host memory.
  template <class HostBlock>
  HostBlock columns_of(const HostBlock& matrix, std::int64_t row, std::int64_t rows, const BlockStep& step) const {
    return matrix_block(matrix, row, rows, first_column_ + step.c.column, step.c.columns);
  }
  /// The part of a buffer that a block takes.
  static DeviceMatrix part(const Buffer& buffer, std::int64_t rows, std::int64_t columns) {
    return matrix_block(buffer.matrix, 0, rows, 0, columns);
  }

  /// Gives an engine's queue an operation that starts when the events have happened. @return its end
  template <class Operation>
  QueueEvent give(Engine engine, std::initializer_list<QueueEvent> after, const Operation& operation) {
    const CompanionExecution& queue = queues_[static_cast<std::size_t>(engine) % queues_.size()];
    select_device(device_);
    for (const QueueEvent& event : after) event.make_wait(queue);
    if (!timed_) {
      operation(queue);
    } else {
      const QueueEvent start = QueueEvent::record(queue, true);
      operation(queue);
      timed_->push_back({engine, start, QueueEvent::record(queue, true)});
    }
    return QueueEvent::record(queue);
  }

  void fill(Buffer& buffer, const ConstMatrix<HostExecution, Scalar>& block, LinkTurn* turn) {
    const DeviceMatrix to =
        part(buffer, static_cast<std::int64_t>(block.extent(0)), static_cast<std::int64_t>(block.extent(1)));
    const QueueEvent before = turn != nullptr ? turn->loaded : QueueEvent();
    buffer.filled = give(Engine::loading, {buffer.free, before}, [&](const CompanionExecution& queue) {
      copy_matrix_from_host<CompanionExecution, Scalar>(queue, to, block);
    });
    if (turn != nullptr) turn->loaded = buffer.filled;
  }

  void load(const BlockStep& step, const Operands<Scalar>& from, LinkTurn* turn) {
    if (step.load_a) fill(a_buffer(step), matrix_block(from.a, step.c.row, step.c.rows, 0, step.depth), turn);
    // B's only buffer is the last one to be free.
    if (step.load_c) fill(c_buffer(step), columns_of(from.c, step.c.row, step.c.rows, step), turn);
    if (step.load_b) fill(b_, columns_of(from.b, 0, step.depth, step), turn);
  }

  void multiply(const BlockStep& step) {
    Buffer &a = a_buffer(step), &c = c_buffer(step);
    // A block that is written without being read is not loaded, so no load has waited for its buffer yet.
    c.filled = give(Engine::multiplying, {a.filled, b_.filled, c.filled, c.free}, [&](const CompanionExecution& queue) {
      blas::gemm(queue, alpha_, part(a, step.c.rows, step.depth), part(b_, step.depth, step.c.columns),
                 step.scales_c ? beta_ : Scalar{1}, part(c, step.c.rows, step.c.columns));
    });
    a.free = b_.free = c.filled;
  }

  void store(const BlockStep& step, const HostMatrix& c, LinkTurn* turn) {
    Buffer& buffer = c_buffer(step);
    const QueueEvent before = turn != nullptr ? turn->stored : QueueEvent();
    buffer.free = give(Engine::storing, {buffer.filled, before}, [&](const CompanionExecution& queue) {
      copy_matrix_to_host<CompanionExecution, Scalar>(queue, columns_of(c, step.c.row, step.c.rows, step),
                                                      part(buffer, step.c.rows, step.c.columns));
    });
    if (turn != nullptr) turn->stored = buffer.free;
  }

  int device_;
  std::int64_t first_column_;
  Scalar alpha_, beta_;
  Blocking blocking_;
  std::vector<BlockStep> steps_;
  std::vector<CompanionExecution> queues_;
  Kokkos::View<Scalar*, DeviceOf<CompanionExecution>> memory_;
  std::vector<Buffer> a_, c_;
  Buffer b_;
  std::size_t panel_ = 0;  ///< first step of the panel
  std::optional<std::vector<Timed>> timed_;
  QueueEvent origin_;
};

}  // namespace steelyard::gemm
