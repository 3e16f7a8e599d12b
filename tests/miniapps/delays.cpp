// Ranks that are late. Put before MPI by LD_PRELOAD, it lets every fourth call that starts or ends a message wait for
// up to 2 ms, at random by the rank and STEELYARD_DELAYS, a seed.

#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

namespace {

int number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::atoi(text);
}

void delay() {
  thread_local std::mt19937 random(
      static_cast<unsigned>(1000 * number_in("STEELYARD_DELAYS") + number_in("OMPI_COMM_WORLD_RANK")));
  if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
}

}  // namespace

extern "C" {

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  delay();
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}
int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  delay();
  return PMPI_Irecv(buffer, count, type, from, tag, comm, request);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  delay();
  return PMPI_Wait(request, status);
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  delay();
  return PMPI_Waitall(count, requests, statuses);
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  delay();
  return PMPI_Allreduce(from, to, count, type, operation, comm);
}
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  delay();
  return PMPI_Bcast(buffer, count, type, root, comm);
}
int MPI_Barrier(MPI_Comm comm) {
  delay();
  return PMPI_Barrier(comm);
}

}  // extern "C"
