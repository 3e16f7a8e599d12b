#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "core/spaces.hpp"
#include "core/stream.hpp"
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

TEST_CASE("copy and scale move two elements, add and triad three") {
  const Stream<HostExecution> stream(HostExecution(), 1000);
  CHECK(stream.bytes(StreamKernel::copy) == 16000.0);
  CHECK(stream.bytes(StreamKernel::scale) == 16000.0);
  CHECK(stream.bytes(StreamKernel::add) == 24000.0);
  CHECK(stream.bytes(StreamKernel::triad) == 24000.0);
}

}  // namespace steelyard::test_stream
