#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "core/base/progress.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"

namespace steelyard::test_progress {

using tests::TemporaryFolder;

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

/// Longer than the two seconds that have to pass before anything is shown.
void wait_until_shown() { std::this_thread::sleep_for(std::chrono::milliseconds(2200)); }

}  // namespace

TEST_CASE(
    "progress is a line after two seconds where standard error is not a terminal, with what comes next and is left") {
  const TemporaryFolder folder;
  const auto shown_of = [&](const auto& advance) {
    const int file = ::open((folder / "stderr").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    REQUIRE(file >= 0);
    {
      const StandardErrorTo redirected(file);
      const Progress silent("silent", 10, false);
      Progress progress("measuring", 4);
      advance(progress);
      CHECK(folder.read("stderr").empty());
      wait_until_shown();
      for (int i = 0; i < 1000; ++i) progress.advance(0, "too soon");
    }
    ::close(file);
    return folder.read("stderr");
  };
  CHECK(shown_of([](Progress& progress) { progress.advance(1, "(size 128)"); }) ==
        "measuring 1/4 (size 128), 2 s, about 6 s left\n");
  CHECK(shown_of([](Progress& progress) { progress.set_steps(2, 4); }) ==
        "measuring 0/4 (step 2 of 4), 2 s, about 14 s left\n");
  CHECK(shown_of([](Progress& progress) { progress.set_steps(4, 0); }) == "measuring 0/4 (step 4), 2 s\n");
  CHECK(shown_of([](Progress& progress) {
          progress.set_steps(8, 8);
          progress.advance();
        }) == "measuring 1/4, 2 s, about 6 s left\n");
}

}  // namespace steelyard::test_progress
