#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/base/temporary_folder.hpp"

namespace steelyard::tests {

/// A program and its arguments as they are typed.
std::string joined(std::string program, const std::vector<std::string>& arguments);

/// How a program ended and what it said.
struct Outcome {
  int status = -1;         ///< exit status; 128 + signal where one ended it
  bool timed_out = false;  ///< it had to be ended
  std::string out;
  std::string err;
  std::string blas_note;  ///< line of `err` about a BLAS that does not know this processor, which is left out there

  /// Lines of standard error that `program` wrote itself, not mpirun.
  std::vector<std::string> told_by(const std::string& program) const;
};

std::vector<std::string> lines_of(const std::string& text);

/// The path of a program or library of this build, which are in one folder, or of another file from there.
std::filesystem::path built(const std::string& name);

/// What to start.
struct Start {
  int ranks = 1;
  std::filesystem::path program;
  std::vector<std::string> arguments;
  std::filesystem::path folder;            ///< where it runs
  std::vector<std::string> environment{};  ///< on top of this process's, as `NAME=value`
};

/// A program of the suite, running: by itself for one rank, under mpirun for more.
class Command {
 public:
  explicit Command(const Start& start);
  /// Ends it if nobody waited for it.
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// Sends it a signal, as a user does who interrupts it: to mpirun where there are several ranks.
  void send(int signal) const;
  /// Waits until text of this pattern is on its standard output or error, for half a minute at most. @return whether it
  /// is
  bool has_told(const std::string& pattern) const;
  /// Waits for its end; ends it once the time limit has passed.
  Outcome wait(std::chrono::seconds limit = std::chrono::seconds(60));

 private:
  void end();

  TemporaryFolder captured_;
  pid_t process_ = -1;
};

/// Starts all, a few at a time because starting is mostly waiting, and waits for them; the test fails if one hangs.
std::vector<Outcome> run_all(const std::vector<Start>& starts);

/// The same with one.
Outcome run(int ranks, const std::filesystem::path& program, const std::vector<std::string>& arguments,
            const std::filesystem::path& folder);

}  // namespace steelyard::tests
