#pragma once

#include <sys/resource.h>

#include <csignal>
#include <string>

namespace steelyard::tests {

/// While it lives, no file of this process grows beyond `bytes`: writing more fails with an error ("File too large"),
/// as on a disk that is full. Where standard output is a file, it is one of them: check afterwards.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

/// The message of the exception that `call` throws on a disk with room for `bytes`; empty when it throws none.
template <class Exception, class Call>
std::string failure_on_full_disk(rlim_t bytes, const Call& call) {
  const FullDisk disk(bytes);
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace steelyard::tests
