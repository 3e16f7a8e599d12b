#include "comm/measurement/message_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>
#include <thread>
#include <utility>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/base/statistics.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

constexpr int message_tag = 22;
constexpr int unused_tag = 23;

/// Memory of messages, in huge pages where the system has them, as that of the apps' large arrays.
std::unique_ptr<char[], void (*)(void*)> message_memory(int largest_bytes, char content) {
  const std::size_t bytes = static_cast<std::size_t>(largest_bytes) + 1;
  void* const memory = std::aligned_alloc(huge_page_bytes, (bytes / huge_page_bytes + 2) * huge_page_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  advise_huge_pages(memory, bytes);
  // Written to, so that the pages are there.
  std::fill_n(static_cast<char*>(memory), bytes, content);
  return {static_cast<char*>(memory), std::free};
}

/// Lets MPI work without receiving anything: where a message goes through a buffer of the receiver's, it is taken out
/// of it, which an eager send may wait for.
void progress_for(double seconds, MPI_Comm comm) {
  for (const double start_s = now_s(); now_s() - start_s < seconds;) {
    int found = 0;
    STEELYARD_MPI(MPI_Iprobe(MPI_ANY_SOURCE, unused_tag, comm, &found, MPI_STATUS_IGNORE));
    std::this_thread::yield();
  }
}

/// Seconds of `work` after a barrier and `before` that, each time on the rank that takes longest.
std::vector<double> longest_s(MPI_Comm comm, int repetitions, const auto& before, const auto& work) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    before();
    STEELYARD_MPI(MPI_Barrier(comm));
    const double start_s = now_s();
    work();
    times.push_back(now_s() - start_s);
  }
  return all_max(comm, std::move(times));
}

}  // namespace

MessageExchange::MessageExchange(MPI_Comm comm, int largest_bytes, std::size_t footprint_bytes)
    : comm_(comm),
      rank_(rank_in(comm)),
      ranks_(size_of(comm)),
      largest_bytes_(largest_bytes),
      out_(message_memory(largest_bytes, '\1')),
      in_(message_memory(largest_bytes, '\2')),
      other_memory_(footprint_bytes, '\1') {
  if (ranks_ < 2) throw InvalidArgument(fmt::format("messages between {} ranks (expected two or more)", ranks_));
}

void MessageExchange::sweep() {
  constexpr std::size_t line = 64;
  for (std::size_t i = 0; i < other_memory_.size(); i += line) ++other_memory_[i];
}

void MessageExchange::send(int bytes, int to, bool synchronous) {
  if (synchronous) {
    STEELYARD_MPI(MPI_Ssend(out_.get(), bytes, MPI_BYTE, to, message_tag, comm_));
  } else {
    STEELYARD_MPI(MPI_Send(out_.get(), bytes, MPI_BYTE, to, message_tag, comm_));
  }
}

void MessageExchange::receive(int bytes, int from) {
  STEELYARD_MPI(MPI_Recv(in_.get(), bytes, MPI_BYTE, from, message_tag, comm_, MPI_STATUS_IGNORE));
}

double MessageExchange::from_first(double value) const {
  STEELYARD_MPI(MPI_Bcast(&value, 1, MPI_DOUBLE, 0, comm_));
  return value;
}

double MessageExchange::ping_pong_s(int bytes, int repetitions, bool synchronous) {
  if (!is_cold()) return warm_ping_pong_s(bytes, repetitions, synchronous);
  return mean(longest_s(
      comm_, repetitions, [this] { sweep(); },
      [&] {
        if (rank_ == 0) {
          send(bytes, 1, synchronous);
        } else if (rank_ == 1) {
          receive(bytes, 0);
        }
      }));
}

double MessageExchange::warm_ping_pong_s(int bytes, int repetitions, bool synchronous) {
  STEELYARD_MPI(MPI_Barrier(comm_));
  double start_s = now_s();
  for (int i = -1; i < repetitions; ++i) {
    // The first one warms up, and makes good for leaving the barrier at different times.
    if (i == 0) start_s = now_s();
    if (rank_ == 0) {
      send(bytes, 1, synchronous);
      receive(bytes, 1);
    } else if (rank_ == 1) {
      receive(bytes, 0);
      send(bytes, 0, synchronous);
    }
  }
  return from_first((now_s() - start_s) / (2.0 * repetitions));
}

double MessageExchange::sweep_s() {
  if (!is_cold()) return 0.0;
  const double start_s = now_s();
  sweep();
  return from_first(now_s() - start_s);
}

std::vector<double> MessageExchange::ring_s(int bytes, int repetitions) {
  const int next = (rank_ + 1) % ranks_, previous = (rank_ + ranks_ - 1) % ranks_;
  return longest_s(
      comm_, repetitions, [this] { sweep(); },
      [&] {
        MPI_Request requests[2];
        STEELYARD_MPI(MPI_Irecv(in_.get(), bytes, MPI_BYTE, previous, message_tag, comm_, &requests[0]));
        STEELYARD_MPI(MPI_Isend(out_.get(), bytes, MPI_BYTE, next, message_tag, comm_, &requests[1]));
        STEELYARD_MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
      });
}

double MessageExchange::send_overhead_s(int bytes, int repetitions) {
  STEELYARD_MPI(MPI_Barrier(comm_));
  double sum_s = 0.0;
  for (int i = 0; i < repetitions; ++i) {
    if (rank_ == 0) {
      const double start_s = now_s();
      send(bytes, 1);
      sum_s += now_s() - start_s;
      receive(0, 1);
    } else if (rank_ == 1) {
      receive(bytes, 0);
      send(0, 0);
    }
  }
  return from_first(sum_s / repetitions);
}

double MessageExchange::receive_overhead_s(int bytes, int repetitions) {
  // Long enough for a message to arrive.
  const double wait_s = 10.0 * warm_ping_pong_s(bytes, 10, false);
  double sum_s = 0.0;
  for (int i = 0; i < repetitions; ++i) {
    if (rank_ == 1) {
      send(0, 0);
      send(bytes, 0);
    } else if (rank_ == 0) {
      receive(0, 1);
      for (const double start_s = now_s(); now_s() - start_s < wait_s;) continue;
      const double start_s = now_s();
      receive(bytes, 1);
      sum_s += now_s() - start_s;
    }
  }
  return from_first(sum_s / repetitions);
}

double MessageExchange::gap_s(int bytes, int messages) {
  const auto train_s = [&](int count) {
    STEELYARD_MPI(MPI_Barrier(comm_));
    const double start_s = now_s();
    if (rank_ == 0) {
      for (int i = 0; i < count; ++i) send(bytes, 1);
      receive(0, 1);
    } else if (rank_ == 1) {
      for (int i = 0; i < count; ++i) receive(bytes, 0);
      send(0, 0);
    }
    return from_first(now_s() - start_s);
  };
  const double one_s = train_s(1);
  const double all_s = train_s(1 + messages);
  // Where something disturbed the single message more than all others together take, its way back counts as well.
  return all_s > one_s ? (all_s - one_s) / messages : all_s / (1 + messages);
}

bool MessageExchange::is_eager(int bytes) {
  constexpr double late_s = 1e-3;
  // Rendezvous is never through early, whatever delays the sender: the receiver is late from when it is told that the
  // clock runs. An eager message may be disturbed, but not every time.
  for (int attempt = 0; attempt < 12; ++attempt) {
    STEELYARD_MPI(MPI_Barrier(comm_));
    const double start_s = now_s();
    double sent_s = 0.0;
    if (rank_ == 0) {
      send(0, 1);
      send(bytes, 1);
      sent_s = now_s() - start_s;
    } else if (rank_ == 1) {
      receive(0, 0);
      progress_for(late_s, comm_);
      receive(bytes, 0);
    }
    if (from_first(sent_s) < 0.5 * late_s) return true;
  }
  return false;
}

int MessageExchange::eager_limit() {
  int eager = 0;
  int beyond = largest_bytes_ + 1;
  while (beyond - eager > 1) {
    const int middle = eager + (beyond - eager) / 2;
    (is_eager(middle) ? eager : beyond) = middle;
  }
  return eager;
}

double MessageExchange::probe_s(int bytes) {
  double shortest_s = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 5; ++attempt) shortest_s = std::min(shortest_s, warm_ping_pong_s(bytes, 5, false));
  return shortest_s;
}

std::vector<int> MessageExchange::protocol_steps(int smallest_bytes) {
  // A bandwidth doubles the time at most; the rest of this factor is left to caches and noise.
  constexpr double suspicious = 2.4;
  std::vector<int> steps;
  double lower_s = probe_s(smallest_bytes);
  for (int lower = smallest_bytes; lower <= largest_bytes_ / 2; lower *= 2) {
    const double upper_s = probe_s(2 * lower);
    if (upper_s > suspicious * lower_s) {
      int before = lower;
      int after = 2 * lower;
      double before_s = lower_s;
      double after_s = upper_s;
      while (after - before > std::max(1, before / 128)) {
        const int middle = before + (after - before) / 2;
        const double middle_s = probe_s(middle);
        // The half with the larger ratio has the step.
        const bool is_below = middle_s * middle_s > before_s * after_s;
        (is_below ? after : before) = middle;
        (is_below ? after_s : before_s) = middle_s;
      }
      steps.push_back(before);
      steps.push_back(after);
    }
    lower_s = upper_s;
  }
  return steps;
}

}  // namespace steelyard
