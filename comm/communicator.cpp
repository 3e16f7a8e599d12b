#include "comm/communicator.hpp"

#include <chrono>
#include <thread>

#include "comm/mpi_check.hpp"

namespace steelyard {
namespace {

/// Looks of a thread that may spin before it lets others have its core: some 100 us.
constexpr int looks = 10000;
/// Times that a thread whose core has other threads yields before it sleeps: threads that only yield take their share
/// of the core from those that work and, with a scheduler that makes them pay for it (Linux 6.18), from everything
/// else.
constexpr int yields = 100;
constexpr std::chrono::microseconds nap{20};

/// Leaves the core's pipeline, and what another thread shares of it, alone for a few cycles.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Communicator::Communicator(MPI_Comm comm, int color, int key) {
  STEELYARD_MPI(MPI_Comm_split(comm, color, key, &comm_));
  STEELYARD_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  rank_ = rank_in(comm_);
  size_ = size_of(comm_);
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

void rest_between_looks(int look, bool may_spin) {
  if (may_spin && look < looks) {
    relax();
  } else if (may_spin || look < yields) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(nap);
  }
}

void wait_all(std::span<MPI_Request> requests, bool may_spin) {
  const int count = static_cast<int>(requests.size());
  if (may_spin) {
    STEELYARD_MPI(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
    return;
  }
  for (int look = 0;; ++look) {
    int done = 0;
    STEELYARD_MPI(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE));
    if (done != 0) return;
    rest_between_looks(look, may_spin);
  }
}

}  // namespace steelyard
