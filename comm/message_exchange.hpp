#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace steelyard {

/// Memory that messages take in turns: always the same, or another place each time until all of it has been used.
class MessageMemory {
 public:
  /// @param largest_bytes of a message @param pool_bytes to go through; no more than a message: always the same place
  MessageMemory(int largest_bytes, std::size_t pool_bytes, char content);

  /// Where the next message of this size is.
  char* next(int bytes);

 private:
  std::size_t size_;
  std::unique_ptr<char[]> bytes_;
  std::size_t place_ = 0;
  bool moves_ = false;
};

/// Messages between the ranks of a communicator, to be timed. All functions are collective on it, take sizes in bytes
/// up to the largest and give seconds; each repetition is one value, or as many repetitions together as the clock
/// needs.
class MessageExchange {
 public:
  /// @param order the ranks as they stand in the ring; the first two play ping-pong. All ranks of `comm`, at least two
  /// @param largest_bytes of a message
  /// @param footprint_bytes messages come from and go to other memory each time, so much of each in turns; 0: always
  /// the same, which caches keep
  /// @throws InvalidArgument for an order that is not one of all ranks
  MessageExchange(MPI_Comm comm, std::vector<int> order, int largest_bytes, std::size_t footprint_bytes = 0);

  /// Half a round trip, mean over `repetitions`: time of one transmission that nothing else disturbs. Source: 003,
  /// section 6.3.1.
  /// @param synchronous with MPI_Ssend, which waits until the receiver answers (the handshake of rendezvous)
  double ping_pong_s(int bytes, int repetitions, bool synchronous = false);

  /// Ring_tau, tau the number of ranks: after a barrier every rank sends to the next and receives from the previous at
  /// once; the longest time over the ranks, of each repetition. Source: 001, section 5.2; section 5.4, algorithm 1.
  std::vector<double> ring_s(int bytes, int repetitions);

  /// What LogGP needs between the first two ranks of the order.
  /// Mean time that the sender spends in MPI_Send while nothing is under way.
  double send_overhead_s(int bytes, int repetitions);
  /// Mean time that the receiver spends in MPI_Recv when the message is there already.
  double receive_overhead_s(int bytes, int repetitions);
  /// Mean time between messages of a train of so many, sent one after the other.
  double gap_s(int bytes, int messages);

  /// The largest message that MPI_Send hands over before its receive is called, while the receiver is busy inside MPI;
  /// by bisection. `largest_bytes` if all are.
  int eager_limit();

  /// Sizes on both sides of where the protocol changes between powers of two: where time more than doubles with size by
  /// far, the largest step in between by bisection. Growing.
  std::vector<int> protocol_steps(int smallest_bytes);

 private:
  bool is_eager(int bytes);
  double probe_s(int bytes);
  void send(int bytes, int to);
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
};

}  // namespace steelyard
