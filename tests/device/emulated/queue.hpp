#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace steelyard::emulated {

/// Does work in the order in which it is given, on a thread of its own or on one that waits for it. With a seed, half
/// of it starts only when a thread waits, at the latest after a millisecond: code that does not wait reads wrong data.
/// The destructor waits.
class Queue {
 public:
  explicit Queue(int device);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  int device() const;
  /// Of all queues of this process, from 0.
  std::uint32_t number() const;
  /// @param label of the order; empty for that of name_next_work() @param amount of a multiplication in flops
  /// @throws RuntimeFailure when the calling thread has selected another device
  void give(std::string label, std::function<void()> work, double amount = 0.0);
  /// A copy, which takes as long as the link says (Facts::link_bytes_per_s).
  void give_copy(const void* to, const void* from, std::size_t bytes, std::function<void()> work);
  /// Returns when all that was given has been done.
  void wait();
  /// Waits for all queues of all devices.
  static void wait_for_all();

 private:
  friend class Event;
  class State;
  struct Registry;
  std::shared_ptr<State> state_;
};

/// The end of the work that a queue had been given when the event was recorded. Copies stand for the same.
class Event {
 public:
  void record(Queue& queue);
  /// Work that `queue` is given from now on starts after this event.
  void make_wait(Queue& queue) const;
  /// When it happened, on the clock of now_s(); waits for it.
  double time_s() const;

 private:
  struct Moment;
  std::shared_ptr<Moment> moment_;
};

/// Label of the next work without one that the calling thread gives to a queue.
void name_next_work(const char* label);

/// Whether the calling thread does a queue's work.
bool on_device();

/// What a thread asked queues for.
struct Order {
  enum class Kind {
    work,
    record,  ///< an event at the end of all work before
    wait,    ///< the queue's later work waits for an event of another queue
    fence,   ///< the thread waits for all work before
  };
  Kind kind = Kind::work;
  std::string label;  ///< of work
  std::uint32_t queue = 0;
  int device = 0;
  std::uint64_t event = 0;  ///< of record and wait
  double amount = 0.0;      ///< of copies bytes, of multiplications flops
};

/// The orders of the calling thread since its last call; the first call begins the record.
std::vector<Order> recorded_operations();

}  // namespace steelyard::emulated
