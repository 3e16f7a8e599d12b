#include "miniapps/gemm/multiplication.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace steelyard::gemm {
namespace {

using Kind = ProcessingUnit::Kind;

/// How many times a unit that needs once_s for one multiplication multiplies in target_s.
int repetitions(double target_s, double once_s) {
  constexpr double most = 1e6;
  return once_s > 0.0 ? static_cast<int>(std::clamp(std::round(target_s / once_s), 1.0, most)) : 1;
}

}  // namespace

template <class Scalar>
Multiplication<Scalar>::Multiplication(const Session& session, CoExecution& co_execution, const Problem& problem,
                                       const std::vector<Slot>& slots, const std::vector<std::int64_t>& block_rows,
                                       double device_memory_bytes, const Source& source)
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

template <class Scalar>
void Multiplication<Scalar>::place_rows(int rank, const std::vector<Slot>& slots,
                                        const std::vector<std::int64_t>& block_rows) {
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

template <class Scalar>
void Multiplication<Scalar>::touch(const Rows& rows) {
  for (const HostArray<Scalar>* array : {&a_, &c_}) {
    const std::span<Scalar> elements = array->elements(rows.first - all_.first, rows.count());
    std::fill(elements.begin(), elements.end(), Scalar{0});
  }
}

template <class Scalar>
void Multiplication<Scalar>::prepare(Kind kind, double device_memory_bytes) {
  Unit& unit = units_[kind];
  if (unit.rows.count() == 0) return;
  const std::int64_t first = unit.rows.first - all_.first;
  unit.operands = {a_.rows(first, unit.rows.count()), b_.rows(0, problem_.k), c_.rows(first, unit.rows.count())};
  unit.gemm = make_slice_gemm<Scalar>(kind, problem_, unit.rows.count(), device_memory_bytes);
}

template <class Scalar>
void Multiplication<Scalar>::load_c(const Source& source) {
  const std::span<Scalar> elements = c_.elements(0, all_.count());
  if (problem_.reads_c()) {
    source(MatrixName::c, {all_.first, 0, all_.count(), problem_.n}, elements);
  } else {
    std::fill(elements.begin(), elements.end(), std::numeric_limits<Scalar>::quiet_NaN());
  }
}

template <class Scalar>
UnitSeconds Multiplication<Scalar>::run_busy(const UnitSeconds& once_s, double busy_s) {
  const PerUnit<int> counts{repetitions(busy_s, once_s.host_s), repetitions(busy_s, once_s.companion_s)};
  const UnitSeconds seconds = run(counts);
  return {seconds.host_s / counts.host, seconds.companion_s / counts.companion};
}

template <class Scalar>
UnitSeconds Multiplication<Scalar>::run(const PerUnit<int>& counts) {
  const auto multiply = [](const Unit& unit, int count) {
    for (int i = 0; unit.gemm && i < count; ++i) unit.gemm->run(unit.operands);
  };
  const UnitSeconds seconds = co_execution_.run([&] { multiply(units_.host, counts.host); },
                                                [&] { multiply(units_.companion, counts.companion); });
  return {units_.host.gemm ? seconds.host_s : 0.0, units_.companion.gemm ? seconds.companion_s : 0.0};
}

template <class Scalar>
std::optional<TransferOverlap> Multiplication<Scalar>::run_timed() {
  std::optional<TransferOverlap> overlap;
  co_execution_.run(
      [&] {
        if (units_.host.gemm) units_.host.gemm->run(units_.host.operands);
      },
      [&] {
        if (units_.companion.gemm) overlap = units_.companion.gemm->run_timed(units_.companion.operands);
      });
  return overlap;
}

template class Multiplication<double>;
template class Multiplication<float>;

}  // namespace steelyard::gemm
