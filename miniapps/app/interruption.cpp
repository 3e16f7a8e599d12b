#include "miniapps/app/interruption.hpp"

#include <fmt/format.h>
#include <semaphore.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "core/base/errors.hpp"

namespace steelyard {
namespace {

constexpr std::array signals{SIGINT, SIGTERM};
std::array<struct sigaction, signals.size()> handlers_before;  ///< what they did

std::atomic<bool> is_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
sem_t wake;  ///< of the thread that waits for the signal, or for the end of the program's work

/// All that a signal handler may do.
void take_signal(int /*signal*/) {
  is_interrupted = true;
  sem_post(&wake);
}

}  // namespace

Interruption::Interruption(std::function<void()> leave) : leave_(std::move(leave)) {
  is_interrupted = false;
  sem_init(&wake, 0, 0);
  struct sigaction action = {};
  action.sa_handler = take_signal;
  action.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &action, &handlers_before[i]);
    // As shells start what runs in the background.
    if (handlers_before[i].sa_handler == SIG_IGN) sigaction(signals[i], &handlers_before[i], nullptr);
  }
  watch_ = std::thread([this] { wait(); });
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &handlers_before[i], nullptr);
  sem_post(&wake);
  watch_.join();
  sem_destroy(&wake);
}

void Interruption::wait() {
  while (sem_wait(&wake) != 0) {
  }
  if (!is_interrupted || !leave_) return;
  const std::scoped_lock lock(leaving_);
  try {
    leave_();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  }
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(ExitCode::interrupted));
}

void Interruption::update(const std::function<void()>& change) {
  const std::scoped_lock lock(leaving_);
  change();
}

bool Interruption::happened() { return is_interrupted; }

}  // namespace steelyard
