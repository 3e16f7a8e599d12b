#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/co_execution.hpp"
#include "core/matrix.hpp"
#include "miniapps/gemm/blocking.hpp"
#include "miniapps/gemm/random_matrix.hpp"
#include "miniapps/summa/assignment.hpp"
#include "miniapps/summa/pivot_exchange.hpp"
#include "miniapps/summa/problem.hpp"

namespace steelyard::summa {

/// What one multiplication took on a rank.
struct Durations {
  std::vector<double> communication_s;  ///< of each iteration: sending and waiting
  UnitSeconds update_s;                 ///< of each unit, sum over the iterations
};

/// C += A B on one rank: its tile of the three matrices, in host memory. A's block columns lie one after the other, so
/// that a pivot is sent from where it is. Source: 001, section 4.1, algorithm 1; 000,
/// section 3.3.
template <class Scalar>
class Multiplication {
 public:
  /// Fills `elements` with a tile of a matrix, row after row without gaps.
  using Source = std::function<void(gemm::MatrixName name, const Tile& tile, std::span<Scalar> elements)>;

  /// Allocates, and takes A and B from `source`; does not communicate.
  /// @param rows of the rank's units, all of its rectangle's
  /// @param device_memory_bytes cap of a companion's memory, infinity for none
  /// @throws InvalidArgument, RuntimeFailure where memory is short, and what `source` does
  Multiplication(CoExecution& co_execution, const Problem& problem, const partition::Rectangle& rectangle,
                 const UnitRows& rows, double device_memory_bytes, const Source& source);
  ~Multiplication();

  void load_c(const Source& source);
  /// All iterations, once. Collective over the exchange's ranks. Where `exchange` looks ahead, messages of the next
  /// iteration travel meanwhile.
  /// @param barrier communicator of a barrier before every iteration's communication; MPI_COMM_NULL: none
  /// @throws MpiError
  Durations run(PivotExchange& exchange, bool ahead, MPI_Comm barrier = MPI_COMM_NULL);

  const Tile& tile() const;
  ConstMatrix<HostExecution, Scalar> b() const;
  ConstMatrix<HostExecution, Scalar> c() const;
  std::span<const Scalar> c_elements() const;
  /// How the companion multiplies; nothing where it works in the host's memory.
  std::optional<gemm::Blocking> blocking() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace steelyard::summa
