#include <catch2/catch_approx.hpp>
#include <chrono>
#include <thread>

#include "core/device/device.hpp"
#include "core/timing.hpp"
#include "tests/catch.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_queues {

using Catch::Approx;

namespace {

using Random = std::mt19937_64;
using Cells = Kokkos::View<std::uint64_t*, DeviceOf<CompanionExecution>>;

std::size_t any_below(Random& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

/// A cell from another one, by a calculation as long as one likes that no compiler shortens.
KOKKOS_INLINE_FUNCTION std::uint64_t next_value(std::uint64_t value, int turns) {
  for (int i = 0; i < turns; ++i) value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9ULL + 1;
  return value;
}

struct Operation {
  std::size_t queue = 0, from = 0, to = 0;
  int turns = 0;
};

struct Calculation {
  Cells cells;
  Operation operation;

  KOKKOS_FUNCTION void operator()(const int /*one*/) const {
    cells(operation.to) += next_value(cells(operation.from), operation.turns);
  }
};

void give(const CompanionExecution& queue, const Cells& cells, const Operation& operation) {
  Kokkos::parallel_for("steelyard::tests::calculation", Kokkos::RangePolicy<CompanionExecution>(queue, 0, 1),
                       Calculation{cells, operation});
}

std::vector<std::uint64_t> fetched(const std::vector<CompanionExecution>& queues, const Cells& cells) {
  for (const CompanionExecution& queue : queues) queue.fence();
  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), cells);
  return {on_host.data(), on_host.data() + on_host.size()};
}

std::vector<Operation> random_operations(Random& random, std::size_t queues, std::size_t cells, std::size_t count) {
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < count; ++i) {
    // Some are a hundred times as long as others, so that queues do not go in step.
    const int turns = any_below(random, 4) == 0 ? 20000 : 200;
    operations.push_back({any_below(random, queues), any_below(random, cells), any_below(random, cells), turns});
  }
  return operations;
}

std::vector<std::uint64_t> one_after_the_other(std::size_t cells, const std::vector<Operation>& operations) {
  std::vector<std::uint64_t> values(cells, 0);
  for (const Operation& operation : operations) {
    values[operation.to] += next_value(values[operation.from], operation.turns);
  }
  return values;
}

}  // namespace

TEST_CASE("there are as many queues as are asked for") {
  for (const int count : {0, 1, 2, 3, 5}) {
    const std::vector<CompanionExecution> queues = tests::companion_queues(count);
    CHECK(queues.size() == static_cast<std::size_t>(count));
  }
}

TEST_CASE("operations that wait for the events of those whose cells they use have the results of the same in order") {
  constexpr std::size_t cells = 6;
  Random random(3);
  for (int trial = 0; trial < 12; ++trial) {
    // A single queue does all that it is given in that order.
    const std::vector<CompanionExecution> queues = tests::companion_queues(1 + trial % 3);
    const std::vector<Operation> operations = random_operations(random, queues.size(), cells, 100);
    const Cells values("cells", cells);
    Kokkos::fence();
    // Of each cell the last writer, and of each queue the last reader since.
    std::array<QueueEvent, cells> written;
    std::array<std::array<QueueEvent, 3>, cells> read;
    for (const Operation& operation : operations) {
      const CompanionExecution& queue = queues[operation.queue];
      for (const std::size_t used : {operation.from, operation.to}) written[used].make_wait(queue);
      for (const QueueEvent& reader : read[operation.to]) reader.make_wait(queue);
      give(queue, values, operation);
      const QueueEvent done = QueueEvent::record(queue);
      written[operation.to] = done;
      read[operation.to].fill(QueueEvent());
      read[operation.from][operation.queue] = done;
    }
    CHECK(fetched(queues, values) == one_after_the_other(cells, operations));
  }
}

TEST_CASE(
    "an event that stands for no work holds nothing back, and a copy stands, again and again, for what the original "
    "did") {
  const std::vector<CompanionExecution> queues = tests::companion_queues(2);
  const Cells values("cells", 2);
  Kokkos::fence();
  QueueEvent().make_wait(queues[0]);
  const std::vector<Operation> operations{{0, 0, 0, 2000000}, {1, 0, 1, 10}};
  QueueEvent copy;
  {
    give(queues[0], values, operations[0]);
    const QueueEvent done = QueueEvent::record(queues[0]);
    copy = done;
  }
  for (int again = 0; again < 100; ++again) {
    for (const CompanionExecution& queue : queues) copy.make_wait(queue);
  }
  copy = QueueEvent();
  give(queues[1], values, operations[1]);
  CHECK(fetched(queues, values) == one_after_the_other(2, operations));
}

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

}  // namespace

TEST_CASE("an idle queue's moments are as far apart as they were marked, on the host's clock") {
  const CompanionExecution queue = tests::companion_queues(1).front();
  queue.fence();
  const double before_s = now_s();
  const QueueTime first = QueueTime::mark(queue);
  queue.fence();
  const double between_s = now_s();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const QueueTime second = QueueTime::mark(queue);
  queue.fence();
  const double after_s = now_s();
  const double found_s = second.seconds_since(first);
  CHECK(first.seconds_since(first) == 0.0);
  CHECK(first.seconds_since(second) == Approx(-found_s).margin(tick_s));
  QueueTime copy;
  copy = first;
  CHECK(second.seconds_since(copy) == found_s);
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

}  // namespace steelyard::test_queues
