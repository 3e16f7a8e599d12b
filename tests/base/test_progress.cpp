#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "core/base/progress.hpp"
#include "tests/base/temporary_folder.hpp"

namespace steelyard::test_progress {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using steelyard::Progress;
using steelyard::tests::TemporaryFolder;

namespace {

/// Standard error goes to `file` while this lives.
class StandardErrorTo {
 public:
  explicit StandardErrorTo(int file) {
    std::fflush(stderr);
    kept_ = ::dup(STDERR_FILENO);
    ::dup2(file, STDERR_FILENO);
  }
  ~StandardErrorTo() {
    std::fflush(stderr);
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }
  StandardErrorTo(const StandardErrorTo&) = delete;
  StandardErrorTo& operator=(const StandardErrorTo&) = delete;

 private:
  int kept_ = -1;
};

/// A pseudo terminal: what is written to `terminal` can be read as a person would see it.
struct Terminal {
  int screen = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  int terminal = -1;
  Terminal() {
    if (screen < 0 || ::grantpt(screen) != 0 || ::unlockpt(screen) != 0) return;
    const char* name = ::ptsname(screen);
    if (name != nullptr) terminal = ::open(name, O_RDWR | O_NOCTTY);
  }
  ~Terminal() {
    if (terminal >= 0) ::close(terminal);
    if (screen >= 0) ::close(screen);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::string seen() const {
    std::string text(4096, '\0');
    const auto size = ::read(screen, text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }
};

/// Longer than the two seconds that have to pass before anything is shown.
void wait_until_shown() { std::this_thread::sleep_for(std::chrono::milliseconds(2200)); }

}  // namespace

TEST_CASE("progress is a line after two seconds and every five seconds where standard error is not a terminal") {
  const TemporaryFolder folder;
  const int file = ::open((folder / "stderr").c_str(), O_CREAT | O_WRONLY, 0600);
  REQUIRE(file >= 0);
  {
    const StandardErrorTo redirected(file);
    const Progress silent("silent", 10, false);
    Progress progress("measuring", 10);
    progress.advance(4, "(size 128)");
    CHECK(folder.read("stderr").empty());
    wait_until_shown();
    for (int i = 0; i < 1000; ++i) progress.advance(0, "(size 256)");
  }
  ::close(file);
  const std::string shown = folder.read("stderr");
  CHECK_THAT(shown, ContainsSubstring("measuring 4/10 (size 128), 2 s, about 3 s left\n"));
  CHECK(std::count(shown.begin(), shown.end(), '\n') == 1);
}

TEST_CASE("progress on a terminal waits for two seconds and then shows one line that it wipes at the end") {
  const Terminal terminal;
  if (terminal.terminal < 0) SKIP("no pseudo terminal here");
  {
    const StandardErrorTo redirected(terminal.terminal);
    auto silent = std::make_unique<Progress>("silent", 10, false);
    auto progress = std::make_unique<Progress>("measuring", 10);
    for (int i = 0; i < 3; ++i) progress->advance();
    CHECK(terminal.seen().empty());
    wait_until_shown();
    silent->advance(5);
    silent.reset();
    CHECK(terminal.seen().find("silent") == std::string::npos);
    progress->advance(4, "size 128");
    // Though nothing advances, the line is written anew.
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    const std::string shown = terminal.seen();
    CHECK_THAT(shown, ContainsSubstring("measuring 7/10 size 128"));
    CHECK(shown.find('\n') == std::string::npos);
    for (int i = 0; i < 1000; ++i) progress->advance(0);
    CHECK(terminal.seen().size() < 4 * shown.size());  // at most twice a second
    progress.reset();
    CHECK_THAT(terminal.seen(), EndsWith("\r\033[K"));
  }
}

}  // namespace steelyard::test_progress
