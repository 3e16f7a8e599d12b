#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <random>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_device_fft {

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

TEMPLATE_TEST_CASE("a build without an FFT for devices says so", "", double, float) {
  if (has_device_libraries) return;
  CHECK_THROWS_AS(device_fft_name(), RuntimeFailure);
  CHECK_THROWS_AS(DeviceFft<TestType>(CompanionExecution(), {}), RuntimeFailure);
}

TEST_CASE("the FFT for devices has a name with a version") {
  if (!has_device_libraries) return;
  CHECK(device_fft_name().find('.') != std::string::npos);
}

}  // namespace steelyard::test_device_fft
