#include "comm/communicator.hpp"

#include <chrono>
#include <thread>

#include "comm/mpi_check.hpp"

namespace steelyard {

Communicator::Communicator(MPI_Comm comm, int color) {
  int rank = 0;
  STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
  STEELYARD_MPI(MPI_Comm_split(comm, color, rank, &comm_));
  STEELYARD_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  STEELYARD_MPI(MPI_Comm_rank(comm_, &rank_));
  STEELYARD_MPI(MPI_Comm_size(comm_, &size_));
}

Communicator::~Communicator() { MPI_Comm_free(&comm_); }

void sleeping_barrier(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  STEELYARD_MPI(MPI_Ibarrier(comm, &request));
  for (;;) {
    int done = 0;
    STEELYARD_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done != 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace steelyard
