#pragma once

#include <sys/resource.h>

#include <csignal>
#include <string>

namespace steelyard::tests {

/// The message of the exception that `call` throws while no file of this process grows beyond `bytes`: writing more
/// fails ("File too large"), as on a disk that is full. Empty when it throws none. Where standard output is a file, it
/// is one of them.
template <class Exception, class Call>
std::string failure_on_full_disk(rlim_t bytes, const Call& call) {
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{bytes, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::string failure;
  try {
    call();
  } catch (const Exception& error) {
    failure = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  return failure;
}

}  // namespace steelyard::tests
