#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "comm/collective.hpp"
#include "miniapps/summa/problem.hpp"
#include "partition/rectangles/rectangle.hpp"

namespace steelyard::summa {

/// A rank's parts of one iteration's pivots, in host memory. A part that the rank owns is sent from here, any
/// other is received here.
struct PivotPanels {
  void* column = nullptr;  ///< of A: rows of its rectangle x depth, row after row without gaps
  void* row = nullptr;     ///< of B: depth x columns of its rectangle, likewise
};

/// Sends every iteration's pivot block column of A along rows and pivot block row of B along columns, so that each rank
/// has the parts that its rectangle needs:
/// - paper: non-blocking messages along rows, from an owner to all ranks whose rows overlap its own, and blocking ones
///   along columns; complete when start() returns.
/// - bcast: MPI_Bcast in every band of rows that the same ranks share, from top to bottom, then of columns;
///   complete when start() returns.
/// - pipelined: non-blocking messages in both directions; start() returns at once.
/// Source: 001, sections 4.1 and 5.4, algorithm 1.
class PivotExchange {
 public:
  /// Collective. @param rectangles of each rank: disjoint, covering all blocks @param element double or float
  /// @throws InvalidArgument for another number of rectangles than ranks, and as require_countable_pivots(); MpiError
  PivotExchange(Communication communication, MPI_Comm comm, const Problem& problem,
                std::vector<partition::Rectangle> rectangles, MPI_Datatype element);

  /// Whether an iteration's messages travel while the one before multiplies.
  bool is_pipelined() const { return communication_ == Communication::pipelined; }
  /// Begins iteration k on all ranks; iterations come in order. The panels of iteration k - 2 must be released before.
  /// @throws MpiError
  void start(std::int64_t k, const PivotPanels& panels);
  /// Progresses messages while the caller computes. @return whether any are left
  bool progress();
  /// Returns when this rank's parts of the iteration that was started last are there.
  void wait() { wait(receives_); }
  /// Returns when the panels of iteration k may be written to.
  void release(std::int64_t k) { wait(sends(k)); }

 private:
  using Requests = std::vector<MPI_Request>;
  struct Part;
  /// Block rows (of a column) or block columns that this rank shares with the others of a communicator.
  struct SharedBand {
    partition::Band band;
    std::unique_ptr<Communicator> comm;
  };

  bool owns(int rank, Pivot pivot, std::int64_t k) const {
    return summa::owns(rectangles_[static_cast<std::size_t>(rank)], pivot, k);
  }
  Requests& sends(std::int64_t k) { return sends_[static_cast<std::size_t>(k % 2)]; }
  void broadcast(Pivot pivot, std::int64_t k, const PivotPanels& panels) const;
  void receive(Pivot pivot, std::int64_t k, const PivotPanels& panels);
  void send(Pivot pivot, std::int64_t k, const PivotPanels& panels);
  static void wait(Requests& requests);

  Communication communication_;
  MPI_Comm comm_;
  Problem problem_;
  std::vector<partition::Rectangle> rectangles_;
  MPI_Datatype element_;
  int element_bytes_ = 0;
  int rank_ = 0;
  Tile tile_;
  std::array<std::vector<partition::Overlap>, 2> partners_;  ///< of each pivot: ranks that this one shares it with
  std::array<std::vector<SharedBand>, 2> bands_;  ///< of each pivot, in an order that all ranks have; of bcast
  Requests receives_;
  std::array<Requests, 2> sends_;  ///< of iterations of even and of odd number
};

/// MPI counts elements with an int. @throws InvalidArgument for a part of a pivot of 2^31 elements and more
void require_countable_pivots(const Problem& problem, const std::vector<partition::Rectangle>& rectangles);

}  // namespace steelyard::summa
