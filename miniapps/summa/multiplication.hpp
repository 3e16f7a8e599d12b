#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/co_execution.hpp"
#include "core/host_array.hpp"
#include "miniapps/gemm/random_matrix.hpp"
#include "miniapps/gemm/unit_gemm.hpp"
#include "miniapps/summa/assignment.hpp"
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
  /// @param rows of the rank's units, all of its rectangle's
  /// @param device_memory_bytes cap of a companion's memory, infinity for none
  /// @throws InvalidArgument, RuntimeFailure where memory is short, and as `source`
  Multiplication(CoExecution& co_execution, const Problem& problem, const partition::Rectangle& rectangle,
                 const UnitRows& rows, double device_memory_bytes, const Source& source);

  void load_c(const Source& source);
  /// All iterations, once. Collective over the exchange's ranks.
  /// @param ahead whether messages of the next iteration travel meanwhile; for a pipelined exchange
  /// @param barrier communicator of a barrier before every iteration's communication; MPI_COMM_NULL: none
  /// @throws MpiError
  Durations run(PivotExchange& exchange, bool ahead, MPI_Comm barrier = MPI_COMM_NULL) {
    return ahead ? run_ahead(exchange) : run_in_turns(exchange, barrier);
  }

  const Tile& tile() const { return tile_; }
  ConstMatrix<HostExecution, Scalar> b() const { return b_.rows(0, tile_.rows); }
  ConstMatrix<HostExecution, Scalar> c() const { return c_.rows(0, tile_.rows); }
  std::span<const Scalar> c_elements() const { return c_.elements(0, tile_.rows); }
  /// How the companion multiplies; nothing where it works in the host's memory.
  std::optional<gemm::Blocking> blocking() const {
    return units_.companion.gemm ? units_.companion.gemm->blocking() : std::nullopt;
  }

 private:
  /// One unit's rows of the tile.
  struct Unit {
    std::int64_t first = 0;
    std::int64_t rows = 0;
    std::unique_ptr<gemm::PanelGemm<Scalar>> gemm;  ///< null without rows
  };
  using Meanwhile = typename gemm::PanelGemm<Scalar>::Meanwhile;

  void place_units(const UnitRows& rows);
  void touch_panels_and_c();
  void load_operands(const Source& source);
  PivotPanels panels(std::int64_t k);
  Durations run_in_turns(PivotExchange& exchange, MPI_Comm barrier);
  Durations run_ahead(PivotExchange& exchange);
  void update(std::int64_t k, const Meanwhile& meanwhile, UnitSeconds& sum);

  CoExecution& co_execution_;
  Problem problem_;
  partition::Rectangle rectangle_;
  Tile tile_;
  HostArray<Scalar> a_;  ///< block columns, each row after row
  HostArray<Scalar> b_, c_;
  HostArray<Scalar> panels_;  ///< two of columns and two of rows, in turns
  PerUnit<Unit> units_;
};

}  // namespace steelyard::summa
