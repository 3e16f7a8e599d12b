#include "miniapps/summa/multiplication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/timing.hpp"

namespace steelyard::summa {

using gemm::MatrixName;

template <class Scalar>
Multiplication<Scalar>::Multiplication(CoExecution& co_execution, const Problem& problem,
                                       const partition::Rectangle& rectangle, const UnitRows& rows,
                                       double device_memory_bytes, const Source& source)
    : co_execution_(co_execution),
      problem_(problem),
      rectangle_(rectangle),
      tile_(problem.tile(rectangle)),
      a_(tile_.columns, tile_.rows),
      b_(tile_.rows, tile_.columns),
      c_(tile_.rows, tile_.columns),
      // In one piece, for small ones get no huge pages.
      panels_(4, problem.depth(0) * std::max(tile_.rows, tile_.columns)) {
  place_units(rows);
  touch_panels_and_c();
  load_operands(source);
  const auto prepare = [&](ProcessingUnit::Kind kind) {
    Unit& unit = units_[kind];
    if (unit.rows == 0) return;
    unit.gemm =
        gemm::make_panel_gemm<Scalar>(kind, {unit.rows, tile_.columns, problem.n, problem.block}, device_memory_bytes);
  };
  co_execution_.run([&] { prepare(ProcessingUnit::Kind::host); }, [&] { prepare(ProcessingUnit::Kind::companion); });
}

template <class Scalar>
void Multiplication<Scalar>::place_units(const UnitRows& rows) {
  if (rows.host < 0 || rows.companion < 0 || rows.host + rows.companion != rectangle_.rows) {
    throw InvalidArgument(fmt::format("{} and {} block rows for the units of a rectangle of {} (expected all of them)",
                                      rows.host, rows.companion, rectangle_.rows));
  }
  if (tile_.empty()) return;
  const std::int64_t cut = problem_.first_row(rectangle_.row + rows.host) - tile_.row;
  units_.host.rows = cut;
  units_.companion.first = cut;
  units_.companion.rows = tile_.rows - cut;
}

template <class Scalar>
void Multiplication<Scalar>::touch_panels_and_c() {
  // Or the first message would have to wait for the pages.
  const std::span<Scalar> panels = panels_.elements(0, panels_.row_count());
  std::fill(panels.begin(), panels.end(), Scalar{0});
  // The companion touches its rows first, so that they are near its core; the host's threads the rest.
  co_execution_.run([] {},
                    [&] {
                      const std::span<Scalar> rows = c_.elements(units_.companion.first, units_.companion.rows);
                      std::fill(rows.begin(), rows.end(), Scalar{0});
                    });
}

template <class Scalar>
void Multiplication<Scalar>::load_operands(const Source& source) {
  if (tile_.empty()) return;
  for (std::int64_t k = rectangle_.column; k < rectangle_.end_column(); ++k) {
    const std::int64_t column = problem_.first_row(k), columns = problem_.depth(k);
    source(MatrixName::a, {tile_.row, column, tile_.rows, columns}, a_.elements(column - tile_.column, columns));
  }
  source(MatrixName::b, tile_, b_.elements(0, tile_.rows));
}

template <class Scalar>
void Multiplication<Scalar>::load_c(const Source& source) {
  if (!tile_.empty()) source(MatrixName::c, tile_, c_.elements(0, tile_.rows));
}

/// Own parts of pivot k where they are, and room for those that other ranks send in iterations k and k + 1.
template <class Scalar>
PivotPanels Multiplication<Scalar>::panels(std::int64_t k) {
  if (tile_.empty()) return {};
  const auto row = [](const HostArray<Scalar>& array, std::int64_t index) { return array.elements(index, 1).data(); };
  const std::int64_t first = problem_.first_row(k), room = 2 * (k % 2);
  return {owns_column(rectangle_, k) ? row(a_, first - tile_.column) : row(panels_, room),
          owns_row(rectangle_, k) ? row(b_, first - tile_.row) : row(panels_, room + 1)};
}

template <class Scalar>
Durations Multiplication<Scalar>::run_in_turns(PivotExchange& exchange, MPI_Comm barrier) {
  Durations durations;
  for (std::int64_t k = 0; k < problem_.blocks(); ++k) {
    if (barrier != MPI_COMM_NULL) STEELYARD_MPI(MPI_Barrier(barrier));
    const double start_s = now_s();
    exchange.start(k, panels(k));
    exchange.wait();
    durations.communication_s.push_back(now_s() - start_s);
    update(k, {}, durations.update_s);
  }
  return durations;
}

template <class Scalar>
Durations Multiplication<Scalar>::run_ahead(PivotExchange& exchange) {
  Durations durations;
  const std::int64_t last = problem_.blocks() - 1;
  // MPI is for the calling thread, which is the companion's too where there is no host unit.
  const auto progress = [&exchange, calling = std::this_thread::get_id()] {
    return std::this_thread::get_id() == calling && exchange.progress();
  };
  double start_s = now_s();
  exchange.start(0, panels(0));
  for (std::int64_t k = 0; k <= last; ++k) {
    exchange.wait();
    if (k < last) {
      if (k > 0) exchange.release(k - 1);
      exchange.start(k + 1, panels(k + 1));
    }
    durations.communication_s.push_back(now_s() - start_s);
    update(k, progress, durations.update_s);
    start_s = now_s();
  }
  for (const std::int64_t k : {last - 1, last}) {
    if (k >= 0) exchange.release(k);
  }
  durations.communication_s.back() += now_s() - start_s;
  return durations;
}

template <class Scalar>
void Multiplication<Scalar>::update(std::int64_t k, const Meanwhile& meanwhile, UnitSeconds& sum) {
  if (tile_.empty()) return;
  const PivotPanels pivots = panels(k);
  const std::int64_t depth = problem_.depth(k);
  const auto a =
      matrix_at<HostExecution, const Scalar>(static_cast<const Scalar*>(pivots.column), tile_.rows, depth, depth);
  const auto b = matrix_at<HostExecution, const Scalar>(static_cast<const Scalar*>(pivots.row), depth, tile_.columns,
                                                        tile_.columns);
  const auto add = [&](Unit& unit) {
    if (!unit.gemm) return;
    unit.gemm->add(k, {matrix_block(a, unit.first, unit.rows, 0, depth), b, c_.rows(unit.first, unit.rows)}, meanwhile);
  };
  const UnitSeconds seconds = co_execution_.run([&] { add(units_.host); }, [&] { add(units_.companion); });
  if (units_.host.gemm) sum.host_s += seconds.host_s;
  if (units_.companion.gemm) sum.companion_s += seconds.companion_s;
}

template class Multiplication<double>;
template class Multiplication<float>;

}  // namespace steelyard::summa
