#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "models/communication/message_pattern.hpp"

namespace steelyard {

/// Memory of messages, in huge pages where the system has them, as that of the apps' large arrays.
class MessageMemory {
 public:
  MessageMemory(std::size_t bytes, char content);

  char* data() { return bytes_.get(); }

 private:
  struct Free {
    void operator()(char* bytes) const;
  };
  std::unique_ptr<char[], Free> bytes_;
};

/// Messages between the ranks of a communicator, to be timed. All functions are collective on it, take sizes in bytes
/// up to the largest and give seconds; each repetition is one value, or as many repetitions together as the clock
/// needs.
class MessageExchange {
 public:
  /// @param order the ranks as they stand in the ring; the first two play ping-pong. All ranks of `comm`, at least two
  /// @param largest_bytes size of the buffers
  /// @param footprint_bytes what every rank goes through before each message of ping_pong_s() and ring_s(), which then
  /// comes from and goes to memory; 0: messages stay in the caches
  /// @throws InvalidArgument for an order that is not one of all ranks
  MessageExchange(MPI_Comm comm, std::vector<int> order, int largest_bytes, std::size_t footprint_bytes = 0);

  /// Half a round trip, mean over `repetitions`: time of one transmission that nothing else disturbs. Source: 003,
  /// section 6.3.1. Where other memory is gone through before each message, one way as ring_s(): after a barrier, the
  /// longer time of the two ranks.
  /// @param synchronous with MPI_Ssend, which waits until the receiver answers (the handshake of rendezvous)
  double ping_pong_s(int bytes, int repetitions, bool synchronous = false);

  /// Seconds of going through other memory before a message, on the first rank of the order; 0 where none is gone
  /// through.
  double sweep_s();

  /// Ring_tau, tau the number of ranks: after a barrier every rank sends to the next and receives from the previous at
  /// once; the longest time over the ranks, of each repetition. Source: 001, section 5.2; section 5.4, algorithm 1.
  std::vector<double> ring_s(int bytes, int repetitions);

  /// Measures times for LogGP between the first two ranks of the order.
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
  /// Drives what the caches hold out of them, as the kernel of an app does between its messages: reads and writes every
  /// cache line of other memory. Nothing where there is none.
  void sweep();
  bool is_cold() const { return !other_memory_.empty(); }
  bool is_eager(int bytes);
  double probe_s(int bytes);
  double warm_ping_pong_s(int bytes, int repetitions, bool synchronous);
  double cold_one_way_s(int bytes, int repetitions, bool synchronous);
  void send(int bytes, int to, bool synchronous = false);
  void receive(int bytes, int from);
  /// The value of the first rank of the order, on all ranks.
  double from_first(double value) const;
  bool is_first() const { return position_ == 0; }
  bool is_second() const { return position_ == 1; }
  int at(int position) const { return order_[static_cast<std::size_t>(position)]; }

  MPI_Comm comm_;
  std::vector<int> order_;
  int position_ = 0;
  int largest_bytes_;
  MessageMemory out_, in_;
  std::vector<char> other_memory_;
};

/// Sends and receives the messages of a pattern, process i of which is rank i: after a barrier each, the longest time
/// over the ranks of each run. Receives of a phase are posted first; sends in order wait for their buffers one by one
/// (MPI_Send), sends at once together. Collective. Source: 001, section 5.4, algorithm 1.
/// @throws InvalidArgument unless `comm` has as many ranks as the pattern processes, and for messages of 2 GiB and more
std::vector<double> pattern_s(MPI_Comm comm, const models::MessagePattern& pattern, int repetitions);

}  // namespace steelyard
