#pragma once

#include <mpi.h>

#include "comm/mpi_check.hpp"

namespace steelyard::tests {

/// Part of a communicator: the ranks of the same colour, ordered by key. Collective.
class SplitComm {
 public:
  SplitComm(MPI_Comm whole, int colour, int key) {
    STEELYARD_MPI(MPI_Comm_split(whole, colour, key, &comm_));
    STEELYARD_MPI(MPI_Comm_rank(comm_, &rank_));
    STEELYARD_MPI(MPI_Comm_size(comm_, &size_));
  }
  ~SplitComm() { MPI_Comm_free(&comm_); }
  SplitComm(const SplitComm&) = delete;
  SplitComm& operator=(const SplitComm&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace steelyard::tests
