#include "comm/message_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/errors.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

constexpr int tag = 22;
constexpr int unused_tag = 24;

void send(const std::vector<char>& buffer, int bytes, int to, MPI_Comm comm) {
  STEELYARD_MPI(MPI_Send(buffer.data(), bytes, MPI_BYTE, to, tag, comm));
}

void receive(std::vector<char>& buffer, int bytes, int from, MPI_Comm comm) {
  STEELYARD_MPI(MPI_Recv(buffer.data(), bytes, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE));
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

}  // namespace

MessageExchange::MessageExchange(MPI_Comm comm, std::vector<int> order, int largest_bytes)
    : comm_(comm),
      order_(std::move(order)),
      // Written to, so that the pages are there.
      out_(static_cast<std::size_t>(largest_bytes) + 1, '\1'),
      in_(static_cast<std::size_t>(largest_bytes) + 1, '\2') {
  int rank = 0;
  int size = 0;
  STEELYARD_MPI(MPI_Comm_rank(comm, &rank));
  STEELYARD_MPI(MPI_Comm_size(comm, &size));
  std::vector<int> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  if (size < 2 || !std::is_permutation(order_.begin(), order_.end(), all.begin(), all.end())) {
    throw InvalidArgument(fmt::format("messages between {} ranks in an order of {} (expected two or more, each once)",
                                      size, order_.size()));
  }
  position_ = static_cast<int>(std::find(order_.begin(), order_.end(), rank) - order_.begin());
}

double MessageExchange::from_first(double value) const {
  STEELYARD_MPI(MPI_Bcast(&value, 1, MPI_DOUBLE, at(0), comm_));
  return value;
}

double MessageExchange::ping_pong_s(int bytes, int repetitions, bool synchronous) {
  STEELYARD_MPI(MPI_Barrier(comm_));
  const auto throw_to = [&](int to) {
    if (synchronous) {
      STEELYARD_MPI(MPI_Ssend(out_.data(), bytes, MPI_BYTE, to, tag, comm_));
    } else {
      send(out_, bytes, to, comm_);
    }
  };
  double start_s = now_s();
  for (int i = -1; i < repetitions; ++i) {
    // The first one warms up, and makes good for leaving the barrier at different times.
    if (i == 0) start_s = now_s();
    if (is_first()) {
      throw_to(at(1));
      receive(in_, bytes, at(1), comm_);
    } else if (is_second()) {
      receive(in_, bytes, at(0), comm_);
      throw_to(at(0));
    }
  }
  return from_first((now_s() - start_s) / (2.0 * repetitions));
}

std::vector<double> MessageExchange::ring_s(int bytes, int repetitions) {
  const int ranks = static_cast<int>(order_.size());
  const int next = at((position_ + 1) % ranks);
  const int previous = at((position_ + ranks - 1) % ranks);
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    STEELYARD_MPI(MPI_Barrier(comm_));
    const double start_s = now_s();
    MPI_Request requests[2];
    STEELYARD_MPI(MPI_Irecv(in_.data(), bytes, MPI_BYTE, previous, tag, comm_, &requests[0]));
    STEELYARD_MPI(MPI_Isend(out_.data(), bytes, MPI_BYTE, next, tag, comm_, &requests[1]));
    STEELYARD_MPI(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    times.push_back(now_s() - start_s);
  }
  return all_max(comm_, std::move(times));
}

double MessageExchange::send_overhead_s(int bytes, int repetitions) {
  STEELYARD_MPI(MPI_Barrier(comm_));
  double sum_s = 0.0;
  for (int i = 0; i < repetitions; ++i) {
    if (is_first()) {
      const double start_s = now_s();
      send(out_, bytes, at(1), comm_);
      sum_s += now_s() - start_s;
      receive(in_, 0, at(1), comm_);
    } else if (is_second()) {
      receive(in_, bytes, at(0), comm_);
      send(out_, 0, at(0), comm_);
    }
  }
  return from_first(sum_s / repetitions);
}

double MessageExchange::receive_overhead_s(int bytes, int repetitions) {
  // Long enough for a message to arrive.
  const double wait_s = 10.0 * ping_pong_s(bytes, 10);
  double sum_s = 0.0;
  for (int i = 0; i < repetitions; ++i) {
    if (is_second()) {
      send(out_, 0, at(0), comm_);
      send(out_, bytes, at(0), comm_);
    } else if (is_first()) {
      receive(in_, 0, at(1), comm_);
      for (const double start_s = now_s(); now_s() - start_s < wait_s;) continue;
      const double start_s = now_s();
      receive(in_, bytes, at(1), comm_);
      sum_s += now_s() - start_s;
    }
  }
  return from_first(sum_s / repetitions);
}

double MessageExchange::gap_s(int bytes, int messages) {
  const auto train_s = [&](int count) {
    STEELYARD_MPI(MPI_Barrier(comm_));
    const double start_s = now_s();
    if (is_first()) {
      for (int i = 0; i < count; ++i) send(out_, bytes, at(1), comm_);
      receive(in_, 0, at(1), comm_);
    } else if (is_second()) {
      for (int i = 0; i < count; ++i) receive(in_, bytes, at(0), comm_);
      send(out_, 0, at(0), comm_);
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
    if (is_first()) {
      send(out_, 0, at(1), comm_);
      send(out_, bytes, at(1), comm_);
      sent_s = now_s() - start_s;
    } else if (is_second()) {
      receive(in_, 0, at(0), comm_);
      progress_for(late_s, comm_);
      receive(in_, bytes, at(0), comm_);
    }
    if (from_first(sent_s) < 0.5 * late_s) return true;
  }
  return false;
}

int MessageExchange::eager_limit() {
  int eager = 0;
  int beyond = largest_bytes() + 1;
  while (beyond - eager > 1) {
    const int middle = eager + (beyond - eager) / 2;
    (is_eager(middle) ? eager : beyond) = middle;
  }
  return eager;
}

double MessageExchange::probe_s(int bytes) {
  double shortest_s = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 5; ++attempt) shortest_s = std::min(shortest_s, ping_pong_s(bytes, 5));
  return shortest_s;
}

std::vector<int> MessageExchange::protocol_steps(int smallest_bytes) {
  // A bandwidth doubles the time at most; the rest of this factor is left to caches and noise.
  constexpr double suspicious = 2.4;
  std::vector<int> steps;
  double lower_s = probe_s(smallest_bytes);
  for (int lower = smallest_bytes; lower <= largest_bytes() / 2; lower *= 2) {
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
