#pragma once

#include <chrono>

namespace steelyard {

/// Seconds of a steady clock since an arbitrary start.
inline double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that `work` takes on the space, from an idle space to an idle space.
template <class Execution, class Work>
double fenced_seconds(const Execution& space, Work&& work) {
  space.fence();
  const double start = now_s();
  work();
  space.fence();
  return now_s() - start;
}

}  // namespace steelyard
