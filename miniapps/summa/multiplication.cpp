#include "miniapps/summa/multiplication.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "comm/mpi_check.hpp"
#include "core/timing.hpp"
#include "miniapps/gemm/host_array.hpp"
#include "miniapps/gemm/panel_gemm.hpp"

namespace steelyard::summa {
namespace {

using gemm::HostArray;
using gemm::MatrixName;
using gemm::Operands;
using Kind = ProcessingUnit::Kind;

/// Copies rows of a matrix to an array without gaps.
template <class Scalar>
struct PackRows {
  ConstMatrix<HostExecution, Scalar> from;
  Scalar* to;

  void operator()(const std::int64_t row) const {
    const auto columns = static_cast<std::int64_t>(from.extent(1));
    const Scalar* const source = from.data() + row * static_cast<std::int64_t>(from.stride(0));
    std::copy(source, source + columns, to + row * columns);
  }
};

}  // namespace

template <class Scalar>
class Multiplication<Scalar>::State {
 public:
  State(CoExecution& co_execution, const Problem& problem, const partition::Rectangle& rectangle, const UnitRows& rows,
        double device_memory_bytes, const Source& source)
      : co_execution_(co_execution), problem_(problem), rectangle_(rectangle), tile_(problem.tile(rectangle)) {
    place_units(rows);
    a_ = HostArray<Scalar>(tile_.rows, tile_.columns);
    b_ = HostArray<Scalar>(tile_.rows, tile_.columns);
    c_ = HostArray<Scalar>(tile_.rows, tile_.columns);
    const std::int64_t depth = problem_.depth(0);
    for (Panels& panels : panels_) {
      panels.column = HostArray<Scalar>(tile_.rows, depth);
      panels.row = HostArray<Scalar>(depth, tile_.columns);
    }
    // The companion touches its rows first, so that they are near its core; the host's threads the rest.
    co_execution_.run([] {}, [&] { touch(companion_); });
    if (!tile_.empty()) {
      source(MatrixName::a, tile_, a_.elements(0, tile_.rows));
      source(MatrixName::b, tile_, b_.elements(0, tile_.rows));
    }
    const auto make = [&](Unit& unit, Kind kind) {
      if (unit.rows == 0) return;
      unit.gemm = gemm::make_panel_gemm<Scalar>(kind, {unit.rows, tile_.columns, problem.n, problem.block},
                                                device_memory_bytes);
    };
    co_execution_.run([&] { make(host_, Kind::host); }, [&] { make(companion_, Kind::companion); });
  }

  void load_c(const Source& source) {
    if (!tile_.empty()) source(MatrixName::c, tile_, c_.elements(0, tile_.rows));
  }

  Durations run(PivotExchange& exchange, bool ahead, MPI_Comm barrier) {
    return ahead ? run_ahead(exchange) : run_in_turns(exchange, barrier);
  }

  const Tile& tile() const { return tile_; }
  const HostArray<Scalar>& a() const { return a_; }
  const HostArray<Scalar>& b() const { return b_; }
  const HostArray<Scalar>& c() const { return c_; }
  std::optional<gemm::Blocking> blocking() const {
    return companion_.gemm ? companion_.gemm->blocking() : std::nullopt;
  }

 private:
  /// One unit's rows of the tile.
  struct Unit {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::unique_ptr<gemm::PanelGemm<Scalar>> gemm;  ///< null without rows
  };
  /// Where an iteration's parts of the pivots are put together.
  struct Panels {
    HostArray<Scalar> column, row;
  };

  void place_units(const UnitRows& rows) {
    if (tile_.empty()) return;
    const std::int64_t cut = problem_.first_row(rectangle_.row + rows.host) - tile_.row;
    host_.rows = cut;
    companion_.first = cut;
    companion_.rows = tile_.rows - cut;
  }

  void touch(const Unit& unit) {
    for (const HostArray<Scalar>* array : {&a_, &b_, &c_}) {
      const std::span<Scalar> elements = array->elements(unit.first, unit.rows);
      std::fill(elements.begin(), elements.end(), Scalar{0});
    }
  }

  bool owns_column(std::int64_t k) const { return rectangle_.column <= k && k < rectangle_.end_column(); }
  /// Whether nobody else has these rows: A's part is used where it is.
  bool spans_rows() const { return rectangle_.columns == problem_.blocks(); }
  bool owns_row(std::int64_t k) const { return rectangle_.row <= k && k < rectangle_.end_row(); }

  /// A's block column k, of the tile that has it.
  ConstMatrix<HostExecution, Scalar> own_column(std::int64_t k) const {
    return matrix_block(a_.rows(0, tile_.rows), 0, tile_.rows, problem_.first_row(k) - tile_.column,
                        problem_.depth(k));
  }
  Scalar* own_row(std::int64_t k) const { return b_.elements(problem_.first_row(k) - tile_.row, 1).data(); }

  PivotPanels panels(std::int64_t k) {
    if (tile_.empty()) return {};
    const Panels& of_k = panels_[static_cast<std::size_t>(k % 2)];
    return {of_k.column.elements(0, 0).data(), owns_row(k) ? own_row(k) : of_k.row.elements(0, 0).data()};
  }

  /// Puts the rank's part of pivot column k, if it owns it, together for sending.
  void pack(std::int64_t k) {
    if (tile_.empty() || !owns_column(k) || spans_rows()) return;
    const PackRows<Scalar> pack_rows{own_column(k), static_cast<Scalar*>(panels(k).column)};
    using Policy = Kokkos::RangePolicy<HostExecution, Kokkos::IndexType<std::int64_t>>;
    const HostExecution space;
    Kokkos::parallel_for("steelyard::summa::pack", Policy(space, 0, tile_.rows), pack_rows);
    space.fence();
  }

  Durations run_in_turns(PivotExchange& exchange, MPI_Comm barrier) {
    Durations durations;
    for (std::int64_t k = 0; k < problem_.blocks(); ++k) {
      if (barrier != MPI_COMM_NULL) STEELYARD_MPI(MPI_Barrier(barrier));
      const double start_s = now_s();
      pack(k);
      exchange.start(k, panels(k));
      exchange.wait();
      durations.communication_s.push_back(now_s() - start_s);
      update(k, {}, durations.update_s);
    }
    return durations;
  }

  Durations run_ahead(PivotExchange& exchange) {
    Durations durations;
    const std::int64_t last = problem_.blocks() - 1;
    durations.communication_s.resize(static_cast<std::size_t>(last + 1));
    const auto start = [&](std::int64_t k) {
      pack(k);
      exchange.start(k, panels(k));
    };
    // MPI is for the calling thread, which is the companion's too where there is no host unit.
    const auto progress = [&exchange, calling = std::this_thread::get_id()] {
      if (std::this_thread::get_id() == calling) exchange.progress();
    };
    double start_s = now_s();
    start(0);
    for (std::int64_t k = 0; k <= last; ++k) {
      exchange.wait();
      if (k < last) {
        if (k > 0) exchange.release(k - 1);
        start(k + 1);
      }
      durations.communication_s[static_cast<std::size_t>(k)] = now_s() - start_s;
      update(k, progress, durations.update_s);
      start_s = now_s();
    }
    for (const std::int64_t k : {last - 1, last}) {
      if (k >= 0) exchange.release(k);
    }
    durations.communication_s.back() += now_s() - start_s;
    return durations;
  }

  void update(std::int64_t k, const typename gemm::PanelGemm<Scalar>::Meanwhile& meanwhile, UnitSeconds& sum) {
    if (tile_.empty()) return;
    const PivotPanels of_k = panels(k);
    const std::int64_t depth = problem_.depth(k);
    const ConstMatrix<HostExecution, Scalar> a =
        spans_rows() ? own_column(k)
                     : matrix_at<HostExecution, const Scalar>(static_cast<const Scalar*>(of_k.column), tile_.rows,
                                                              depth, depth);
    const auto b = matrix_at<HostExecution, const Scalar>(static_cast<const Scalar*>(of_k.row), depth, tile_.columns,
                                                          tile_.columns);
    const auto add = [&](Unit& unit) {
      if (!unit.gemm) return;
      unit.gemm->add(k, {matrix_block(a, unit.first, unit.rows, 0, depth), b, c_.rows(unit.first, unit.rows)},
                     meanwhile);
    };
    const UnitSeconds seconds = co_execution_.run([&] { add(host_); }, [&] { add(companion_); });
    if (host_.gemm) sum.host_s += seconds.host_s;
    if (companion_.gemm) sum.companion_s += seconds.companion_s;
  }

  CoExecution& co_execution_;
  Problem problem_;
  partition::Rectangle rectangle_;
  Tile tile_;
  HostArray<Scalar> a_, b_, c_;
  std::array<Panels, 2> panels_;
  Unit host_, companion_;
};

template <class Scalar>
Multiplication<Scalar>::Multiplication(CoExecution& co_execution, const Problem& problem,
                                       const partition::Rectangle& rectangle, const UnitRows& rows,
                                       double device_memory_bytes, const Source& source)
    : state_(std::make_unique<State>(co_execution, problem, rectangle, rows, device_memory_bytes, source)) {}
template <class Scalar>
Multiplication<Scalar>::~Multiplication() = default;
template <class Scalar>
void Multiplication<Scalar>::load_c(const Source& source) {
  state_->load_c(source);
}
template <class Scalar>
Durations Multiplication<Scalar>::run(PivotExchange& exchange, bool ahead, MPI_Comm barrier) {
  return state_->run(exchange, ahead, barrier);
}
template <class Scalar>
const Tile& Multiplication<Scalar>::tile() const {
  return state_->tile();
}
template <class Scalar>
ConstMatrix<HostExecution, Scalar> Multiplication<Scalar>::a() const {
  return state_->a().rows(0, tile().rows);
}
template <class Scalar>
ConstMatrix<HostExecution, Scalar> Multiplication<Scalar>::b() const {
  return state_->b().rows(0, tile().rows);
}
template <class Scalar>
ConstMatrix<HostExecution, Scalar> Multiplication<Scalar>::c() const {
  return state_->c().rows(0, tile().rows);
}
template <class Scalar>
std::span<const Scalar> Multiplication<Scalar>::c_elements() const {
  return state_->c().elements(0, tile().rows);
}
template <class Scalar>
std::optional<gemm::Blocking> Multiplication<Scalar>::blocking() const {
  return state_->blocking();
}

template class Multiplication<double>;
template class Multiplication<float>;

}  // namespace steelyard::summa
