#pragma once

#include <mpi.h>

#include <span>

namespace steelyard {

/// A communicator of our own, freed at the end of the scope.
class Communicator {
 public:
  /// The ranks of `comm` with the same `color`, by `key` and then in the same order; errors are returned, not fatal.
  /// Collective. @throws MpiError
  Communicator(MPI_Comm comm, int color, int key = 0);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm get() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// A barrier that leaves the core to others while it waits: for ranks that stay idle while another one is measured.
/// Collective. @throws MpiError
void sleeping_barrier(MPI_Comm comm);

/// Yields between two looks at what a thread waits for. @param look how often it has looked before @param
/// may_spin whether nothing else needs its core; otherwise it soon sleeps, since threads that poll take the core from
/// those that work
void rest_between_looks(int look, bool may_spin);

/// Returns when MPI has completed the requests. @param may_spin see rest_between_looks(). @throws MpiError
void wait_all(std::span<MPI_Request> requests, bool may_spin);

/// Whether the MPI library sends from and receives into the memory of the device that Kokkos was built for, so that
/// nothing needs to be staged in host memory: what Open MPI and its relatives tell at run time, no where a library does
/// not tell, and no in a host build. In core/device/device_aware.cpp, beside all else that a back end decides.
bool mpi_takes_device_memory();

}  // namespace steelyard
