#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/device/back_end.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_untouched_array {

namespace {

using HostMemory = Kokkos::HostSpace;
template <class Execution>
using MemoryOf = typename Execution::memory_space;

constexpr const char* label = "steelyard::tests::untouched";

/// Kokkos may put a header first, which it does not count.
constexpr std::size_t header_bytes = 128;

/// Where Kokkos has allocated the last array of that label.
struct Allocation {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};
Allocation noted;

/// Notes where the arrays that are made meanwhile lie.
class Noting {
 public:
  Noting() {
    noted = {};
    Kokkos::Tools::Experimental::set_allocate_data_callback(
        [](auto, const char* name, const void* memory, std::uint64_t bytes) {
          if (std::string(name) != label) return;
          const auto begin = reinterpret_cast<std::uintptr_t>(memory);
          noted = {begin, begin + bytes + header_bytes};
        });
  }
  ~Noting() { Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr); }
  Noting(const Noting&) = delete;
  Noting& operator=(const Noting&) = delete;
};

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

template <class Element>
struct Number {
  Element* data;
  KOKKOS_FUNCTION void operator()(const int i) const { data[i] = static_cast<Element>(i % 1000); }
};

template <class Element>
struct Differ {
  const Element* data;
  KOKKOS_FUNCTION void operator()(const int i, int& wrong) const {
    wrong += data[i] == static_cast<Element>(i % 1000) ? 0 : 1;
  }
};

template <class Execution, class Element>
void expect_elements(Element* data, int elements) {
  const Execution space;
  const Kokkos::RangePolicy<Execution> all(space, 0, elements);
  Kokkos::parallel_for("number", all, Number<Element>{data});
  int wrong = 0;
  Kokkos::parallel_reduce("differ", all, Differ<Element>{data}, wrong);
  CHECK(wrong == 0);
}

constexpr int sizes[] = {1, 1000, (1 << 17) - 1, 1 << 17, 1 << 18, (1 << 19) + 1};

}  // namespace

TEMPLATE_TEST_CASE("a unit can use all elements, which lie in the memory of that label", "", HostExecution,
                   CompanionExecution) {
  for (const int elements : sizes) {
    CAPTURE(elements);
    const Noting noting;
    const UntouchedArray<double, MemoryOf<TestType>> array(tests::unit_space<TestType>(), label,
                                                           static_cast<std::size_t>(elements));
    CHECK(address(array.data()) >= noted.begin);
    CHECK(address(array.data() + elements) <= noted.end);
    expect_elements<TestType>(array.data(), elements);
    const UntouchedArray<float, MemoryOf<TestType>> without_queue(label, static_cast<std::size_t>(elements));
    CHECK(address(without_queue.data()) >= noted.begin);
    CHECK(address(without_queue.data() + elements) <= noted.end);
    expect_elements<TestType>(without_queue.data(), elements);
  }
}

TEST_CASE("pinned arrays are the host's to use, also where there is no device to pin them for") {
  for (const int elements : sizes) {
    CAPTURE(elements);
    const Noting noting;
    const UntouchedArray<double, PinnedMemory> array(label, static_cast<std::size_t>(elements));
    CHECK(address(array.data()) >= noted.begin);
    CHECK(address(array.data() + elements) <= noted.end);
    expect_elements<HostExecution>(array.data(), elements);
  }
}

TEST_CASE("host arrays from half a huge page on begin with one, and all of their last one is theirs") {
  for (const int elements : sizes) {
    CAPTURE(elements);
    const Noting noting;
    const UntouchedArray<double, HostMemory> array(label, static_cast<std::size_t>(elements));
    const std::size_t bytes = static_cast<std::size_t>(elements) * sizeof(double);
    const std::size_t allocated = noted.end - noted.begin;
    if (bytes < huge_page_bytes / 2) {
      CHECK(allocated < bytes + 1024);
      continue;
    }
    CHECK(address(array.data()) % huge_page_bytes == 0);
    const std::size_t pages = (bytes + huge_page_bytes - 1) / huge_page_bytes;
    CHECK(address(array.data()) + pages * huge_page_bytes <= noted.end);
    CHECK(allocated < bytes + 2 * huge_page_bytes + 1024);
  }
}

TEST_CASE("copies of an array are the same memory, and an array may lack elements") {
  const UntouchedArray<int, HostMemory> array(label, 3);
  UntouchedArray<int, HostMemory> copy;
  CHECK(copy.data() == nullptr);
  copy = array;
  CHECK(copy.data() == array.data());
  const UntouchedArray<int, HostMemory> none(label, 0);
  expect_elements<HostExecution>(none.data(), 0);
}

}  // namespace steelyard::test_untouched_array
