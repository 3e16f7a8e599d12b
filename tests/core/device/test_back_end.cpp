#include <complex>
#include <numbers>

#include "core/device/device.hpp"
#include "core/spaces.hpp"
#include "tests/catch.hpp"
#include "tests/core/naive_gemm.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/unit_matrix.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_back_end {

TEST_CASE("devices and their libraries have names, and a build without a device has none and refuses to use them") {
  const DeviceFacts none = device_facts(device_count());
  CHECK(none.name.empty());
  CHECK(none.pci_bus.empty());
  for (int device = 0; device < device_count(); ++device) CHECK_FALSE(device_facts(device).name.empty());
  if (has_device_libraries) {
    CHECK_THAT(device_blas_name(), Catch::Matchers::Matches(".*BLAS.* [0-9]+\\.[0-9]+\\.[0-9]+.*"));
    CHECK(device_fft_name().find('.') != std::string::npos);
  } else {
    CHECK_THROWS_AS(device_blas_name(), RuntimeFailure);
    CHECK_THROWS_AS(device_blas_gemm(CompanionExecution(), GemmCall<double>()), RuntimeFailure);
    CHECK_THROWS_AS(device_blas_gemm(CompanionExecution(), GemmCall<float>()), RuntimeFailure);
    CHECK_THROWS_AS(device_fft_name(), RuntimeFailure);
    CHECK_THROWS_AS(DeviceFft<double>(CompanionExecution(), {}), RuntimeFailure);
    CHECK_THROWS_AS(DeviceFft<float>(CompanionExecution(), {}), RuntimeFailure);
  }
  // The current one is that with which Kokkos was started.
  CHECK(current_device() < std::max(1, device_count()));
  if (!companion_is_device && !has_device_libraries) {
    CHECK(device_count() == 0);
    CHECK(current_device() == -1);
  } else if (companion_is_device && tests::started_units().companion) {
    CHECK(current_device() == tests::started_units().companion->device);
  }
}

TEST_CASE("host code reads and writes pinned memory") {
  tests::unit_space<CompanionExecution>();
  Kokkos::View<double*, PinnedMemory> pinned("steelyard::tests::pinned", 3);
  STATIC_REQUIRE(Kokkos::SpaceAccessibility<Kokkos::HostSpace, PinnedMemory>::accessible);
  pinned(2) = 1.5;
  CHECK(pinned(2) == 1.5);
  CHECK(pinned(0) == 0.0);
}

// More of what it computes is tested through gemm(), on the companion.
TEMPLATE_TEST_CASE("a device's BLAS multiplies matrices with any leading dimensions on any queue", "", double, float) {
  if (!has_device_libraries) SKIP("this build has no device");
  using Unit = tests::UnitMatrix<CompanionExecution, TestType>;
  constexpr int m = 7, n = 5, k = 9;
  std::mt19937_64 random(5);
  for (const CompanionExecution& queue : tests::companion_queues(2)) {
    for (const int room : {0, 3}) {
      const Unit a(m, k, k + room), b(k, n, n + room), c(m, n, n + 2 * room);
      for (const Unit* const matrix : {&a, &b, &c}) {
        matrix->fill(random);
        matrix->send();
      }
      const TestType alpha = TestType(1.25), beta = TestType(-0.5);
      const auto expected = tests::naive_gemm(m, n, k, alpha, a, b, beta, c);
      device_blas_gemm(queue, GemmCall<TestType>{m, n, k, alpha, a.view().data(), k + room, b.view().data(), n + room,
                                                 beta, c.view().data(), n + 2 * room});
      queue.fence();
      c.fetch();
      bool right = true;
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          right = right && tests::agrees(c.at(i, j), expected[static_cast<std::size_t>(i * n + j)]);
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
  const CompanionExecution queue = tests::companion_queues(1).front();
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
    DeviceFft<TestType>(queue, rows).run(points.data());
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
  const CompanionExecution queue = tests::companion_queues(1).front();
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

}  // namespace steelyard::test_back_end
