#include <catch2/catch_test_macros.hpp>
#include <thread>
#include <vector>

#include "miniapps/fft2d/rows/row_batch.hpp"

namespace steelyard::fft2d::test_row_batch {
namespace {

/// How often each number was taken by threads that run at the same time.
std::vector<int> takes(std::int64_t count, std::int64_t threads, std::int64_t working) {
  SharedBatches batches(count, threads);
  std::vector<std::vector<int>> taken(static_cast<std::size_t>(working),
                                      std::vector<int>(static_cast<std::size_t>(count)));
  std::vector<std::thread> team;
  for (std::int64_t i = 0; i < working; ++i) {
    team.emplace_back([&batches, &mine = taken[static_cast<std::size_t>(i)], i] {
      batches.take(i, [&mine](std::int64_t number) { ++mine[static_cast<std::size_t>(number)]; });
    });
  }
  for (std::thread& thread : team) thread.join();
  std::vector<int> sums(static_cast<std::size_t>(count));
  for (const auto& of_thread : taken) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += of_thread[i];
  }
  return sums;
}

TEST_CASE("Every number is taken once, by any number of threads, and also where some never run") {
  for (const std::int64_t threads : {1, 2, 3, 8}) {
    for (const std::int64_t count : {0, 1, 2, 7, 64, 1001}) {
      const std::vector<int> once(static_cast<std::size_t>(count), 1);
      CHECK(takes(count, threads, threads) == once);
      CHECK(takes(count, threads, 1) == once);
    }
  }
}

TEST_CASE("A thread takes neighbours of its own part first") {
  SharedBatches batches(10, 2);
  std::vector<std::int64_t> order;
  batches.take(1, [&order](std::int64_t number) { order.push_back(number); });
  CHECK(order == std::vector<std::int64_t>{5, 6, 7, 8, 9, 0, 1, 2, 3, 4});
}

}  // namespace
}  // namespace steelyard::fft2d::test_row_batch
