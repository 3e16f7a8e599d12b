#include "core/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace steelyard {

Progress::Progress(std::string what, std::int64_t total, bool active)
    : what_(std::move(what)),
      total_(total),
      active_(active && ::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::advance(std::int64_t by, const std::string& note) {
  done_ += by;
  if (!active_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < std::chrono::seconds(2) || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  fmt::print(stderr, "\r\033[K{} {}/{} {}", what_, done_, total_, note);
  std::fflush(stderr);
}

}  // namespace steelyard
