#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace steelyard {

/// How far something long has come, on standard error, from two seconds on: on a terminal one line that is rewritten
/// twice a second, elsewhere (a log, the pipe to mpirun) a line every five seconds, by a thread of its own. Silent
/// where `active` is false (every rank but one).
class Progress {
 public:
  Progress(std::string what, std::int64_t total, bool active = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @param note a few words behind the count, such as the size being measured
  void advance(std::int64_t by = 1, const std::string& note = "");
  /// Sets how far what comes next has come, until advance(). Takes no lock. @param steps of all of it, 0 if unknown
  void set_steps(std::int64_t steps_done, std::int64_t steps) {
    steps_.store(steps, std::memory_order_relaxed);
    steps_done_.store(steps_done, std::memory_order_relaxed);
  }

 private:
  using Clock = std::chrono::steady_clock;
  void show(const std::stop_token& stop);
  std::string line(Clock::time_point now) const;

  std::string what_;
  std::int64_t total_;
  Clock::time_point start_;
  std::atomic<std::int64_t> steps_done_ = 0, steps_ = 0;
  std::mutex mutex_;  ///< of all below
  std::condition_variable_any ended_;
  std::int64_t done_ = 0;
  std::string note_;
  std::jthread shower_;  ///< the last member: it uses the others
};

}  // namespace steelyard
