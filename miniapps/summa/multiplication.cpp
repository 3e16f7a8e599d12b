#include "miniapps/summa/multiplication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/host_array.hpp"
#include "core/timing.hpp"
#include "miniapps/gemm/panel_gemm.hpp"

namespace steelyard::summa {
namespace {

using gemm::MatrixName;
using Kind = ProcessingUnit::Kind;

}  // namespace

template <class Scalar>
class Multiplication<Scalar>::State {
 public:
  State(CoExecution& co_execution, const Problem& problem, const partition::Rectangle& rectangle, const UnitRows& rows,
        double device_memory_bytes, const Source& source)
      : co_execution_(co_execution), problem_(problem), rectangle_(rectangle), tile_(problem.tile(rectangle)) {
    place_units(rows);
    a_ = HostArray<Scalar>(tile_.columns, tile_.rows);
    b_ = HostArray<Scalar>(tile_.rows, tile_.columns);
    c_ = HostArray<Scalar>(tile_.rows, tile_.columns);
    // In one piece, for small ones get no huge pages.
    const std::int64_t depth = problem_.depth(0);
    panels_ = HostArray<Scalar>(4, depth * longest_side());
    // Written to now, for the first message would have to wait for the pages.
    const std::span<Scalar> pages = panels_.elements(0, panels_.row_count());
    std::fill(pages.begin(), pages.end(), Scalar{0});
    // The companion touches its rows first, so that they are near its core; the host's threads the rest.
    co_execution_.run([] {}, [&] { touch(companion_); });
    if (!tile_.empty()) {
      for (std::int64_t k = rectangle_.column; k < rectangle_.end_column(); ++k) {
        const std::int64_t column = problem_.first_row(k), columns = problem_.depth(k);
        source(MatrixName::a, {tile_.row, column, tile_.rows, columns}, a_.elements(column - tile_.column, columns));
      }
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
  std::int64_t longest_side() const { return std::max(tile_.rows, tile_.columns); }

  void place_units(const UnitRows& rows) {
    if (rows.host < 0 || rows.companion < 0 || rows.host + rows.companion != rectangle_.rows) {
      throw InvalidArgument(
          fmt::format("{} and {} block rows for the units of a rectangle of {} (expected all of them)", rows.host,
                      rows.companion, rectangle_.rows));
    }
    if (tile_.empty()) return;
    const std::int64_t cut = problem_.first_row(rectangle_.row + rows.host) - tile_.row;
    host_.rows = cut;
    companion_.first = cut;
    companion_.rows = tile_.rows - cut;
  }

  void touch(const Unit& unit) {
    const std::span<Scalar> elements = c_.elements(unit.first, unit.rows);
    std::fill(elements.begin(), elements.end(), Scalar{0});
  }

  bool owns_column(std::int64_t k) const { return rectangle_.column <= k && k < rectangle_.end_column(); }
  bool owns_row(std::int64_t k) const { return rectangle_.row <= k && k < rectangle_.end_row(); }

  Scalar* own_column(std::int64_t k) const { return a_.elements(problem_.first_row(k) - tile_.column, 1).data(); }
  Scalar* own_row(std::int64_t k) const { return b_.elements(problem_.first_row(k) - tile_.row, 1).data(); }

  PivotPanels panels(std::int64_t k) {
    if (tile_.empty()) return {};
    // Where what others send of iterations k and k + 1 arrives.
    const std::int64_t place = 2 * (k % 2);
    return {owns_column(k) ? own_column(k) : panels_.elements(place, 1).data(),
            owns_row(k) ? own_row(k) : panels_.elements(place + 1, 1).data()};
  }

  Durations run_in_turns(PivotExchange& exchange, MPI_Comm barrier) {
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

  Durations run_ahead(PivotExchange& exchange) {
    Durations durations;
    const std::int64_t last = problem_.blocks() - 1;
    durations.communication_s.resize(static_cast<std::size_t>(last + 1));
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
    const auto a =
        matrix_at<HostExecution, const Scalar>(static_cast<const Scalar*>(of_k.column), tile_.rows, depth, depth);
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
  HostArray<Scalar> a_;  ///< block columns, each row after row
  HostArray<Scalar> b_, c_;
  HostArray<Scalar> panels_;  ///< two of columns and two of rows, in turns
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
