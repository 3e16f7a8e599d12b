#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace steelyard {

/// One line on standard error that is rewritten while something long goes on: only on a terminal, only after two
/// seconds, at most ten times a second. Silent where `active` is false (every rank but one).
class Progress {
 public:
  Progress(std::string what, std::int64_t total, bool active = true);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @param note a few words behind the count, such as the size being measured
  void advance(std::int64_t by = 1, const std::string& note = "");

 private:
  std::string what_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool active_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace steelyard
