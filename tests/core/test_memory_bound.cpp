#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/spaces.hpp"
#include "core/stream.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_memory_bound {

namespace {

/// The arrays are the probe's own; Kokkos tells where they were allocated.
struct Allocation {
  double* memory = nullptr;
  std::int64_t doubles = 0;
};
Allocation noted;

template <class Execution>
class ProbeWithView {
 public:
  using Memory = Kokkos::View<double*, DeviceOf<Execution>, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  explicit ProbeWithView(std::int64_t elements) : elements_(static_cast<std::size_t>(elements)) {
    const auto space = tests::unit_space<Execution>();
    noted = {};
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](auto, const char* label, const void* memory, std::uint64_t bytes) {
          if (std::string(label) != "steelyard::memory_bound::arrays") return;
          noted = {static_cast<double*>(const_cast<void*>(memory)), static_cast<std::int64_t>(bytes / sizeof(double))};
        });
    probe_ = std::make_unique<MemoryBoundProbe<Execution>>(space, elements);
    Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
    memory_ = Memory(noted.memory, static_cast<std::size_t>(noted.doubles));
    touched_ = read();
    // A pass over numbered memory tells where the arrays lie: it writes one number all over the first, whole where
    // those of memory are not. What it was before, with Kokkos' own header, is restored.
    std::vector<double> numbered(touched_.size());
    std::iota(numbered.begin(), numbered.end(), 0.25);
    write(numbered);
    probe_->run();
    const std::vector<double> after = read();
    write(touched_);
    written_ =
        static_cast<std::size_t>(std::mismatch(after.begin(), after.end(), numbered.begin()).first - after.begin());
    if (written_ < after.size()) other_ = written_ + static_cast<std::size_t>(after[written_]);
  }

  std::vector<double> read() const {
    std::vector<double> values(static_cast<std::size_t>(noted.doubles));
    Kokkos::deep_copy(
        Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(values.data(), values.size()),
        memory_);
    return values;
  }
  void write(const std::vector<double>& values) {
    Kokkos::deep_copy(memory_, Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                                   values.data(), values.size()));
  }

  const MemoryBoundProbe<Execution>& operator*() const { return *probe_; }
  std::size_t written() const { return written_; }
  std::size_t other() const { return other_; }
  const std::vector<double>& touched() const { return touched_; }
  bool found() const {
    return noted.memory != nullptr && other_ >= written_ + elements_ && other_ + elements_ <= touched_.size();
  }

 private:
  std::size_t elements_;
  std::unique_ptr<MemoryBoundProbe<Execution>> probe_;
  Memory memory_;
  std::vector<double> touched_;
  std::size_t written_ = 0;
  std::size_t other_ = 0;
};

}  // namespace

TEMPLATE_TEST_CASE("a pass subtracts the first array from the second, once for every element and nowhere else", "",
                   HostExecution, CompanionExecution) {
  for (const std::int64_t elements : {std::int64_t{1}, std::int64_t{511}, std::int64_t{512},
                                      (std::int64_t{1} << 15) - 1, (std::int64_t{1} << 15) + 1, std::int64_t{200001}}) {
    CAPTURE(elements);
    ProbeWithView<TestType> probe(elements);
    REQUIRE(probe.found());
    std::vector<double> expected = probe.read();
    const auto count = static_cast<std::size_t>(elements);
    // The rest of the allocation, which may hold Kokkos' own header before the arrays, keeps what it has.
    for (std::size_t i = 0; i < count; ++i) {
      expected[probe.written() + i] = static_cast<double>(i % 1000);
      expected[probe.other() + i] = static_cast<double>(3 * i);
    }
    for (std::size_t i = probe.written() + count; i < probe.other(); ++i) expected[i] = -7.0;
    probe.write(expected);
    (*probe).run();
    for (std::size_t i = 0; i < count; ++i) {
      expected[probe.written() + i] = expected[probe.other() + i] - expected[probe.written() + i];
    }
    CHECK(std::memcmp(probe.read().data(), expected.data(), expected.size() * sizeof(double)) == 0);
    (*probe).run();
    for (std::size_t i = 0; i < count; ++i) expected[probe.written() + i] = static_cast<double>(i % 1000);
    CHECK(std::memcmp(probe.read().data(), expected.data(), expected.size() * sizeof(double)) == 0);
  }
}

TEMPLATE_TEST_CASE("every element of both arrays is touched before the first pass", "", HostExecution,
                   CompanionExecution) {
  for (const std::size_t elements : {1, 32768, 100001}) {
    const ProbeWithView<TestType> probe(static_cast<std::int64_t>(elements));
    REQUIRE(probe.found());
    std::size_t untouched = 0;
    for (std::size_t i = 0; i < elements; ++i) {
      const bool touched = probe.touched()[probe.written() + i] == 0.5 && probe.touched()[probe.other() + i] == 1.0;
      untouched += touched ? 0 : 1;
    }
    CHECK(untouched == 0);
  }
}

TEMPLATE_TEST_CASE("elements at the same index lie half a page apart, not at the same place of two pages", "",
                   HostExecution, CompanionExecution) {
  for (const std::int64_t elements : {1, 512, 513, 100000}) {
    const ProbeWithView<TestType> probe(elements);
    REQUIRE(probe.found());
    CHECK((probe.other() - probe.written()) * sizeof(double) % 4096 == 2048);
  }
}

TEMPLATE_TEST_CASE("a pass moves two reads and one write per element", "", HostExecution, CompanionExecution) {
  using Probe = MemoryBoundProbe<TestType>;
  CHECK(Probe::bytes_per_element == 24.0);
  const Probe probe(tests::unit_space<TestType>(), 1000);
  CHECK(probe.bytes() == 24000.0);
}

}  // namespace steelyard::test_memory_bound
