#include "core/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace steelyard {

using namespace std::chrono_literals;

Progress::Progress(std::string what, std::int64_t total, bool active)
    : what_(std::move(what)), total_(total), start_(Clock::now()) {
  if (active) shower_ = std::jthread([this](const std::stop_token& stop) { show(stop); });
}

Progress::~Progress() = default;

void Progress::advance(std::int64_t by, const std::string& note) {
  const std::scoped_lock lock(mutex_);
  done_ += by;
  note_ = note;
}

std::string Progress::line(Clock::time_point now) const {
  const double elapsed_s = std::chrono::duration<double>(now - start_).count();
  std::string text =
      fmt::format("{} {}/{}{}{}, {:.0f} s", what_, done_, total_, note_.empty() ? "" : " ", note_, elapsed_s);
  if (0 < done_ && done_ < total_) {
    const double left_s = elapsed_s * static_cast<double>(total_ - done_) / static_cast<double>(done_);
    text += fmt::format(", about {:.0f} s left", left_s);
  }
  return text;
}

void Progress::show(const std::stop_token& stop) {
  const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
  bool is_shown = false;
  std::unique_lock lock(mutex_);
  for (Clock::time_point next = start_ + 2s;; next += is_terminal ? 500ms : 5s) {
    if (ended_.wait_until(lock, stop, next, [&] { return stop.stop_requested(); })) break;
    fmt::print(stderr, "{}{}{}", is_terminal ? "\r\033[K" : "", line(Clock::now()), is_terminal ? "" : "\n");
    std::fflush(stderr);
    is_shown = true;
  }
  if (is_terminal && is_shown) std::fputs("\r\033[K", stderr);
}

}  // namespace steelyard
