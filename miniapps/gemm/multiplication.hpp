#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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
  /// Allocates, and takes A and B from `source`. @param block_rows of every slot; sums to problem.block_rows()
  Multiplication(const Session& session, CoExecution& co_execution, const Problem& problem,
                 const std::vector<Slot>& slots, const std::vector<std::int64_t>& block_rows,
                 double device_memory_bytes, const MatrixSource<Scalar>& source)
      : co_execution_(co_execution), problem_(problem) {
    place_rows(session.rank(), slots, block_rows);
    a_ = HostArray<Scalar>(all_.count(), problem.k);
    b_ = HostArray<Scalar>(problem.k, problem.n);
    c_ = HostArray<Scalar>(all_.count(), problem.n);
    // The companion touches its rows first, so that they are near its core; the host's threads the rest.
    co_execution_.run([] {}, [&] { touch(units_.companion.rows); });
    source(MatrixName::a, {all_.first, 0, all_.count(), problem.k}, a_.elements(0, all_.count()));
    source(MatrixName::b, {0, 0, problem.k, problem.n}, b_.elements(0, problem.k));
    co_execution_.run([&] { prepare(Kind::host, device_memory_bytes); },
                      [&] { prepare(Kind::companion, device_memory_bytes); });
  }

  /// Sets C. Where beta is 0, to NaN: nothing must read it.
  void load_c(const MatrixSource<Scalar>& source) {
    const std::span<Scalar> elements = c_.elements(0, all_.count());
    if (problem_.reads_c()) {
      source(MatrixName::c, {all_.first, 0, all_.count(), problem_.n}, elements);
    } else {
      std::fill(elements.begin(), elements.end(), std::numeric_limits<Scalar>::quiet_NaN());
    }
  }

  /// Both units at the same time, once.
  UnitSeconds run() { return run({1, 1}); }
  /// Both units again and again for about `busy_s`, so that each is measured while all others are busy: seconds per
  /// multiplication. C is then of no use. @param once_s seconds that run() took
  UnitSeconds run_busy(const UnitSeconds& once_s, double busy_s) {
    const auto count = [busy_s](double one_s) {
      constexpr double most = 1e6;
      return one_s > 0.0 ? static_cast<int>(std::clamp(std::round(busy_s / one_s), 1.0, most)) : 1;
    };
    const PerUnit<int> counts{count(once_s.host_s), count(once_s.companion_s)};
    const UnitSeconds seconds = run(counts);
    return {seconds.host_s / counts.host, seconds.companion_s / counts.companion};
  }
  /// run(), with a timeline of the companion's operations; nothing where it works in the host's memory.
  std::optional<TransferOverlap> run_timed() {
    std::optional<TransferOverlap> overlap;
    const Unit &host = units_.host, &companion = units_.companion;
    const auto run_host = [&] {
      if (host.gemm) host.gemm->run(host.operands);
    };
    co_execution_.run(run_host, [&] {
      if (companion.gemm) overlap = companion.gemm->run_timed(companion.operands);
    });
    return overlap;
  }

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
  using Kind = ProcessingUnit::Kind;
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

  void place_rows(int rank, const std::vector<Slot>& slots, const std::vector<std::int64_t>& block_rows) {
    bool found = false;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Rows rows{problem_.first_row(before), problem_.first_row(before + block_rows[i])};
      before += block_rows[i];
      if (slots[i].rank != rank) continue;
      units_[slots[i].kind].rows = rows;
      all_ = {found ? all_.first : rows.first, rows.end};
      found = true;
    }
  }

  void touch(const Rows& rows) {
    for (const HostArray<Scalar>* array : {&a_, &c_}) {
      const std::span<Scalar> elements = array->elements(rows.first - all_.first, rows.count());
      std::fill(elements.begin(), elements.end(), Scalar{0});
    }
  }

  void prepare(Kind kind, double device_memory_bytes) {
    Unit& unit = units_[kind];
    const std::int64_t first = unit.rows.first - all_.first, count = unit.rows.count();
    if (count == 0) return;
    unit.operands = {a_.rows(first, count), b_.rows(0, problem_.k), c_.rows(first, count)};
    unit.gemm = make_slice_gemm<Scalar>(kind, problem_, count, device_memory_bytes);
  }

  UnitSeconds run(const PerUnit<int>& counts) {
    const auto multiply = [](const Unit& unit, int count) {
      for (int i = 0; unit.gemm && i < count; ++i) unit.gemm->run(unit.operands);
    };
    const UnitSeconds seconds = co_execution_.run([&] { multiply(units_.host, counts.host); },
                                                  [&] { multiply(units_.companion, counts.companion); });
    return {units_.host.gemm ? seconds.host_s : 0.0, units_.companion.gemm ? seconds.companion_s : 0.0};
  }

  CoExecution& co_execution_;
  Problem problem_;
  Rows all_;
  HostArray<Scalar> a_, b_, c_;
  PerUnit<Unit> units_;
};

}  // namespace steelyard::gemm
