#include <cstring>
#include <numeric>
#include <thread>

#include "core/spaces.hpp"
#include "core/stream.hpp"
#include "core/unit_rates.hpp"
#include "tests/catch.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/synthetic_machine.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_stream {

namespace {

/// Elements of one of the arrays.
template <class Execution>
std::vector<double> read(const double* array, std::int64_t elements) {
  using Trait = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  std::vector<double> values(static_cast<std::size_t>(elements));
  Kokkos::deep_copy(Kokkos::View<double*, Kokkos::HostSpace, Trait>(values.data(), values.size()),
                    Kokkos::View<const double*, DeviceOf<Execution>, Trait>(array, values.size()));
  return values;
}

}  // namespace

TEMPLATE_TEST_CASE("STREAM's kernels leave in all elements what the benchmark expects after each turn", "",
                   HostExecution, CompanionExecution) {
  // Fewer than a team has, as many, and not a multiple of anything.
  for (const std::int64_t elements : {1, 7, 4096, 32768, 100003}) {
    const Stream<TestType> stream(tests::unit_space<TestType>(), elements);
    const auto count = static_cast<double>(elements);
    CHECK(stream.bytes(StreamKernel::copy) == 16.0 * count);
    CHECK(stream.bytes(StreamKernel::scale) == 16.0 * count);
    CHECK(stream.bytes(StreamKernel::add) == 24.0 * count);
    CHECK(stream.bytes(StreamKernel::triad) == 24.0 * count);
    double a = 1.0, b = 2.0, c = 0.0;
    for (int turn = 0; turn < 3; ++turn) {
      for (const StreamKernel kernel : stream_kernels) stream.run(kernel);
      c = a;
      b = 3.0 * c;
      c = a + b;
      a = b + 3.0 * c;
      const auto size = static_cast<std::size_t>(elements);
      CHECK(read<TestType>(&stream.arrays().a[0], elements) == std::vector<double>(size, a));
      CHECK(read<TestType>(&stream.arrays().b[0], elements) == std::vector<double>(size, b));
      CHECK(read<TestType>(&stream.arrays().c[0], elements) == std::vector<double>(size, c));
    }
  }
}

namespace {

/// Where Kokkos has allocated the probe's arrays.
struct Allocation {
  double* memory = nullptr;
  std::size_t doubles = 0;
};
Allocation noted;

}  // namespace

TEMPLATE_TEST_CASE("a pass subtracts the first array from the second, once for every element and nowhere else", "",
                   HostExecution, CompanionExecution) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  for (const std::size_t count : {1, 511, 512, (1 << 15) - 1, (1 << 15) + 1, 200001}) {
    CAPTURE(count);
    const auto space = tests::unit_space<TestType>();
    noted = {};
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](auto, const char* label, const void* memory, std::uint64_t bytes) {
          if (std::string(label) != "steelyard::memory_bound::arrays") return;
          noted = {static_cast<double*>(const_cast<void*>(memory)), bytes / sizeof(double)};
        });
    const MemoryBoundProbe<TestType> probe(space, static_cast<std::int64_t>(count));
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    REQUIRE(noted.memory != nullptr);
    CHECK(probe.bytes() == 24.0 * static_cast<double>(count));
    const Kokkos::View<double*, DeviceOf<TestType>, Unmanaged> own(noted.memory, noted.doubles);
    std::vector<double> values(noted.doubles);
    const Kokkos::View<double*, Kokkos::HostSpace, Unmanaged> here(values.data(), values.size());
    const auto pass_over = [&](std::vector<double> before) {
      std::copy(before.begin(), before.end(), values.begin());
      Kokkos::deep_copy(own, here);
      probe.run();
      Kokkos::deep_copy(here, own);
      return values;
    };
    Kokkos::deep_copy(here, own);
    const std::vector<double> touched = values;
    // Over numbered memory a pass writes one number all over the first array, whole where those of memory are not.
    std::vector<double> numbered(values.size());
    std::iota(numbered.begin(), numbered.end(), 0.25);
    const std::vector<double> after = pass_over(numbered);
    const auto at = std::mismatch(after.begin(), after.end(), numbered.begin()).first - after.begin();
    const auto written = static_cast<std::size_t>(at);
    REQUIRE(written < after.size());
    const std::size_t other = written + static_cast<std::size_t>(after[written]);
    REQUIRE((other >= written + count && other + count <= values.size()));
    // Elements at the same index lie half a page apart, not at the same place of two pages.
    CHECK((other - written) * sizeof(double) % 4096 == 2048);
    std::vector<double> expected = touched;
    std::size_t untouched = 0;
    for (std::size_t i = 0; i < count; ++i) {
      untouched += touched[written + i] == 0.5 && touched[other + i] == 1.0 ? 0 : 1;
      expected[written + i] = static_cast<double>(i % 1000);
      expected[other + i] = static_cast<double>(3 * i);
    }
    CHECK(untouched == 0);
    for (std::size_t i = written + count; i < other; ++i) expected[i] = -7.0;
    const std::vector<double> found = pass_over(expected);
    for (std::size_t i = 0; i < count; ++i) expected[written + i] = expected[other + i] - expected[written + i];
    CHECK(std::memcmp(found.data(), expected.data(), expected.size() * sizeof(double)) == 0);
    // Kokkos' own header, which may lie before the arrays, as it was.
    std::copy(touched.begin(), touched.end(), values.begin());
    Kokkos::deep_copy(own, here);
  }
}

using Kind = ProcessingUnit::Kind;

TEST_CASE("every unit has rates, and copies count only where a device has a memory of its own") {
  constexpr double memory_bytes = 32.0 * 1024.0 * 1024.0;
  for (const Kind kind : {Kind::host, Kind::companion}) {
    if (kind == Kind::companion && !tests::started_units().companion) continue;
    const UnitRates rates = measure_unit_rates(kind, 100000, memory_bytes);
    for (const double rate : rates.stream_bytes_per_s) {
      CHECK(rate > 0.0);
      CHECK(std::isfinite(rate));
    }
    CHECK(rates.gemm_double_flops_per_s > 0.0);
    CHECK(rates.gemm_float_flops_per_s > 0.0);
    const bool copies = kind == Kind::companion && companion_is_device;
    CHECK((rates.to_device_bytes_per_s > 0.0) == copies);
    CHECK((rates.to_host_bytes_per_s > 0.0) == copies);
  }
}

TEST_CASE("STREAM's arrays exceed the caches four times and take no more than a quarter of the memory together") {
  const tests::SyntheticMachine machine("numa:1(memory=68719476736) l3:1(size=8388608) core:4 pu:1");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(stream_elements(*machine, Kind::host, infinity) * 8 == 4 * 8388608);
  CHECK(stream_elements(*machine, Kind::host, 64.0 * 1024.0 * 1024.0) * 3 * 8 <= 16 * 1024 * 1024);
  CHECK(stream_elements(*machine, Kind::host, 0.0) >= 1);
}

TEST_CASE("seconds of a unit's work are those that it takes, as many times longer as it is slowed down") {
  RankUnits units;
  units.host = tests::started_units().host;
  if (!units.host) SKIP("no host unit");
  units.host->slowdown = 3.0;
  CoExecution co_execution(tests::this_machine(), units);
  const auto work = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  CHECK(unit_seconds(work) >= 0.02);
  double seconds = 0.0;
  co_execution.run([&] { seconds = unit_seconds(work); }, [] {});
  CHECK(seconds >= 0.06);
}

}  // namespace steelyard::test_stream
