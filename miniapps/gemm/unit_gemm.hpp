#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "core/device/device.hpp"
#include "core/gemm.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/unit_memory.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/gemm/blocking.hpp"

namespace steelyard::gemm {

/// Whether a companion whose memory is capped so copies the operands to a memory of its own.
inline bool has_device_memory(double device_memory_bytes) {
  return companion_is_device || std::isfinite(device_memory_bytes);
}

/// @return the block sizes that suit a companion whose memory is capped, infinity for no cap
inline BlockingGoal blocking_goal(double element_bytes, double device_memory_bytes) {
  // A GPU's many cores need large blocks, and several of them to copy some while multiplying others.
  return {steelyard::device_memory_bytes(device_memory_bytes), element_bytes, companion_is_device ? 512 : 128,
          companion_is_device ? 8 : 1};
}

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
  Engine engine = Engine::loading;
  double start_s = 0.0;
  double end_s = 0.0;
};

/// How much of a run's copying its multiplications hide.
struct TransferOverlap {
  double transfer_s = 0.0;  ///< during which the device loaded or stored
  double hidden_s = 0.0;    ///< of these, during which it multiplied as well

  double hidden_share() const { return transfer_s > 0.0 ? hidden_s / transfer_s : 1.0; }
};

inline TransferOverlap transfer_overlap(const std::vector<EngineOperation>& operations) {
  // Changes of the numbers of copies and of multiplications under way, by time.
  std::map<double, std::array<int, 2>> changes;
  for (const EngineOperation& operation : operations) {
    const std::size_t kind = operation.engine == Engine::multiplying ? 1 : 0;
    ++changes[operation.start_s][kind];
    --changes[operation.end_s][kind];
  }
  TransferOverlap overlap;
  int transfers = 0, multiplications = 0;
  double last_s = 0.0;
  for (const auto& [time_s, change] : changes) {
    if (transfers > 0) overlap.transfer_s += time_s - last_s;
    if (transfers > 0 && multiplications > 0) overlap.hidden_s += time_s - last_s;
    transfers += change[0];
    multiplications += change[1];
    last_s = time_s;
  }
  return overlap;
}

/// C = alpha A B + beta C for one unit's rows, on the unit's own thread: in host memory or, by a companion with a
/// memory of its own, block by block there. A cap of that memory gives it to a companion that lives in host memory,
/// too.
///
/// A device has three queues: one copies to it, one multiplies and one copies back, all at the same time. An operation
/// on a buffer waits for events of the other queues, as in Algorithm 1, whose stream per block is here a queue per
/// engine with the same order of operations on each (Fig. 4.6). On a host space each operation ends before the next one
/// starts. Source: 000, section 4.2.1, Algorithm 1.
template <class Scalar>
class UnitGemm {
 public:
  /// Called on the calling thread before a panel is multiplied and between pieces of it that are worth a call, whose
  /// sums a BLAS may round otherwise than the whole's. Returns whether it must be called again: if not, the rest is one
  /// piece. May be empty.
  using Meanwhile = std::function<bool()>;

  /// Allocates the unit's buffers. @param device_memory_bytes cap of a companion's memory, infinity for none
  /// @param overlaps whether a device copies while it multiplies (000's kernel of version 3) or does one thing after
  /// the other, on one queue (version 2). Source: 000, section 4.2.2, Fig. 4.7.
  /// @throws InvalidArgument for a cap that is too small, RuntimeFailure where memory is short
  UnitGemm(ProcessingUnit::Kind kind, const PanelProblem& problem, double device_memory_bytes, bool overlaps = true)
      : kind_(kind), alpha_(static_cast<Scalar>(problem.alpha)), beta_(static_cast<Scalar>(problem.beta)) {
    if (kind == ProcessingUnit::Kind::host || !has_device_memory(device_memory_bytes)) return;
    blocking_ = plan_blocking(problem, blocking_goal(sizeof(Scalar), device_memory_bytes));
    steps_ = make_block_steps(*blocking_);
    queues_ = make_queues(overlaps ? 3 : 1);
    memory_ = decltype(memory_)(
        Kokkos::view_alloc(CompanionExecution(), Kokkos::WithoutInitializing, "steelyard::gemm::buffers"),
        static_cast<std::size_t>(blocking_->buffer_elements()));
    Scalar* free_memory = memory_.data();
    const auto take = [&free_memory](std::int64_t rows, std::int64_t columns) {
      Buffer buffer{matrix_at<CompanionExecution>(free_memory, rows, columns, columns), {}, {}};
      free_memory += rows * columns;
      return buffer;
    };
    b_ = take(blocking_->depth, blocking_->width);
    for (std::int64_t i = 0; i < blocking_->buffers; ++i) {
      a_.push_back(take(blocking_->buffer_rows(i), blocking_->depth));
      c_.push_back(take(blocking_->buffer_rows(i), blocking_->width));
    }
    // The memory may be a queue's own until then.
    CompanionExecution().fence();
  }
  UnitGemm(const UnitGemm&) = delete;
  UnitGemm& operator=(const UnitGemm&) = delete;

  /// The whole product; returns when it is done.
  void run(const Operands<Scalar>& operands) {
    if (!blocking_) return multiply_in_host_memory(operands);
    for (std::int64_t panel = 0; panel < blocking_->panels(); ++panel) {
      const std::int64_t first = panel * blocking_->depth, depth = std::min(blocking_->depth, blocking_->k - first);
      start_panel(panel, {matrix_block(operands.a, 0, blocking_->m, first, depth),
                          matrix_block(operands.b, first, depth, 0, blocking_->n), operands.c});
    }
    finish();
  }

  /// run(). @return a device's copies and products; none for a unit that works in host memory
  std::vector<EngineOperation> run_timed(const Operands<Scalar>& operands) {
    timed_.emplace();
    run(operands);
    std::vector<EngineOperation> operations;
    for (const Timed& timed : *timed_) {
      const QueueEvent& origin = timed_->front().start;
      operations.push_back({timed.engine, timed.start.seconds_since(origin), timed.end.seconds_since(origin)});
    }
    timed_.reset();
    return operations;
  }

  /// One panel of a problem that has a depth and factors of 1: `a` is its columns of A, `b` its rows of B. Panels come
  /// in order, and from 0 again after the last one. C is whole after the last one only, and must be left alone before:
  /// it stays in the unit's memory where it fits. A and B are free when this returns. The kernel of an iteration of
  /// SUMMA. Source: 000, sections 3.3 and 4.2.1.
  void add(std::int64_t panel, const Operands<Scalar>& operands, const Meanwhile& meanwhile) {
    if (blocking_) {
      start_panel(panel, operands);
      if (meanwhile) meanwhile();
      return finish();
    }
    const auto rows = static_cast<std::int64_t>(operands.a.extent(0));
    const auto depth = static_cast<std::int64_t>(operands.a.extent(1));
    const auto columns = static_cast<std::int64_t>(operands.c.extent(1));
    const double piece_work =
        static_cast<double>(piece_rows) * static_cast<double>(columns) * static_cast<double>(depth);
    bool in_pieces = meanwhile && meanwhile() && piece_work >= least_piece_work;
    std::int64_t row = 0;
    while (row < rows) {
      // The last piece is never a small one.
      const bool is_last = !in_pieces || rows - row < 2 * piece_rows;
      const std::int64_t count = is_last ? rows - row : piece_rows;
      const Operands<Scalar> piece{matrix_block(operands.a, row, count, 0, depth), operands.b,
                                   matrix_block(operands.c, row, count, 0, columns)};
      multiply_in_host_memory(piece);
      if (in_pieces) in_pieces = meanwhile();
      row += count;
    }
  }

  /// How the device multiplies; nothing for a unit that works in host memory.
  const std::optional<Blocking>& blocking() const { return blocking_; }

 private:
  /// Rows between two calls of `meanwhile`: some milliseconds. A BLAS packs B anew for each of them, which costs as
  /// much as some tens of rows. A multiple of the rows that any BLAS multiplies together, for a piece's elements to
  /// come out of the same inner kernels as the whole's: with the same bits, unless the BLAS' threads share rows out
  /// otherwise.
  static constexpr std::int64_t piece_rows = 384;
  /// Multiplications in a piece at least: some tenths of a millisecond. A BLAS may have other kernels for small
  /// products, with other bits.
  static constexpr double least_piece_work = 4e6;

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

  void multiply_in_host_memory(const Operands<Scalar>& operands) const {
    const auto multiply = [&](const auto& space) {
      blas::gemm(space, alpha_, operands.a, operands.b, beta_, operands.c);
      space.fence();
    };
    if (kind_ == ProcessingUnit::Kind::host) return multiply(HostExecution());
    if constexpr (!companion_is_device) multiply(CompanionExecution());
  }

  /// Gives the queues a panel; the caller leaves the matrices alone until finish().
  void start_panel(std::int64_t panel, const Operands<Scalar>& operands) {
    const std::size_t per_panel = steps_.size() / static_cast<std::size_t>(blocking_->panels());
    const std::size_t begin = per_panel * static_cast<std::size_t>(panel), end = begin + per_panel;
    if (begin < end) load(steps_[begin], operands);
    for (std::size_t i = begin; i < end; ++i) {
      const BlockStep& step = steps_[i];
      multiply(step);
      // Before this block is stored: a device with a single copy engine copies in the order of submission. It goes
      // first only where it has to make room for the next one.
      const bool makes_room = i + 1 < end && step.store_c && steps_[i + 1].c_buffer == step.c_buffer;
      if (i + 1 < end && !makes_room) load(steps_[i + 1], operands);
      if (step.store_c) store(step, operands.c);
      if (makes_room) load(steps_[i + 1], operands);
    }
  }
  void finish() const {
    for (const CompanionExecution& queue : queues_) queue.fence();
  }

  Buffer& a_buffer(const BlockStep& step) { return a_[static_cast<std::size_t>(step.a_buffer)]; }
  Buffer& c_buffer(const BlockStep& step) { return c_[static_cast<std::size_t>(step.c_buffer)]; }
  /// A block of C in host memory.
  static HostMatrix c_host(const BlockStep& step, const HostMatrix& c) {
    return matrix_block(c, step.c.row, step.c.rows, step.c.column, step.c.columns);
  }
  /// The part of a buffer that a block takes.
  static DeviceMatrix part(const Buffer& buffer, std::int64_t rows, std::int64_t columns) {
    return matrix_block(buffer.matrix, 0, rows, 0, columns);
  }

  /// Gives an engine's queue an operation that starts when the events have happened. @return its end
  template <class Operation>
  QueueEvent give(Engine engine, std::initializer_list<QueueEvent> after, const Operation& operation) {
    const CompanionExecution& queue = queues_[static_cast<std::size_t>(engine) % queues_.size()];
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

  void fill(Buffer& buffer, const ConstMatrix<HostExecution, Scalar>& block) {
    const DeviceMatrix to =
        part(buffer, static_cast<std::int64_t>(block.extent(0)), static_cast<std::int64_t>(block.extent(1)));
    buffer.filled = give(Engine::loading, {buffer.free}, [&](const CompanionExecution& queue) {
      copy_matrix_from_host<CompanionExecution, Scalar>(queue, to, block);
    });
  }

  void load(const BlockStep& step, const Operands<Scalar>& from) {
    if (step.load_a) fill(a_buffer(step), matrix_block(from.a, step.c.row, step.c.rows, 0, step.depth));
    if (step.load_b) fill(b_, matrix_block(from.b, 0, step.depth, step.c.column, step.c.columns));
    if (step.load_c) fill(c_buffer(step), c_host(step, from.c));
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

  void store(const BlockStep& step, const HostMatrix& c) {
    Buffer& buffer = c_buffer(step);
    buffer.free = give(Engine::storing, {buffer.filled}, [&](const CompanionExecution& queue) {
      copy_matrix_to_host<CompanionExecution, Scalar>(queue, c_host(step, c),
                                                      part(buffer, step.c.rows, step.c.columns));
    });
  }

  ProcessingUnit::Kind kind_;
  Scalar alpha_, beta_;
  // Of a companion with a memory of its own.
  std::optional<Blocking> blocking_;
  std::vector<BlockStep> steps_;
  std::vector<CompanionExecution> queues_;
  Kokkos::View<Scalar*, DeviceOf<CompanionExecution>> memory_;
  std::vector<Buffer> a_, c_;
  Buffer b_;
  std::optional<std::vector<Timed>> timed_;
};

}  // namespace steelyard::gemm
