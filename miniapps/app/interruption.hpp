#pragma once

#include <functional>
#include <mutex>
#include <thread>

namespace steelyard {

/// Handles SIGINT and SIGTERM: the program keeps what it has finished, and ends with
/// ExitCode::interrupted. The signal after that ends it at once. One at a time.
class Interruption {
 public:
  /// Who ends the program.
  enum class By {
    signal,  ///< the signal, whatever the program is doing: mpirun leaves a program no more than a second
    program  ///< the program, which asks happened() again and again
  };

  /// @param leave writes what is finished, on a thread of its own; must not call MPI. Not called where the program ends
  /// itself
  Interruption(By by, std::function<void()> leave);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Changes what `leave` reads, never while it reads.
  void update(const std::function<void()>& change);
  /// Whether this process has got the signal.
  static bool happened();

 private:
  void wait();

  By by_;
  std::function<void()> leave_;
  std::mutex leaving_;
  std::thread watch_;
};

}  // namespace steelyard
