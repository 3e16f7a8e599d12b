#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/session.hpp"
#include "comm/slots.hpp"
#include "core/co_execution.hpp"
#include "core/host_array.hpp"
#include "miniapps/gemm/problem.hpp"
#include "miniapps/gemm/random_matrix.hpp"
#include "miniapps/gemm/unit_gemm.hpp"

namespace steelyard::gemm {

/// The multiplication on one rank's units: its block rows of A and C and all of B, in host memory.
template <class Scalar>
class Multiplication {
 public:
  using Source = MatrixSource<Scalar>;

  /// Allocates, and takes A and B from `source`. @param block_rows of every slot; sums to problem.block_rows()
  Multiplication(const Session& session, CoExecution& co_execution, const Problem& problem,
                 const std::vector<Slot>& slots, const std::vector<std::int64_t>& block_rows,
                 double device_memory_bytes, const Source& source);

  /// Sets C. Where beta is 0, to NaN: nothing must read it.
  void load_c(const Source& source);
  /// Both units at the same time, once.
  UnitSeconds run() { return run({1, 1}); }
  /// Both units again and again for about `busy_s`, so that each is measured while all others are busy: seconds per
  /// multiplication. C is then of no use. @param once_s seconds that run() took
  UnitSeconds run_busy(const UnitSeconds& once_s, double busy_s);
  /// run(), with a timeline of the companion's operations; nothing where it works in the host's memory.
  std::optional<TransferOverlap> run_timed();

  std::int64_t first_row() const { return all_.first; }
  ConstMatrix<HostExecution, Scalar> a() const { return a_.rows(0, all_.count()); }
  ConstMatrix<HostExecution, Scalar> b() const { return b_.rows(0, b_.row_count()); }
  ConstMatrix<HostExecution, Scalar> c() const { return c_.rows(0, all_.count()); }
  std::span<const Scalar> c_elements() const { return c_.elements(0, all_.count()); }
  /// How the companion multiplies; nothing where it works in the host's memory.
  std::optional<Blocking> blocking() const {
    return units_.companion.gemm ? units_.companion.gemm->blocking() : std::nullopt;
  }

 private:
  /// Rows of A and C, as numbers in the whole matrices.
  struct Rows {
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::int64_t count() const { return end - first; }
  };
  struct Unit {
    Rows rows;
    Operands<Scalar> operands;
    std::unique_ptr<SliceGemm<Scalar>> gemm;  ///< null without rows
  };

  void place_rows(int rank, const std::vector<Slot>& slots, const std::vector<std::int64_t>& block_rows);
  void touch(const Rows& rows);
  void prepare(ProcessingUnit::Kind kind, double device_memory_bytes);
  UnitSeconds run(const PerUnit<int>& counts);

  CoExecution& co_execution_;
  Problem problem_;
  Rows all_;
  HostArray<Scalar> a_, b_, c_;
  PerUnit<Unit> units_;
};

}  // namespace steelyard::gemm
