#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "comm/unit_group.hpp"
#include "core/memory/matrix.hpp"
#include "core/processing_unit.hpp"
#include "core/timing.hpp"
#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "miniapps/summa/pivot_exchange.hpp"
#include "miniapps/summa/problem.hpp"

namespace steelyard::summa {

/// Seconds of one multiplication on a rank.
struct Durations {
  std::vector<double> communication_s;  ///< of each iteration: sending and waiting
  UnitSeconds update_s;                 ///< of each unit, sum over the iterations
};

/// C += A B on one rank: its tile of the three matrices, in host memory. A's block columns lie one after the other, so
/// that a pivot is sent without a copy. Source: 001, section 4.1, algorithm 1; 000, section 3.3.
template <class Scalar>
class Multiplication {
 public:
  using Source = gemm::MatrixSource<Scalar>;

  /// Allocates, and takes A and B from `source`; does not communicate.
  /// @param group outlives this @param rows block rows of the rectangle that each unit updates, the host's at the top
  /// @throws InvalidArgument, RuntimeFailure where memory is short, and as `source`
  Multiplication(UnitGroup& group, const Problem& problem, const partition::Rectangle& rectangle,
                 const PerUnit<std::int64_t>& rows, const gemm::DeviceUse& use, const Source& source)
      : group_(group),
        problem_(problem),
        rectangle_(rectangle),
        tile_(problem.tile(rectangle)),
        a_(tile_.columns, tile_.rows),
        b_(tile_.rows, tile_.columns),
        c_(tile_.rows, tile_.columns),
        // In one piece, for small ones get no huge pages.
        panels_(4, problem.depth(0) * std::max(tile_.rows, tile_.columns)) {
    // Or the first message would have to wait for the pages.
    const std::span<Scalar> panels = panels_.elements(0, panels_.row_count());
    std::fill(panels.begin(), panels.end(), Scalar{0});
    if (tile_.empty()) return;
    const std::int64_t cut = problem.first_row(rectangle.row + rows.host) - tile_.row;
    units_.host.rows = cut;
    units_.companion = {cut, tile_.rows - cut, nullptr};
    // The companion touches its rows first, so that they are near its core; the host's threads the rest.
    group_.run([&](const auto& peer) {
      if (peer.kind() != ProcessingUnit::Kind::companion) return;
      const std::span<Scalar> elements = c_.elements(units_.companion.first, units_.companion.rows);
      std::fill(elements.begin(), elements.end(), Scalar{0});
    });
    for (std::int64_t k = rectangle.column; k < rectangle.end_column(); ++k) {
      const std::int64_t column = problem.first_row(k), columns = problem.depth(k);
      source(gemm::MatrixName::a, {tile_.row, column, tile_.rows, columns},
             a_.elements(column - tile_.column, columns));
    }
    source(gemm::MatrixName::b, tile_, b_.elements(0, tile_.rows));
    group_.run([&](const auto& peer) {
      Unit& unit = units_[peer.kind()];
      if (unit.rows == 0) return;
      const gemm::PanelProblem of_rows{unit.rows, tile_.columns, problem.n, std::min(problem.block, problem.n)};
      unit.gemm = std::make_unique<gemm::UnitGemm<Scalar>>(peer.kind(), of_rows, use);
    });
  }

  void load_c(const Source& source) {
    if (!tile_.empty()) source(gemm::MatrixName::c, tile_, c_.elements(0, tile_.rows));
  }

  /// All iterations, once: a program of the rank's units, which have all ended one before the next begins. Collective
  /// over the exchange's ranks.
  /// @param barrier communicator of a barrier before every iteration's communication; MPI_COMM_NULL: none
  /// @throws MpiError
  Durations run(PivotExchange& exchange, MPI_Comm barrier = MPI_COMM_NULL) {
    Durations durations;
    // Iterations whose pivots have arrived, and iterations that the unit which does not drive MPI has multiplied.
    UnitGroup::Signal received, multiplied;
    durations.update_s = group_.run([&](const auto& peer) {
      const Unit& unit = units_[peer.kind()];
      const bool drives = group_.drives(peer.kind());
      typename gemm::UnitGemm<Scalar>::Meanwhile progress;
      if (drives && exchange.is_pipelined()) progress = [&exchange] { return exchange.progress(); };
      for (std::int64_t k = 0; k < problem_.blocks(); ++k) {
        const auto count = static_cast<std::uint64_t>(k) + 1;
        if (drives) {
          if (barrier != MPI_COMM_NULL) STEELYARD_MPI(MPI_Barrier(barrier));
          durations.communication_s.push_back(communicate(exchange, k));
          received.raise(count);
        } else {
          group_.await(received, count);
        }
        peer.compute([&] {
          if (unit.gemm) unit.gemm->add(k, operands(unit, k), progress);
        });
        if (!drives) {
          multiplied.raise(count);
        } else if (group_.unit_count() > 1) {
          group_.await(multiplied, count, progress);
        }
      }
    });
    const double start_s = now_s();
    for (const std::int64_t k : {problem_.blocks() - 2, problem_.blocks() - 1}) {
      if (k >= 0) exchange.release(k);
    }
    durations.communication_s.back() += now_s() - start_s;
    if (!units_.host.gemm) durations.update_s.host_s = 0.0;
    if (!units_.companion.gemm) durations.update_s.companion_s = 0.0;
    return durations;
  }

  const Tile& tile() const { return tile_; }
  ConstMatrix<HostExecution, Scalar> b() const { return b_.rows(0, tile_.rows); }
  ConstMatrix<HostExecution, Scalar> c() const { return c_.rows(0, tile_.rows); }
  std::span<const Scalar> c_elements() const { return c_.elements(0, tile_.rows); }

 private:
  /// One unit's rows of the tile.
  struct Unit {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::unique_ptr<gemm::UnitGemm<Scalar>> gemm;  ///< null without rows
  };

  /// Returns once iteration k's pivots are there and, pipelined, the next ones under way. @return seconds
  double communicate(PivotExchange& exchange, std::int64_t k) {
    const double start_s = now_s();
    const bool ahead = exchange.is_pipelined();
    if (!ahead || k == 0) exchange.start(k, panels(k));
    exchange.wait();
    if (ahead && k + 1 < problem_.blocks()) {
      if (k > 0) exchange.release(k - 1);
      exchange.start(k + 1, panels(k + 1));
    }
    return now_s() - start_s;
  }

  /// Own parts of pivot k where they are, and room for those that other ranks send in iterations k and k + 1.
  PivotPanels panels(std::int64_t k) const {
    if (tile_.empty()) return {};
    const auto row = [](const HostArray<Scalar>& array, std::int64_t index) { return array.elements(index, 1).data(); };
    const std::int64_t first = problem_.first_row(k), room = 2 * (k % 2);
    return {owns(rectangle_, Pivot::column, k) ? row(a_, first - tile_.column) : row(panels_, room),
            owns(rectangle_, Pivot::row, k) ? row(b_, first - tile_.row) : row(panels_, room + 1)};
  }

  /// Operands of the product that iteration k adds to a unit's rows.
  gemm::Operands<Scalar> operands(const Unit& unit, std::int64_t k) const {
    const PivotPanels at = panels(k);
    const std::int64_t depth = problem_.depth(k);
    const auto* const a = static_cast<const Scalar*>(at.column) + unit.first * depth;
    const auto* const b = static_cast<const Scalar*>(at.row);
    return {matrix_at<HostExecution>(a, unit.rows, depth, depth),
            matrix_at<HostExecution>(b, depth, tile_.columns, tile_.columns), c_.rows(unit.first, unit.rows)};
  }

  UnitGroup& group_;
  Problem problem_;
  partition::Rectangle rectangle_;
  Tile tile_;
  HostArray<Scalar> a_;  ///< block columns, each row after row
  HostArray<Scalar> b_, c_;
  HostArray<Scalar> panels_;  ///< two of columns and two of rows, in turns
  PerUnit<Unit> units_;
};

/// The parts of a rank that has the same tile of A, B and C, for Freivalds' check; tiles are disjoint and cover the
/// matrices. Whole rows are sums of n x 11 long doubles over all ranks, which throw CollectiveError and MpiError.
/// @param comm of all ranks; stays as long as the check
inline gemm::Share tile_share(MPI_Comm comm, const Tile& tile) {
  constexpr std::size_t numbers = sizeof(gemm::RowSums) / sizeof(long double);
  static_assert(sizeof(gemm::RowSums) == numbers * sizeof(long double));
  return {tile.row, tile.column, [comm](const gemm::Share::Work& work) {
            std::vector<gemm::RowSums> sums;
            collectively(comm, [&] { sums = work(); });
            STEELYARD_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(numbers * sums.size()),
                                        MPI_LONG_DOUBLE, MPI_SUM, comm));
            return sums;
          }};
}

}  // namespace steelyard::summa
