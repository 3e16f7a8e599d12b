#include "miniapps/gemm/multiplication.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/host_array.hpp"

namespace steelyard::gemm {
namespace {

using Kind = ProcessingUnit::Kind;

/// Rows of A and C, as global numbers.
struct Rows {
  std::int64_t first = 0;
  std::int64_t end = 0;
  std::int64_t count() const { return end - first; }
};

}  // namespace

template <class Scalar>
class Multiplication<Scalar>::State {
 public:
  State(const Session& session, CoExecution& co_execution, const Problem& problem, const std::vector<Slot>& slots,
        const std::vector<std::int64_t>& block_rows, double device_memory_bytes, const Source& source)
      : co_execution_(co_execution), problem_(problem) {
    place_rows(session.rank(), slots, block_rows);
    a_ = HostArray<Scalar>(all_.count(), problem.k);
    b_ = HostArray<Scalar>(problem.k, problem.n);
    c_ = HostArray<Scalar>(all_.count(), problem.n);
    // The companion touches its rows first, so that they are near its core; the host's threads the rest.
    co_execution_.run([] {}, [&] { touch(companion_); });
    if (all_.count() > 0) source(MatrixName::a, all_.first, a_.elements(0, all_.count()));
    source(MatrixName::b, 0, b_.elements(0, problem.k));
    const auto make = [&](Unit& unit, Kind kind) {
      if (unit.rows.count() == 0) return;
      const std::int64_t first = unit.rows.first - all_.first;
      unit.operands = {a_.rows(first, unit.rows.count()), b_.rows(0, problem.k), c_.rows(first, unit.rows.count())};
      unit.gemm = make_slice_gemm<Scalar>(kind, problem, unit.rows.count(), device_memory_bytes);
    };
    co_execution_.run([&] { make(host_, Kind::host); }, [&] { make(companion_, Kind::companion); });
  }

  void load_c(const Source& source) {
    const std::span<Scalar> elements = c_.elements(0, all_.count());
    if (problem_.reads_c()) {
      source(MatrixName::c, all_.first, elements);
    } else {
      std::fill(elements.begin(), elements.end(), std::numeric_limits<Scalar>::quiet_NaN());
    }
  }

  UnitSeconds run() { return run({1, 1}); }

  UnitSeconds run_busy(const UnitSeconds& once_s, double busy_s) {
    const Counts counts{to_fill(busy_s, once_s.host_s), to_fill(busy_s, once_s.companion_s)};
    const UnitSeconds seconds = run(counts);
    return {seconds.host_s / counts.host, seconds.companion_s / counts.companion};
  }

  std::optional<TransferOverlap> run_timed() {
    std::optional<TransferOverlap> overlap;
    co_execution_.run([&] { multiply(host_, 1); },
                      [&] {
                        if (companion_.gemm) overlap = companion_.gemm->run_timed(companion_.operands);
                      });
    return overlap;
  }

  const Rows& rows() const { return all_; }
  const HostArray<Scalar>& a() const { return a_; }
  const HostArray<Scalar>& b() const { return b_; }
  const HostArray<Scalar>& c() const { return c_; }
  std::optional<Blocking> blocking() const { return companion_.gemm ? companion_.gemm->blocking() : std::nullopt; }

 private:
  struct Unit {
    Rows rows;
    Operands<Scalar> operands;
    std::unique_ptr<SliceGemm<Scalar>> gemm;  ///< null without rows
  };
  struct Counts {
    int host = 1;
    int companion = 1;
  };

  void place_rows(int rank, const std::vector<Slot>& slots, const std::vector<std::int64_t>& block_rows) {
    bool found = false;
    std::int64_t before = 0;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Rows rows{problem_.first_row(before), problem_.first_row(before + block_rows[i])};
      before += block_rows[i];
      if (slots[i].rank != rank) continue;
      (slots[i].kind == Kind::host ? host_ : companion_).rows = rows;
      all_ = {found ? all_.first : rows.first, rows.end};
      found = true;
    }
  }

  void touch(const Unit& unit) {
    for (const HostArray<Scalar>* array : {&a_, &c_}) {
      const std::span<Scalar> elements = array->elements(unit.rows.first - all_.first, unit.rows.count());
      std::fill(elements.begin(), elements.end(), Scalar{0});
    }
  }

  static int to_fill(double target_s, double once_s) {
    constexpr double most = 1e6;
    return once_s > 0.0 ? static_cast<int>(std::clamp(std::round(target_s / once_s), 1.0, most)) : 1;
  }

  static void multiply(Unit& unit, int count) {
    for (int i = 0; unit.gemm && i < count; ++i) unit.gemm->run(unit.operands);
  }

  UnitSeconds run(const Counts& counts) {
    const UnitSeconds seconds =
        co_execution_.run([&] { multiply(host_, counts.host); }, [&] { multiply(companion_, counts.companion); });
    return {host_.gemm ? seconds.host_s : 0.0, companion_.gemm ? seconds.companion_s : 0.0};
  }

  CoExecution& co_execution_;
  Problem problem_;
  Rows all_;
  HostArray<Scalar> a_, b_, c_;
  Unit host_, companion_;
};

template <class Scalar>
Multiplication<Scalar>::Multiplication(const Session& session, CoExecution& co_execution, const Problem& problem,
                                       const std::vector<Slot>& slots, const std::vector<std::int64_t>& block_rows,
                                       double device_memory_bytes, const Source& source)
    : state_(std::make_unique<State>(session, co_execution, problem, slots, block_rows, device_memory_bytes, source)) {}
template <class Scalar>
Multiplication<Scalar>::~Multiplication() = default;
template <class Scalar>
void Multiplication<Scalar>::load_c(const Source& source) {
  state_->load_c(source);
}
template <class Scalar>
UnitSeconds Multiplication<Scalar>::run() {
  return state_->run();
}
template <class Scalar>
UnitSeconds Multiplication<Scalar>::run_busy(const UnitSeconds& once_s, double busy_s) {
  return state_->run_busy(once_s, busy_s);
}
template <class Scalar>
std::optional<TransferOverlap> Multiplication<Scalar>::run_timed() {
  return state_->run_timed();
}
template <class Scalar>
std::int64_t Multiplication<Scalar>::first_row() const {
  return state_->rows().first;
}
template <class Scalar>
std::int64_t Multiplication<Scalar>::rows() const {
  return state_->rows().count();
}
template <class Scalar>
ConstMatrix<HostExecution, Scalar> Multiplication<Scalar>::a() const {
  return state_->a().rows(0, rows());
}
template <class Scalar>
ConstMatrix<HostExecution, Scalar> Multiplication<Scalar>::b() const {
  return state_->b().rows(0, state_->b().row_count());
}
template <class Scalar>
ConstMatrix<HostExecution, Scalar> Multiplication<Scalar>::c() const {
  return state_->c().rows(0, rows());
}
template <class Scalar>
std::span<const Scalar> Multiplication<Scalar>::c_elements() const {
  return state_->c().elements(0, rows());
}
template <class Scalar>
std::optional<Blocking> Multiplication<Scalar>::blocking() const {
  return state_->blocking();
}

template class Multiplication<double>;
template class Multiplication<float>;

}  // namespace steelyard::gemm
