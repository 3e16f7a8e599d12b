#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "miniapps/gemm/problem.hpp"
#include "miniapps/gemm/random_matrix.hpp"
#include "miniapps/gemm/slice_gemm.hpp"

namespace steelyard::gemm {

/// The multiplication on one rank's units: its block rows of A and C and all of B, in host memory.
template <class Scalar>
class Multiplication {
 public:
  /// Fills `rows` with rows of a matrix, from global row `first` on, one after the other.
  using Source = std::function<void(MatrixName name, std::int64_t first, std::span<Scalar> rows)>;

  /// Allocates, and takes A and B from `source`. @param block_rows of every slot; sums to problem.block_rows()
  Multiplication(const Session& session, CoExecution& co_execution, const Problem& problem,
                 const std::vector<Slot>& slots, const std::vector<std::int64_t>& block_rows,
                 double device_memory_bytes, const Source& source);
  ~Multiplication();

  /// Sets C. Where beta is 0, to NaN: nothing must read it.
  void load_c(const Source& source);
  /// Both units at the same time, once.
  UnitSeconds run();
  /// Both units again and again for about `busy_s`, so that each is measured while all others are busy: seconds per
  /// multiplication. C is then of no use. @param once_s what run() took
  UnitSeconds run_busy(const UnitSeconds& once_s, double busy_s);
  /// run(), with a look at what the companion does when; nothing where it works in the host's memory.
  std::optional<TransferOverlap> run_timed();

  std::int64_t first_row() const;
  std::int64_t rows() const;
  ConstMatrix<HostExecution, Scalar> a() const;
  ConstMatrix<HostExecution, Scalar> b() const;
  ConstMatrix<HostExecution, Scalar> c() const;
  std::span<const Scalar> c_elements() const;
  /// How the companion multiplies; nothing where it works in the host's memory.
  std::optional<Blocking> blocking() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace steelyard::gemm
