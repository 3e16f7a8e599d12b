#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "core/device/device.hpp"
#include "core/timing.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_queue_time {

using Catch::Approx;

namespace {

/// A device's clock steps on this often, and what it says has the digits of a float.
constexpr double tick_s = 2e-6;

struct LongWork {
  Kokkos::View<std::uint64_t*, DeviceOf<CompanionExecution>> values;
  int turns;

  KOKKOS_FUNCTION void operator()(const int cell) const {
    std::uint64_t value = values(cell) + 1;
    for (int i = 0; i < turns; ++i) value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9ULL + 1;
    values(cell) = value;
  }
};

/// Something to do for a queue, for milliseconds.
class Work {
 public:
  void give(const CompanionExecution& queue, int turns = 2000000) const {
    Kokkos::parallel_for("steelyard::tests::work", Kokkos::RangePolicy<CompanionExecution>(queue, 0, 1),
                         LongWork{values_, turns});
  }

 private:
  Kokkos::View<std::uint64_t*, DeviceOf<CompanionExecution>> values_{"values", 1};
};

void sleep_for_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

TEST_CASE("no time passes from a moment to itself, and from a later one to an earlier one it is negative") {
  const CompanionExecution queue = tests::companion_queues(1).front();
  const QueueTime first = QueueTime::mark(queue);
  sleep_for_s(0.005);
  const QueueTime second = QueueTime::mark(queue);
  queue.fence();
  CHECK(first.seconds_since(first) == 0.0);
  CHECK(second.seconds_since(first) > 0.0);
  CHECK(first.seconds_since(second) == Approx(-second.seconds_since(first)).margin(tick_s));
}

TEST_CASE("an idle queue's moments are as far apart as they were marked, on the host's clock") {
  const CompanionExecution queue = tests::companion_queues(1).front();
  queue.fence();
  const double before_s = now_s();
  const QueueTime first = QueueTime::mark(queue);
  queue.fence();
  const double between_s = now_s();
  sleep_for_s(0.02);
  const QueueTime second = QueueTime::mark(queue);
  queue.fence();
  const double after_s = now_s();
  const double found_s = second.seconds_since(first);
  CHECK(found_s >= 0.02 - tick_s - (between_s - before_s));
  CHECK(found_s <= after_s - before_s + tick_s);
}

TEST_CASE("between moments lies the work that the queue was given between them") {
  const CompanionExecution queue = tests::companion_queues(1).front();
  const Work work;
  work.give(queue);
  queue.fence();
  const double before_s = now_s();
  const QueueTime start = QueueTime::mark(queue);
  work.give(queue, 200);
  const QueueTime little = QueueTime::mark(queue);
  work.give(queue);
  const QueueTime much = QueueTime::mark(queue);
  queue.fence();
  const double all_s = now_s() - before_s;
  CHECK(little.seconds_since(start) >= 0.0);
  CHECK(much.seconds_since(little) > 0.0005);
  CHECK(much.seconds_since(start) <= all_s + tick_s);
  CHECK(much.seconds_since(start) ==
        Approx(much.seconds_since(little) + little.seconds_since(start)).epsilon(1e-5).margin(3.0 * tick_s));
}

TEST_CASE("a queue's moments come in the order in which they were marked") {
  const CompanionExecution queue = tests::companion_queues(1).front();
  const Work work;
  std::vector<QueueTime> times;
  for (int i = 0; i < 20; ++i) {
    times.push_back(QueueTime::mark(queue));
    work.give(queue, 100 * i);
  }
  queue.fence();
  for (std::size_t i = 1; i < times.size(); ++i) {
    CHECK(times[i].seconds_since(times[i - 1]) >= 0.0);
    CHECK(times[i].seconds_since(times[0]) >= times[i - 1].seconds_since(times[0]) - tick_s);
  }
}

TEST_CASE("moments of different queues have one clock: what waits for an event starts when that has happened") {
  const std::vector<CompanionExecution> queues = tests::companion_queues(3);
  const Work work;
  Kokkos::fence();
  std::vector<QueueTime> starts, ends;
  for (int i = 0; i < 9; ++i) {
    const CompanionExecution& queue = queues[static_cast<std::size_t>(i) % queues.size()];
    starts.push_back(QueueTime::mark(queue));
    work.give(queue, 200000);
    ends.push_back(QueueTime::mark(queue));
    const QueueEvent done = QueueEvent::record(queue);
    for (const CompanionExecution& other : queues) done.make_wait(other);
  }
  for (const CompanionExecution& queue : queues) queue.fence();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    CHECK(ends[i].seconds_since(starts[i]) > 0.0);
    if (i > 0) CHECK(starts[i].seconds_since(ends[i - 1]) >= -tick_s);
  }
}

TEST_CASE("a copy is the same moment, also when the original is gone") {
  const CompanionExecution queue = tests::companion_queues(1).front();
  QueueTime copy;
  {
    const QueueTime original = QueueTime::mark(queue);
    copy = original;
    queue.fence();
    CHECK(copy.seconds_since(original) == 0.0);
  }
  sleep_for_s(0.002);
  const QueueTime later = QueueTime::mark(queue);
  queue.fence();
  CHECK(later.seconds_since(copy) >= 0.002 - tick_s);
}

}  // namespace steelyard::test_queue_time
