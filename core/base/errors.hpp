#pragma once

#include <stdexcept>
#include <string>

namespace steelyard {

/// Exit code of a program (architecture: 0 good, 1 check failed, 2 wrong arguments or files, 3 failed while running;
/// where SIGINT or SIGTERM ended it and it has kept what was finished, as shells have it).
enum class ExitCode : int {
  good = 0,
  check_failed = 1,
  wrong_input = 2,
  failed = 3,
  interrupted = 130,
  terminated = 143
};

/// Root of everything Steelyard throws: a message for the person at the terminal and the program's exit code.
class Error : public std::runtime_error {
 public:
  Error(const std::string& message, ExitCode code) : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// A value that the caller or the user gave is not usable; the message names it, its value and what was expected.
class InvalidArgument : public Error {
 public:
  explicit InvalidArgument(const std::string& message) : Error(message, ExitCode::wrong_input) {}
};

/// A file cannot be read or does not hold what its format says.
class FileFormatError : public Error {
 public:
  /// @param where line, byte or key inside the file; empty for the file as a whole
  /// @param problem what was found and what was expected
  FileFormatError(const std::string& path, const std::string& where, const std::string& problem)
      : Error(path + ": " + (where.empty() ? "" : where + ": ") + problem, ExitCode::wrong_input) {}
};

/// The run itself failed: memory, device, file system.
class RuntimeFailure : public Error {
 public:
  explicit RuntimeFailure(const std::string& message) : Error(message, ExitCode::failed) {}
};

}  // namespace steelyard
