#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "miniapps/summa/problem.hpp"
#include "partition/rectangle.hpp"

namespace steelyard::summa {

/// A rank's parts of one iteration's pivots, in host memory. A part that the rank owns is sent from here, any
/// other is received here.
struct PivotPanels {
  void* column = nullptr;  ///< of A: rows of its rectangle x depth, row after row without gaps
  void* row = nullptr;     ///< of B: depth x columns of its rectangle, likewise
};

/// Sends every iteration's pivot block column of A along rows and pivot block row of B along columns, so that each rank
/// has the parts that its rectangle needs. Source: 001, sections 4.1 and 5.4, algorithm 1.
class PivotExchange {
 public:
  virtual ~PivotExchange() = default;
  /// Begins iteration k on all ranks; iterations come in order. The panels of iteration k - 2 must be released before.
  /// @throws MpiError
  virtual void start(std::int64_t k, const PivotPanels& panels) = 0;
  /// Progresses messages while the caller computes. @return whether any are left
  virtual bool progress() { return false; }
  /// Returns when this rank's parts of the iteration that was started last are there.
  virtual void wait() {}
  /// Returns when the panels of iteration k may be written to.
  virtual void release(std::int64_t) {}
};

/// MPI counts elements with an int. @throws InvalidArgument for a part of a pivot of 2^31 elements and more
void require_countable_pivots(const Problem& problem, const std::vector<partition::Rectangle>& rectangles);

/// - paper: non-blocking messages along rows, from an owner to all ranks whose rows overlap its own; then blocking ones
///   along columns; complete when start() returns.
/// - bcast: MPI_Bcast in every band of rows that the same ranks share, from top to bottom, then of columns;
///   complete when start() returns.
/// - pipelined: non-blocking messages in both directions; start() returns at once.
/// Collective. @param rectangles of each rank: disjoint, covering all blocks @param element double or float
/// @throws InvalidArgument for another number of rectangles than ranks, and as require_countable_pivots(); MpiError
std::unique_ptr<PivotExchange> make_pivot_exchange(Communication communication, MPI_Comm comm, const Problem& problem,
                                                   std::vector<partition::Rectangle> rectangles, MPI_Datatype element);

}  // namespace steelyard::summa
