#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/memory/matrix.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/gemm/out_of_core/device_engines.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Matrices of a slice in host memory, which a device copies from and to fast if it is pinned: rows of A (x k) and C
/// (x n), and all of B (k x n).
template <class Scalar>
struct Operands {
  ConstMatrix<HostExecution, Scalar> a, b;
  Matrix<HostExecution, Scalar> c;
};

/// A product computed panel by panel: A is rows x k and B k x columns, in panels of `depth` columns of A and rows of B
/// (the last one may have fewer).
struct PanelProblem {
  std::int64_t rows = 0, columns = 0, k = 0, depth = 1;
};

/// C = alpha A B + beta C for one unit's rows: in host memory or, by a companion with a memory of its own, block by
/// block there. A cap of that memory gives it to a companion that lives in host memory, too. All functions are called
/// on the unit's own thread.
template <class Scalar>
class UnitGemm {
 public:
  /// Called on the calling thread before a panel is multiplied and between pieces of it that are worth a call, whose
  /// sums a BLAS may round otherwise than the whole's. Returns whether it must be called again: if not, the rest is one
  /// piece. May be empty.
  using Meanwhile = std::function<bool()>;

  /// For run(). Allocates the unit's buffers.
  /// @param rows of A and C @param device_memory_bytes cap of a companion's memory, infinity for none
  /// @param overlaps whether a device copies while it multiplies
  /// @throws InvalidArgument for a cap that is too small, RuntimeFailure where memory is short
  UnitGemm(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows, double device_memory_bytes,
           bool overlaps = true);
  /// For add(), which multiplies with alpha and beta 1.
  UnitGemm(ProcessingUnit::Kind kind, const PanelProblem& problem, double device_memory_bytes);

  /// The whole product; returns when it is done. @param operands of the extents that this was made for
  void run(const Operands<Scalar>& operands);
  /// run(). @return a device's copies and products; none for a unit that works in host memory
  std::vector<EngineOperation> run_timed(const Operands<Scalar>& operands);

  /// C += A B for one panel: `a` is its columns of A, `b` its rows of B. Panels come in order, and from 0 again after
  /// the last one. C is whole after the last one only, and must be left alone before: it stays in the unit's memory
  /// where it fits. A and B are free when this returns. The kernel of an iteration of SUMMA.
  /// Source: 000, sections 3.3 and 4.2.1.
  void add(std::int64_t panel, const Operands<Scalar>& operands, const Meanwhile& meanwhile);

  /// How the device multiplies; nothing for a unit that works in host memory.
  std::optional<Blocking> blocking() const { return device_ ? std::optional(device_->blocking()) : std::nullopt; }

 private:
  ProcessingUnit::Kind kind_;
  Scalar alpha_, beta_;
  std::optional<DeviceBlockedGemm<Scalar>> device_;  ///< nothing for a unit that works in host memory
};

/// @return the block sizes that suit a companion whose memory is capped at so many bytes, infinity for no cap
BlockingGoal blocking_goal(double element_bytes, double device_memory_bytes);

/// Whether a companion whose memory is capped so copies the operands to a memory of its own.
bool has_device_memory(double device_memory_bytes);

}  // namespace steelyard::gemm
