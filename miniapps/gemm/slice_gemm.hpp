#pragma once

#include <memory>
#include <optional>

#include "core/matrix.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/problem.hpp"

namespace steelyard::gemm {

/// Matrices of a slice in host memory, which a device copies from and to fast if it is pinned: rows of A (x k) and C
/// (x n), and all of B (k x n).
template <class Scalar>
struct Operands {
  ConstMatrix<HostExecution, Scalar> a, b;
  Matrix<HostExecution, Scalar> c;
};

/// How long a slice takes on a device with little memory, all of it and in parts.
struct TransferOverlap {
  double all_s = 0.0;
  double transfers_s = 0.0;        ///< by themselves, both directions at the same time where the device can
  double multiplications_s = 0.0;  ///< by themselves

  /// Seconds of the transfers that the multiplications hide, between 0 and all of them.
  double hidden_s() const;
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
  /// Runs it three times: C is then of no use. Nothing for a unit that works in the host's memory.
  virtual std::optional<TransferOverlap> measure_overlap(const Operands<Scalar>& /*operands*/) { return std::nullopt; }
};

/// Allocates what the unit needs beside the operands, on the calling thread: for a companion with a memory of its own,
/// or one that the user gives it by a cap, the buffers in it.
/// @param rows of A and C; @param device_memory_bytes cap of a companion's memory, infinity for none
/// @throws InvalidArgument for a cap that is too small, RuntimeFailure where memory is short
template <class Scalar>
std::unique_ptr<SliceGemm<Scalar>> make_slice_gemm(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows,
                                                   double device_memory_bytes);

/// What a companion does best with when its memory is capped so.
BlockingGoal blocking_goal(double element_bytes, double device_memory_bytes);

/// Whether a companion copies the operands to a memory of its own.
bool has_device_memory(double device_memory_bytes);

}  // namespace steelyard::gemm
