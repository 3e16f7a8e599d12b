#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace steelyard {

/// A block of elements that lie without gaps, on its way to or from another rank.
struct ExchangedBlock {
  int rank = 0;          ///< the other one
  int tag = 0;           ///< tells apart the blocks that one rank sends to another: 0, 1, 2, …
  void* data = nullptr;  ///< host memory, or a device's where the MPI library takes it
  std::int64_t elements = 0;
  int batch = 0;  ///< of those to send: blocks of a batch are sent together
};

/// An exchange of blocks of any sizes between any ranks, such as of a transposition, through buffers that stay where
/// they are: persistent, non-blocking, and sent batch by batch as they become ready. All calls come from one thread.
class BlockExchange {
 public:
  /// Collective, for exchanges keep apart by communicators of their own.
  /// @param element_bytes bytes of an element; a block has less than 2^31 elements
  /// @param sends, receives of this rank; empty blocks are left out
  /// @throws MpiError, InvalidArgument for a block that is too long
  BlockExchange(MPI_Comm comm, std::size_t element_bytes, std::span<const ExchangedBlock> sends,
                std::span<const ExchangedBlock> receives);
  ~BlockExchange();
  BlockExchange(const BlockExchange&) = delete;
  BlockExchange& operator=(const BlockExchange&) = delete;

  /// From now on blocks may arrive.
  void start_receives();
  /// Sends the batch's blocks, which nobody may write to until wait() has returned.
  void send(int batch);
  /// Lets the MPI library go on with what is on its way; a library without a thread of its own stands still otherwise.
  void progress();
  /// Returns when everything that was started is sent and received. @param may_spin see wait_all()
  void wait(bool may_spin = true);

 private:
  void start(std::size_t first, std::size_t end);

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Datatype element_ = MPI_DATATYPE_NULL;
  std::vector<MPI_Request> requests_;        ///< of receives, then of sends, batch by batch
  std::vector<std::size_t> begin_of_batch_;  ///< in `requests_`; one more than batches
};

}  // namespace steelyard
