#include <numeric>

#include "core/memory/host_copy.hpp"
#include "core/spaces.hpp"
#include "core/stream.hpp"
#include "core/unit_rates.hpp"
#include "tests/catch.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/synthetic_machine.hpp"

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
    const Stream<TestType> stream(TestType(), elements);
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
      CHECK(read<TestType>(&stream.arrays()[0][0], elements) == std::vector<double>(size, a));
      CHECK(read<TestType>(&stream.arrays()[1][0], elements) == std::vector<double>(size, b));
      CHECK(read<TestType>(&stream.arrays()[2][0], elements) == std::vector<double>(size, c));
    }
  }
}

TEMPLATE_TEST_CASE("a pass subtracts the first array from the second, once for every element and nowhere else", "",
                   HostExecution, CompanionExecution) {
  for (const std::int64_t count : {1, 511, 512, (1 << 15) - 1, (1 << 15) + 1, 200001}) {
    CAPTURE(count);
    const auto space = TestType();
    CHECK(MemoryBoundProbe<TestType>(space, count).bytes() == 24.0 * static_cast<double>(count));
    const std::int64_t elements = count + 3;
    const PassArrays<TestType, 2> arrays(space, "steelyard::tests::arrays", elements);
    // Elements at the same index lie half a page apart, not at the same place of two pages.
    CHECK((&arrays[1][0] - &arrays[0][0]) % 512 == 256);
    std::vector<double> first(static_cast<std::size_t>(elements)), second(first.size());
    std::iota(first.begin(), first.end(), 7.0);
    std::transform(first.begin(), first.end(), second.begin(), [](double x) { return 3.0 * x * x; });
    copy_from_host(space, &arrays[0][0], static_cast<const double*>(first.data()), first.size());
    copy_from_host(space, &arrays[1][0], static_cast<const double*>(second.data()), second.size());
    space.fence();
    const PassElement<DifferenceOfElements> body{arrays[0], arrays[1], arrays[0]};
    ArrayPass<TestType, PassElement<DifferenceOfElements>>{body, count}.launch(space, "steelyard::tests::pass");
    space.fence();
    for (std::size_t i = 0; i + 3 < first.size(); ++i) first[i] = second[i] - first[i];
    CHECK(read<TestType>(&arrays[0][0], elements) == first);
    CHECK(read<TestType>(&arrays[1][0], elements) == second);
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

}  // namespace steelyard::test_stream
