#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "core/timing.hpp"
#include "tests/device/emulated/facts.hpp"
#include "tests/device/emulated/queue.hpp"

namespace steelyard::test_queue {

using emulated::Event;
using emulated::Queue;

TEST_CASE("a queue does its work in order, and a waiting thread continues after all of it") {
  Queue queue(emulated::selected_device());
  std::vector<int> done;
  for (int i = 0; i < 1000; ++i) queue.give("work", [&done, i] { done.push_back(i); });
  queue.wait();
  REQUIRE(done.size() == 1000);
  for (int i = 0; i < 1000; ++i) CHECK(done[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("part of a queue's work is delayed while no thread waits for it") {
  if (emulated::facts().seed == 0) SKIP("without a seed all work starts at once");
  int late = 0;
  for (int i = 0; i < 100; ++i) {
    Queue queue(emulated::selected_device());
    std::atomic<bool> done{false};
    queue.give("work", [&] { done = true; });
    const double start_s = now_s();
    while (!done && now_s() < start_s + 0.0005) {
    }
    if (!done) ++late;
    queue.wait();
    CHECK(done);
  }
  CHECK(late >= 20);
}

TEST_CASE("work that waits for an event of another queue is done after what that was given before, and no later") {
  for (int i = 0; i < 100; ++i) {
    Queue first(emulated::selected_device()), second(emulated::selected_device());
    std::atomic<int> value{0};
    first.give("first", [&] { value = 1; });
    Event event;
    event.record(first);
    event.make_wait(second);
    int seen = 0;
    second.give("second", [&] { seen = value; });
    second.wait();
    REQUIRE(seen == 1);
  }
}

TEST_CASE("a thread's record says what it asked for, of which queue and in which order") {
  using Kind = emulated::Order::Kind;
  Queue queue(emulated::selected_device()), other(emulated::selected_device());
  emulated::recorded_operations();
  emulated::name_next_work("named before");
  queue.give("", [] {});
  Event event;
  event.record(queue);
  event.make_wait(other);
  other.give("named here", [] {});
  other.wait();
  const auto orders = emulated::recorded_operations();
  const std::vector<Kind> kinds{Kind::work, Kind::record, Kind::wait, Kind::work, Kind::fence};
  const std::vector<std::uint32_t> queues{queue.number(), queue.number(), other.number(), other.number(),
                                          other.number()};
  REQUIRE(orders.size() == kinds.size());
  for (std::size_t i = 0; i < orders.size(); ++i) {
    CHECK(orders[i].kind == kinds[i]);
    CHECK(orders[i].queue == queues[i]);
  }
  CHECK(orders[0].label == "named before");
  CHECK(orders[3].label == "named here");
  CHECK(orders[1].event == orders[2].event);
  CHECK(emulated::recorded_operations().empty());
}

}  // namespace steelyard::test_queue
