#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "core/device/device.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_queue_event {

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

TEST_CASE("every queue does all that it is given, in that order") {
  constexpr std::size_t cells = 4;
  Random random(1);
  for (const CompanionExecution& queue : tests::companion_queues(3)) {
    const std::vector<Operation> operations = random_operations(random, 1, cells, 50);
    const Cells values("cells", cells);
    for (const Operation& operation : operations) give(queue, values, operation);
    CHECK(fetched({queue}, values) == one_after_the_other(cells, operations));
  }
}

TEST_CASE("operations that wait for the event of the one before, on whatever queue, are done one after the other") {
  constexpr std::size_t cells = 5;
  Random random(2);
  for (const int count : {2, 3, 4}) {
    const std::vector<CompanionExecution> queues = tests::companion_queues(count);
    const std::vector<Operation> operations = random_operations(random, queues.size(), cells, 200);
    const Cells values("cells", cells);
    Kokkos::fence();
    QueueEvent done;
    for (const Operation& operation : operations) {
      const CompanionExecution& queue = queues[operation.queue];
      done.make_wait(queue);
      give(queue, values, operation);
      done = QueueEvent::record(queue);
    }
    CHECK(fetched(queues, values) == one_after_the_other(cells, operations));
  }
}

TEST_CASE("operations that wait for the events of those whose cells they use have the results of the same in order") {
  constexpr std::size_t cells = 6;
  Random random(3);
  for (int trial = 0; trial < 10; ++trial) {
    const std::vector<CompanionExecution> queues = tests::companion_queues(3);
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

TEST_CASE("an event that stands for no work holds nothing back, and a copy stands for what the original did") {
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
  copy.make_wait(queues[0]);
  copy.make_wait(queues[1]);
  copy = QueueEvent();
  give(queues[1], values, operations[1]);
  CHECK(fetched(queues, values) == one_after_the_other(2, operations));
}

TEST_CASE("an event may outlive what recorded it and be waited for again and again") {
  const std::vector<CompanionExecution> queues = tests::companion_queues(3);
  const Cells values("cells", 1);
  Kokkos::fence();
  std::vector<QueueEvent> events;
  for (const CompanionExecution& queue : queues) events.push_back(QueueEvent::record(queue));
  for (int i = 0; i < 100; ++i) {
    for (const QueueEvent& event : events) {
      for (const CompanionExecution& queue : queues) event.make_wait(queue);
    }
  }
  give(queues[2], values, {2, 0, 0, 3});
  CHECK(fetched(queues, values) == one_after_the_other(1, {{2, 0, 0, 3}}));
}

}  // namespace steelyard::test_queue_event
