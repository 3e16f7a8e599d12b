#include "tests/miniapps/command.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <deque>
#include <memory>
#include <regex>
#include <sstream>
#include <system_error>
#include <thread>

#include "tests/catch.hpp"

namespace steelyard::tests {
namespace {

std::vector<std::string> command_line(const Start& start) {
  std::vector<std::string> words;
  if (start.ranks > 1) {
    words = {STEELYARD_MPIRUN, "--oversubscribe", "-n", std::to_string(start.ranks)};
  }
  words.push_back(start.program.string());
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  return words;
}

/// In the child; returns only if the program cannot be started.
void become(const std::vector<char*>& words, const char* folder, const char* out, const char* err) {
  ::setpgid(0, 0);
  const auto open_as = [](const char* path, int flags, int descriptor) {
    const int file = ::open(path, flags, 0600);
    return file >= 0 && ::dup2(file, descriptor) >= 0;
  };
  const int write = O_WRONLY | O_CREAT | O_TRUNC;
  if (!open_as("/dev/null", O_RDONLY, STDIN_FILENO) || !open_as(out, write, STDOUT_FILENO) ||
      !open_as(err, write, STDERR_FILENO) || ::chdir(folder) != 0) {
    return;
  }
  ::execv(words.front(), words.data());
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joined(std::string program, const std::vector<std::string>& arguments) {
  for (const std::string& word : arguments) program += " " + word;
  return program;
}

std::filesystem::path built(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

std::vector<std::string> Outcome::told_by(const std::string& program) const {
  std::vector<std::string> told;
  for (const std::string& line : lines_of(err)) {
    if (line.rfind(program + ":", 0) == 0) told.push_back(line);
  }
  return told;
}

Command::Command(const Start& start) {
  std::istringstream variables(STEELYARD_TEST_ENVIRONMENT);
  for (std::string name, value; std::getline(variables, name, '=') && std::getline(variables, value, ' ');) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  // In the folder that they share, one Open MPI that starts stumbles over another that tidies up.
  ::setenv("OMPI_MCA_orte_tmpdir_base", captured_.path().c_str(), 1);
  // Once a rank exits with an error, mpirun would give the others a second before it ends them.
  ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "0", 1);
  std::vector<std::string> words = command_line(start);
  std::vector<std::string> environment = start.environment;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::string out = captured_ / "out";
  const std::string err = captured_ / "err";
  process_ = ::fork();
  if (process_ == 0) {
    for (std::string& variable : environment) ::putenv(variable.data());
    become(pointers, start.folder.c_str(), out.c_str(), err.c_str());
    ::_exit(127);
  }
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
}

Command::~Command() {
  if (process_ > 0) end();
  // A daemon of Open MPI that outlives the program removes its files at the same time, which stops remove_all().
  std::error_code error;
  for (int i = 0; i < 50; ++i) {
    std::filesystem::remove_all(captured_.path(), error);
    if (!error) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

/// mpirun ends its ranks when it is asked politely.
void Command::end() {
  ::kill(-process_, SIGTERM);
  for (int i = 0; i < 100 && ::waitpid(process_, nullptr, WNOHANG) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ::kill(-process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

void Command::send(int signal) const { ::kill(process_, signal); }

bool Command::has_told(const std::string& pattern) const {
  const std::regex text(pattern);
  for (int i = 0; i < 1500; ++i) {
    if (std::regex_search(captured_.read("out") + captured_.read("err"), text)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

Outcome Command::wait(std::chrono::seconds limit) {
  Outcome outcome;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      end();
      outcome.timed_out = true;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  process_ = -1;
  if (!outcome.timed_out) outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = captured_.read("out");
  for (const std::string& line : lines_of(captured_.read("err"))) {
    (line.find(" does not know this processor: ") == std::string::npos ? outcome.err : outcome.blas_note) +=
        line + "\n";
  }
  return outcome;
}

std::vector<Outcome> run_all(const std::vector<Start>& starts) {
  constexpr std::size_t at_a_time = 8;
  std::deque<std::unique_ptr<Command>> running;
  std::vector<Outcome> outcomes;
  for (std::size_t next = 0; outcomes.size() < starts.size();) {
    for (; next < starts.size() && running.size() < at_a_time; ++next) {
      running.push_back(std::make_unique<Command>(starts[next]));
    }
    outcomes.push_back(running.front()->wait());
    running.pop_front();
    const Start& start = starts[outcomes.size() - 1];
    INFO(joined(start.program.filename().string(), start.arguments) << " on " << start.ranks << " ranks");
    INFO("standard output:\n" << outcomes.back().out << "standard error:\n" << outcomes.back().err);
    REQUIRE_FALSE(outcomes.back().timed_out);
  }
  return outcomes;
}

Outcome run(int ranks, const std::filesystem::path& program, const std::vector<std::string>& arguments,
            const std::filesystem::path& folder) {
  return run_all({{ranks, program, arguments, folder}}).front();
}

}  // namespace steelyard::tests
