#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "comm/measurement/bandwidth.hpp"
#include "core/gemm.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/device_gemm.hpp"

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

/// Whether these devices copy at the rate of one together, rather than each at its own, where all copy from the host at
/// the same time: whichever is nearer. Measured once. @param devices two at least
inline bool share_link(const std::vector<int>& devices) {
  static const bool shared = [&] {
    constexpr std::size_t bytes = 1 << 24;
    const double share = time_copies_to(devices, bytes) / time_copies_to({devices.front()}, bytes);
    return share > (1.0 + static_cast<double>(devices.size())) / 2.0;
  }();
  return shared;
}

/// C = alpha A B + beta C for one unit's rows, on the unit's own thread: in host memory or, by a companion with a
/// memory of its own, block by block there. A cap of that memory gives it to a companion that lives in host memory,
/// too.
///
/// Several devices share out the columns of B and C, and each needs all of A. They take turns step by step, and on a
/// link that they share also in copying: a copy waits for the one that was asked for before it in the same direction,
/// of whatever device, so that none contends with another. Source: 000, section 4.2.2, Fig. 4.8. There
/// columns of blocks go to the devices in turn; here those of a device lie side by side.
template <class Scalar>
class UnitGemm {
 public:
  /// Called on the calling thread before a panel is multiplied and between pieces of it that are worth a call, whose
  /// sums a BLAS may round otherwise than the whole's. Returns whether it must be called again: if not, the rest is one
  /// piece. May be empty.
  using Meanwhile = std::function<bool()>;

  /// Allocates the unit's buffers.
  /// @throws InvalidArgument for a memory that is too small, RuntimeFailure where it is short
  UnitGemm(ProcessingUnit::Kind kind, const PanelProblem& problem, const DeviceUse& use)
      : kind_(kind), alpha_(static_cast<Scalar>(problem.alpha)), beta_(static_cast<Scalar>(problem.beta)) {
    if (kind == ProcessingUnit::Kind::host || !has_device_memory(use.memory_bytes)) return;
    const std::vector<int> devices = companion_devices();
    const auto count = static_cast<std::int64_t>(devices.size());
    takes_turns_ = count > 1 && (use.shares_link ? *use.shares_link : share_link(devices));
    // All have the same blocks, those of a device with the most columns; the last ones may have fewer of them.
    PanelProblem widest = problem;
    widest.columns = std::min(problem.columns, padded_extent(quotient_up(problem.columns, count)));
    Blocking blocking = plan_blocking(widest, blocking_goal(sizeof(Scalar), use.memory_bytes));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t first_column = i * widest.columns;
      blocking.n = std::min(widest.columns, problem.columns - first_column);
      if (i > 0 && blocking.n <= 0) break;
      devices_.emplace_back(devices[static_cast<std::size_t>(i)], blocking, first_column, alpha_, beta_, use.overlaps);
    }
    select_device(current_device());
  }
  UnitGemm(const UnitGemm&) = delete;
  UnitGemm& operator=(const UnitGemm&) = delete;

  /// The whole product; returns when it is done.
  void run(const Operands<Scalar>& operands) {
    if (devices_.empty()) return multiply_in_host_memory(operands);
    const Blocking& blocking = *this->blocking();
    for (std::int64_t panel = 0; panel < blocking.panels(); ++panel) {
      const std::int64_t first = panel * blocking.depth, depth = std::min(blocking.depth, blocking.k - first);
      start_panel(panel, {matrix_block(operands.a, 0, blocking.m, first, depth),
                          matrix_block(operands.b, first, depth, 0, static_cast<std::int64_t>(operands.b.extent(1))),
                          operands.c});
    }
    finish();
  }

  /// run(). @return devices' copies and products; none for a unit that works in host memory
  std::vector<EngineOperation> run_timed(const Operands<Scalar>& operands) {
    for (DeviceGemm<Scalar>& device : devices_) device.start_clock();
    run(operands);
    std::vector<EngineOperation> operations;
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      const std::vector<EngineOperation> own = devices_[i].stop_clock(static_cast<int>(i));
      operations.insert(operations.end(), own.begin(), own.end());
    }
    return operations;
  }

  /// One panel of a problem that has a depth and factors of 1: `a` is its columns of A, `b` its rows of B. Panels come
  /// in order, and from 0 again after the last one. C is whole after the last one only, and must be left alone before:
  /// it stays in the unit's memory where it fits. A and B are free when this returns. The kernel of an iteration of
  /// SUMMA. Source: 000, sections 3.3 and 4.2.1.
  void add(std::int64_t panel, const Operands<Scalar>& operands, const Meanwhile& meanwhile) {
    if (!devices_.empty()) {
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

  /// How the first device multiplies; null for a unit that works in host memory.
  const Blocking* blocking() const { return devices_.empty() ? nullptr : &devices_.front().blocking(); }
  /// Whether devices copy one at a time.
  bool takes_turns() const { return takes_turns_; }
  /// Devices that multiply.
  int devices() const { return static_cast<int>(devices_.size()); }
  /// Elements of their buffers.
  double buffer_elements() const {
    double elements = 0.0;
    for (const DeviceGemm<Scalar>& device : devices_) elements += device.blocking().buffer_elements();
    return elements;
  }

 private:
  /// Rows between two calls of `meanwhile`: some milliseconds. A BLAS packs B anew for each of them, which costs as
  /// much as some tens of rows. A multiple of the rows that any BLAS multiplies together, for a piece's elements to
  /// come out of the same inner kernels as the whole's: with the same bits, unless the BLAS' threads share rows out
  /// otherwise.
  static constexpr std::int64_t piece_rows = 384;
  /// Multiplications in a piece at least: some tenths of a millisecond. A BLAS may have other kernels for small
  /// products, with other bits.
  static constexpr double least_piece_work = 4e6;

  void multiply_in_host_memory(const Operands<Scalar>& operands) const {
    const auto multiply = [&](const auto& space) {
      blas::gemm(space, alpha_, operands.a, operands.b, beta_, operands.c);
      space.fence();
    };
    if (kind_ == ProcessingUnit::Kind::host) return multiply(HostExecution());
    if constexpr (!companion_is_device) multiply(CompanionExecution());
  }

  /// Gives the devices a panel; the caller leaves the matrices alone until finish().
  void start_panel(std::int64_t panel, const Operands<Scalar>& operands) {
    LinkTurn* const turn = takes_turns_ ? &turn_ : nullptr;
    std::size_t steps = 0;
    for (DeviceGemm<Scalar>& device : devices_) {
      device.start_panel(panel, operands, turn);
      steps = std::max(steps, device.steps_of_panel());
    }
    for (std::size_t i = 0; i < steps; ++i) {
      for (DeviceGemm<Scalar>& device : devices_) device.advance(i, operands, turn);
    }
    select_device(current_device());
  }
  void finish() const {
    for (const DeviceGemm<Scalar>& device : devices_) device.fence();
  }

  ProcessingUnit::Kind kind_;
  Scalar alpha_, beta_;
  bool takes_turns_ = false;
  LinkTurn turn_;
  std::deque<DeviceGemm<Scalar>> devices_;  ///< of a companion with a memory of its own
};

}  // namespace steelyard::gemm
