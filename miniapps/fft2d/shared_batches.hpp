#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace steelyard::fft2d {

/// Numbers [0, count) for threads to take: each takes neighbouring ones from a part of its own, and when that is done
/// those that others have left.
class SharedBatches {
 public:
  SharedBatches(std::int64_t count, std::int64_t threads)
      : count_(count), threads_(threads), parts_(new Part[static_cast<std::size_t>(threads)]) {
    for (std::int64_t i = 0; i < threads; ++i) parts_[static_cast<std::size_t>(i)].next = begin(i);
  }

  /// Calls `work` with number after number until all are taken.
  template <class Work>
  void take(std::int64_t thread, const Work& work) {
    for (std::int64_t i = 0; i < threads_; ++i) {
      const std::int64_t part = (thread + i) % threads_;
      const std::int64_t end = begin(part + 1);
      std::atomic<std::int64_t>& next = parts_[static_cast<std::size_t>(part)].next;
      for (std::int64_t batch = next++; batch < end; batch = next++) work(batch);
    }
  }

 private:
  struct alignas(64) Part {
    std::atomic<std::int64_t> next{0};
  };

  std::int64_t begin(std::int64_t part) const { return count_ * part / threads_; }

  std::int64_t count_;
  std::int64_t threads_;
  std::unique_ptr<Part[]> parts_;
};

}  // namespace steelyard::fft2d
