#pragma once

#include <dlfcn.h>

#include <filesystem>

namespace steelyard::tests {

/// Threads that this process has now.
inline int count_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) count += task.exists() ? 1 : 0;
  return count;
}

/// How many threads OpenMP would give the calling thread's next parallel region; 0 where the program has no OpenMP.
inline int openmp_threads() {
  const auto most = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  return most == nullptr ? 0 : most();
}

/// The number of threads that OpenBLAS has last used for a multiplication by several; 0 with another BLAS.
inline int openblas_threads() {
  const auto threads = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  return threads == nullptr ? 0 : threads();
}

}  // namespace steelyard::tests
