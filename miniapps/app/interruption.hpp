#pragma once

#include <functional>
#include <mutex>
#include <thread>

namespace steelyard {

/// Handles SIGINT and SIGTERM: the program keeps what it has finished, and ends with
/// ExitCode::interrupted. The signal after that ends it at once. One at a time.
class Interruption {
 public:
  /// @param leave writes what is finished, on a thread of its own, before the signal ends the program, whatever it is
  /// doing: mpirun leaves it no more than a second. Must not call MPI. Empty where the program ends itself and asks
  /// happened() again and again
  explicit Interruption(std::function<void()> leave);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Changes what `leave` reads, never while it reads.
  void update(const std::function<void()>& change);
  /// Whether this process has got the signal.
  static bool happened();

 private:
  void wait();

  std::function<void()> leave_;
  std::mutex leaving_;
  std::thread watch_;
};

}  // namespace steelyard
