#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace steelyard::tests {

/// What a copy of this process that does something wrong says on standard error before a signal ends it.
struct EndedProgram {
  int signal = 0;  ///< 0 where it ended by itself
  std::string text;
};

template <class Action>
EndedProgram ended_program(const Action& action) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    // Without the tests' own handlers, which would report the signal as theirs.
    for (const int number : {SIGSEGV, SIGABRT}) std::signal(number, SIG_DFL);
    ::dup2(pipe[1], STDERR_FILENO);
    action();
    ::_exit(0);
  }
  ::close(pipe[1]);
  EndedProgram ended;
  std::array<char, 256> part{};
  for (ssize_t count = 0; (count = ::read(pipe[0], part.data(), part.size())) > 0;) {
    ended.text.append(part.data(), static_cast<std::size_t>(count));
  }
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  return ended;
}

}  // namespace steelyard::tests
