#pragma once

#include <memory>
#include <optional>

#include "core/matrix.hpp"
#include "core/processing_unit.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/engine_timeline.hpp"
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
  /// run(), with a look at what the device does when; nothing for a unit that works in the host's memory.
  virtual std::optional<TransferOverlap> run_timed(const Operands<Scalar>& operands) {
    run(operands);
    return std::nullopt;
  }
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
