#include <catch2/catch_approx.hpp>
#include <chrono>
#include <complex>
#include <numbers>
#include <thread>

#include "core/device/device.hpp"
#include "core/host_blas.hpp"
#include "core/spaces.hpp"
#include "core/timing.hpp"
#include "tests/catch.hpp"
#include "tests/core/naive_gemm.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/unit_matrix.hpp"

namespace steelyard::test_back_end {

using Catch::Approx;
using namespace steelyard::tests;

TEST_CASE("devices and their libraries have names, and a build without a device has none and refuses to use them") {
  CHECK(device_facts(device_count()).name.empty());
  for (int device = 0; device < device_count(); ++device) CHECK_FALSE(device_facts(device).name.empty());
  if (has_device_libraries) {
    CHECK_THAT(device_blas_name(), Catch::Matchers::Matches(".*BLAS.* [0-9]+\\.[0-9]+\\.[0-9]+.*"));
    CHECK(device_fft_name().find('.') != std::string::npos);
  } else {
    CHECK_THROWS_AS(device_blas_name(), RuntimeFailure);
    CHECK_THROWS_AS(device_blas_gemm(CompanionExecution(), GemmCall<double>()), RuntimeFailure);
    CHECK_THROWS_AS(device_blas_gemm(CompanionExecution(), GemmCall<float>()), RuntimeFailure);
    CHECK_THROWS_AS(device_fft_name(), RuntimeFailure);
    CHECK_THROWS_AS(device_fft<double>(CompanionExecution(), {}), RuntimeFailure);
    CHECK_THROWS_AS(device_fft<float>(CompanionExecution(), {}), RuntimeFailure);
  }
  // The current one is that with which Kokkos was started.
  CHECK(current_device() < std::max(1, device_count()));
  if (!companion_is_device && !has_device_libraries) {
    CHECK(device_count() == 0);
    CHECK(current_device() == -1);
  } else if (companion_is_device && started_units().companion) {
    CHECK(current_device() == started_units().companion->device);
  }
}

// More of what it computes is tested through gemm(), on the companion.
TEMPLATE_TEST_CASE("a device's BLAS multiplies matrices with any leading dimensions on any queue", "", double, float) {
  if (!has_device_libraries) SKIP("this build has no device");
  using Unit = UnitMatrix<CompanionExecution, TestType>;
  constexpr int m = 7, n = 5, k = 9;
  std::mt19937_64 random(5);
  for (const CompanionExecution& queue : make_queues(2)) {
    for (const int room : {0, 3}) {
      const Unit a(m, k, k + room), b(k, n, n + room), c(m, n, n + 2 * room);
      for (const Unit* const matrix : {&a, &b, &c}) {
        matrix->fill(random);
        matrix->send();
      }
      const TestType alpha = TestType(1.25), beta = TestType(-0.5);
      const auto expected = naive_gemm(m, n, k, alpha, a, b, beta, c);
      device_blas_gemm(queue, GemmCall<TestType>{m, n, k, alpha, a.view().data(), k + room, b.view().data(), n + room,
                                                 beta, c.view().data(), n + 2 * room});
      queue.fence();
      c.fetch();
      bool right = true;
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          right = right && agrees(c.at(i, j), expected[static_cast<std::size_t>(i * n + j)]);
        }
      }
      CHECK(right);
      CHECK(c.untouched_between_rows());
    }
  }
}

// More of it is tested through fft2d's RowPass, on the companion.
TEMPLATE_TEST_CASE("a device's FFT is the transform by its definition, row by row, and writes nothing else", "", double,
                   float) {
  if (!has_device_libraries) SKIP("this build has no device");
  using Complex = std::complex<long double>;
  const CompanionExecution queue = make_queues(1).front();
  std::mt19937_64 random(6);
  std::uniform_real_distribution<TestType> any(TestType{-1}, TestType{1});
  for (const DeviceFftRows& rows : {DeviceFftRows{1, 2, 1, false, false}, DeviceFftRows{12, 1, 12, false, false},
                                    DeviceFftRows{15, 3, 17, true, false}, DeviceFftRows{64, 5, 64, true, false},
                                    DeviceFftRows{16, 4, 9, false, true}, DeviceFftRows{15, 3, 11, false, true}}) {
    const Kokkos::View<Kokkos::complex<TestType>*, DeviceOf<CompanionExecution>> points(
        "points", static_cast<std::size_t>(rows.rows * rows.pitch));
    const auto on_host = Kokkos::create_mirror(points);
    for (std::size_t i = 0; i < on_host.size(); ++i) on_host(i) = Kokkos::complex<TestType>(any(random), any(random));
    const auto before = Kokkos::create_mirror(on_host);
    Kokkos::deep_copy(before, on_host);
    Kokkos::deep_copy(points, on_host);
    Kokkos::fence();
    device_fft<TestType>(queue, rows)(points.data());
    queue.fence();
    Kokkos::deep_copy(on_host, points);
    const std::int64_t n = rows.length, stored = rows.real ? n / 2 + 1 : n;
    // What a row begins with, as complex or as real numbers.
    const auto point = [&](std::int64_t row, std::int64_t j) {
      const auto* const first = before.data() + row * rows.pitch;
      if (rows.real) return Complex(reinterpret_cast<const TestType*>(first)[j]);
      return Complex(first[j].real(), first[j].imag());
    };
    long double distance = 0.0L, length = 0.0L;
    bool untouched = true;
    for (std::int64_t row = 0; row < rows.rows; ++row) {
      for (std::int64_t k = 0; k < stored; ++k) {
        Complex sum;
        for (std::int64_t j = 0; j < n; ++j) {
          const long double turns = static_cast<long double>(j * k % n) / static_cast<long double>(n);
          sum +=
              point(row, j) * std::polar(1.0L, (rows.inverse ? 2.0L : -2.0L) * std::numbers::pi_v<long double> * turns);
        }
        const auto found = on_host(static_cast<std::size_t>(row * rows.pitch + k));
        distance += std::norm(sum - Complex(found.real(), found.imag()));
        length += std::norm(sum);
      }
      for (std::int64_t j = stored; j < rows.pitch; ++j) {
        const auto behind = static_cast<std::size_t>(row * rows.pitch + j);
        untouched = untouched && on_host(behind) == before(behind);
      }
    }
    CHECK(std::sqrt(distance / length) < 10.0L * std::numeric_limits<TestType>::epsilon());
    CHECK(untouched);
  }
}

// Of matrices they are tested through copy_matrix_from_host() and its siblings, on the companion.
TEST_CASE("rows come back from a device, over another place on it, as they were sent, and nothing else is written") {
  struct Shape {
    std::size_t rows, row_bytes, host_pitch, first_pitch, second_pitch;
  };
  const CompanionExecution queue = make_queues(1).front();
  for (const Shape x : {Shape{0, 8, 8, 8, 8}, Shape{1, 0, 8, 8, 8}, Shape{1, 1, 1, 1, 1}, Shape{5, 24, 24, 24, 24},
                        Shape{7, 24, 40, 32, 24}, Shape{3, 1000, 1000, 1024, 4096}, Shape{64, 8, 64, 16, 512}}) {
    using Bytes = Kokkos::View<unsigned char*, DeviceOf<CompanionExecution>>;
    const Bytes first("first", x.rows * x.first_pitch), second("second", x.rows * x.second_pitch);
    const Kokkos::View<unsigned char*, PinnedMemory> sent("sent", x.rows * x.host_pitch);
    const Kokkos::View<unsigned char*, PinnedMemory> found("found", x.rows * x.host_pitch);
    for (std::size_t i = 0; i < sent.size(); ++i) sent(i) = static_cast<unsigned char>(i * 7 + 1);
    Kokkos::deep_copy(found, 255);
    Kokkos::fence();
    copy_rows_to_device(queue, {first.data(), x.first_pitch, sent.data(), x.host_pitch, x.row_bytes, x.rows});
    copy_rows_on_device(queue, {second.data(), x.second_pitch, first.data(), x.first_pitch, x.row_bytes, x.rows});
    copy_rows_to_host(queue, {found.data(), x.host_pitch, second.data(), x.second_pitch, x.row_bytes, x.rows});
    queue.fence();
    std::vector<unsigned char> expected(found.size(), 255);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (i % x.host_pitch < x.row_bytes) expected[i] = sent(i);
    }
    CHECK(std::vector<unsigned char>(found.data(), found.data() + found.size()) == expected);
    // Of a new View all that no row lies over is still zero.
    const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), second);
    bool untouched = true;
    for (std::size_t i = 0; i < on_host.size(); ++i) {
      untouched = untouched && (i % x.second_pitch < x.row_bytes || on_host(i) == 0);
    }
    CHECK(untouched);
  }
}

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
  std::size_t from = 0, to = 0;
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

/// A device's clock steps on this often, and what it says has the digits of a float.
constexpr double tick_s = 2e-6;

}  // namespace

TEST_CASE("operations that wait for the events of those whose cells they use have the results of the same in order") {
  constexpr std::size_t cells = 6;
  Random random(3);
  for (int trial = 0; trial < 12; ++trial) {
    // A single queue does all that it is given in that order.
    const std::vector<CompanionExecution> queues = make_queues(1 + trial % 3);
    REQUIRE(queues.size() == 1 + static_cast<std::size_t>(trial) % 3);
    const Cells values("cells", cells);
    std::vector<std::uint64_t> expected(cells, 0);
    Kokkos::fence();
    // Last writer of each cell, and each queue's last reader since then.
    std::array<QueueEvent, cells> written;
    std::array<std::array<QueueEvent, 3>, cells> read;
    for (int i = 0; i < 100; ++i) {
      // Some are a hundred times as long as others, so that queues do not go in step.
      const int turns = any_below(random, 4) == 0 ? 20000 : 200;
      const std::size_t number = any_below(random, queues.size());
      const Operation operation{any_below(random, cells), any_below(random, cells), turns};
      const CompanionExecution& queue = queues[number];
      for (const std::size_t used : {operation.from, operation.to}) written[used].make_wait(queue);
      for (const QueueEvent& reader : read[operation.to]) reader.make_wait(queue);
      give(queue, values, operation);
      const QueueEvent done = QueueEvent::record(queue);
      written[operation.to] = done;
      read[operation.to].fill(QueueEvent());
      read[operation.from][number] = done;
      expected[operation.to] += next_value(expected[operation.from], turns);
    }
    CHECK(fetched(queues, values) == expected);
  }
}

TEST_CASE("an event that stands for no work holds nothing back, and a copy stands for what the original did") {
  const std::vector<CompanionExecution> queues = make_queues(2);
  const Cells values("cells", 2);
  Kokkos::fence();
  QueueEvent().make_wait(queues[0]);
  QueueEvent copy;
  {
    give(queues[0], values, {0, 0, 2000000});
    const QueueEvent done = QueueEvent::record(queues[0]);
    copy = done;
  }
  for (int again = 0; again < 100; ++again) {
    for (const CompanionExecution& queue : queues) copy.make_wait(queue);
  }
  copy = QueueEvent();
  give(queues[1], values, {0, 1, 10});
  const std::uint64_t first = next_value(0, 2000000);
  CHECK(fetched(queues, values) == std::vector{first, next_value(first, 10)});
}

TEST_CASE("a queue's moments are as far apart as on the host's clock, with the work between them, and add up") {
  const CompanionExecution queue = make_queues(1).front();
  const Cells values("cells", 1);
  Kokkos::fence();
  const double before_s = now_s();
  const QueueEvent first = QueueEvent::record(queue, true);
  queue.fence();
  const double between_s = now_s();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const QueueEvent second = QueueEvent::record(queue, true);
  queue.fence();
  const double after_s = now_s();
  give(queue, values, {0, 0, 2000000});
  const QueueEvent third = QueueEvent::record(queue, true);
  queue.fence();
  const double end_s = now_s();
  const double idle_s = second.seconds_since(first), busy_s = third.seconds_since(second);
  CHECK(first.seconds_since(first) == 0.0);
  CHECK(first.seconds_since(second) == Approx(-idle_s).margin(tick_s));
  QueueEvent copy;
  copy = first;
  CHECK(second.seconds_since(copy) == idle_s);
  CHECK(idle_s >= 0.02 - tick_s - (between_s - before_s));
  CHECK(idle_s <= after_s - before_s + tick_s);
  CHECK(busy_s > 0.0005);
  CHECK(third.seconds_since(first) <= end_s - before_s + tick_s);
  CHECK(third.seconds_since(first) == Approx(idle_s + busy_s).epsilon(1e-5).margin(3.0 * tick_s));
}

TEST_CASE("moments of different queues have one clock: what waits for an event starts when that has happened") {
  const std::vector<CompanionExecution> queues = make_queues(3);
  const Cells values("cells", 1);
  Kokkos::fence();
  std::vector<QueueEvent> starts, ends;
  for (int i = 0; i < 9; ++i) {
    const CompanionExecution& queue = queues[static_cast<std::size_t>(i) % queues.size()];
    starts.push_back(QueueEvent::record(queue, true));
    give(queue, values, {0, 0, 200000});
    ends.push_back(QueueEvent::record(queue, true));
    const QueueEvent done = QueueEvent::record(queue);
    for (const CompanionExecution& other : queues) done.make_wait(other);
  }
  for (const CompanionExecution& queue : queues) queue.fence();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    CHECK(ends[i].seconds_since(starts[i]) > 0.0);
    if (i > 0) CHECK(starts[i].seconds_since(ends[i - 1]) >= -tick_s);
  }
}

}  // namespace steelyard::test_back_end
