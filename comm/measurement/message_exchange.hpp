#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace steelyard {

/// Messages between the ranks of a communicator, to be timed: along a ring in the order of the ranks, and between the
/// first two. All functions are collective on it, take sizes in bytes up to the largest and return seconds, one
/// value for each repetition, or for several in a row where a single one is too short for the clock.
class MessageExchange {
 public:
  /// @param comm of at least two ranks @param largest_bytes size of the buffers
  /// @param footprint_bytes that every rank reads before each message of ping_pong_s() and ring_s(), so that messages
  /// come from and go to memory; 0: messages stay in the caches
  /// @throws InvalidArgument for fewer ranks
  MessageExchange(MPI_Comm comm, int largest_bytes, std::size_t footprint_bytes = 0);

  /// Half a round trip, mean over `repetitions`: time of one transmission that nothing else disturbs. Source: 003,
  /// section 6.3.1. Where other memory is gone through before each message, one way as ring_s(): after a barrier, the
  /// longer time of the two ranks.
  /// @param synchronous with MPI_Ssend, which waits until the receiver answers (the handshake of rendezvous)
  double ping_pong_s(int bytes, int repetitions, bool synchronous = false);

  /// Seconds of going through other memory before a message, on the first rank; 0 where none is gone through.
  double sweep_s();

  /// Ring_tau, tau the number of ranks: after a barrier every rank sends to the next and receives from the previous at
  /// once; the longest time over the ranks, of each repetition. Source: 001, section 5.2; section 5.4, algorithm 1.
  std::vector<double> ring_s(int bytes, int repetitions);

  // Times for LogGP between the first two ranks.

  /// Mean time that the sender spends in MPI_Send while nothing is under way.
  double send_overhead_s(int bytes, int repetitions);
  /// Mean time that the receiver spends in MPI_Recv when the message is there already.
  double receive_overhead_s(int bytes, int repetitions);
  /// Mean time between the messages of a train, sent one after the other.
  double gap_s(int bytes, int messages);

  /// The largest message that MPI_Send hands over before its receive is called, while the receiver is busy inside MPI;
  /// by bisection. `largest_bytes` if all are.
  int eager_limit();

  /// Sizes on both sides of where the protocol changes between powers of two: where time more than doubles with size by
  /// far, the largest step in between by bisection. Growing.
  std::vector<int> protocol_steps(int smallest_bytes);

 private:
  using Memory = std::unique_ptr<char[], void (*)(void*)>;

  /// Drives what the caches hold out of them, as the kernel of an app does between its messages: reads and writes every
  /// cache line of other memory. Nothing where there is none.
  void sweep();
  bool is_cold() const { return !other_memory_.empty(); }
  bool is_eager(int bytes);
  double probe_s(int bytes);
  double warm_ping_pong_s(int bytes, int repetitions, bool synchronous);
  void send(int bytes, int to, bool synchronous = false);
  void receive(int bytes, int from);
  /// The value of the first rank, on all ranks.
  double from_first(double value) const;

  MPI_Comm comm_;
  int rank_, ranks_;
  int largest_bytes_;
  Memory out_, in_;
  std::vector<char> other_memory_;
};

}  // namespace steelyard
