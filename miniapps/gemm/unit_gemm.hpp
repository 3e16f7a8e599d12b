#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/matrix.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/gemm/out_of_core/blocking.hpp"
#include "miniapps/gemm/out_of_core/engine_timeline.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Matrices of a slice in host memory, which a device copies from and to fast if it is pinned: rows of A (x k) and C
/// (x n), and all of B (k x n).
template <class Scalar>
struct Operands {
  ConstMatrix<HostExecution, Scalar> a, b;
  Matrix<HostExecution, Scalar> c;
};

/// C = alpha A B + beta C for one unit's rows.
template <class Scalar>
class SliceGemm {
 public:
  virtual ~SliceGemm() = default;
  /// Returns when it is done; called on the unit's own thread. The matrices have the extents that this was made for.
  virtual void run(const Operands<Scalar>& operands) = 0;
  /// How the device multiplies; nothing for a unit that works in the host's memory.
  virtual std::optional<Blocking> blocking() const { return std::nullopt; }
  /// run(), with a timeline of the device's operations; nothing for a unit that works in the host's memory.
  virtual std::optional<TransferOverlap> run_timed(const Operands<Scalar>& operands) {
    run(operands);
    return std::nullopt;
  }
};

/// Allocates the unit's buffers on the calling thread: for a companion with a memory of its own,
/// or one that the user gives it by a cap.
/// @param rows of A and C; @param device_memory_bytes cap of a companion's memory, infinity for none
/// @throws InvalidArgument for a cap that is too small, RuntimeFailure where memory is short
template <class Scalar>
std::unique_ptr<SliceGemm<Scalar>> make_slice_gemm(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows,
                                                   double device_memory_bytes);

/// A product computed panel by panel: A is rows x k and B k x columns, in panels of `depth` columns of A and rows of B
/// (the last one may have fewer).
struct PanelProblem {
  std::int64_t rows = 0, columns = 0, k = 0, depth = 1;
};

/// C += A B on one unit, one panel at a time, C staying in the unit's memory between panels where it fits: the kernel
/// of an iteration of SUMMA. Source: 000, sections 3.3 and 4.2.1.
template <class Scalar>
class PanelGemm {
 public:
  /// Called on the calling thread before a panel is multiplied and between pieces of it that are worth a call; changes
  /// no bit of the result. Returns whether it must be called again: if not, the rest is one piece. May be empty.
  using Meanwhile = std::function<bool()>;

  virtual ~PanelGemm() = default;
  /// Adds one panel: `a` its columns of A, `b` its rows of B. Panels come in order, and from 0 again after the last
  /// one. C is whole after the last one only, and must be left alone before; A and B are free when this returns. Called
  /// on the unit's own thread.
  virtual void add(std::int64_t panel, const Operands<Scalar>& operands, const Meanwhile& meanwhile) = 0;
  /// How the device multiplies; nothing for a unit that works in the host's memory.
  virtual std::optional<Blocking> blocking() const { return std::nullopt; }
};

/// Allocates the unit's buffers on the calling thread.
/// @param device_memory_bytes cap of a companion's memory, infinity for none
/// @throws InvalidArgument for a cap that is too small, RuntimeFailure where memory is short
template <class Scalar>
std::unique_ptr<PanelGemm<Scalar>> make_panel_gemm(ProcessingUnit::Kind kind, const PanelProblem& problem,
                                                   double device_memory_bytes);

/// The block sizes that suit a companion whose memory is capped so.
BlockingGoal blocking_goal(double element_bytes, double device_memory_bytes);

/// Whether a companion copies the operands to a memory of its own.
bool has_device_memory(double device_memory_bytes);

}  // namespace steelyard::gemm
