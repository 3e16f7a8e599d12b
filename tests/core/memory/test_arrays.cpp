#include "core/device/back_end.hpp"
#include "core/memory/matrix.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
#include "tests/catch.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_arrays {

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

/// The last array that was made.
template <class Execution, class Element>
void expect_elements(Element* data, int elements) {
  if (elements > 0) {
    CHECK(address(data) >= noted.begin);
    CHECK(address(data + elements) <= noted.end);
  }
  const Execution space;
  const Kokkos::RangePolicy<Execution> all(space, 0, elements);
  Kokkos::parallel_for("number", all, Number<Element>{data});
  int wrong = 0;
  Kokkos::parallel_reduce("differ", all, Differ<Element>{data}, wrong);
  CHECK(wrong == 0);
}

constexpr int sizes[] = {0, 1, 1000, (1 << 17) - 1, 1 << 17, 1 << 18, (1 << 19) + 1};

}  // namespace

TEMPLATE_TEST_CASE("all elements are for use, in the memory of that label, pinned ones by the host", "", HostExecution,
                   CompanionExecution) {
  for (const int elements : sizes) {
    CAPTURE(elements);
    const auto count = static_cast<std::size_t>(elements);
    const Noting noting;
    const UntouchedArray<double, MemoryOf<TestType>> array(tests::unit_space<TestType>(), label, count);
    expect_elements<TestType>(array.data(), elements);
    const UntouchedArray<float, MemoryOf<TestType>> without_queue(label, count);
    expect_elements<TestType>(without_queue.data(), elements);
    const UntouchedArray<double, PinnedMemory> pinned(label, count);
    expect_elements<HostExecution>(pinned.data(), elements);
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

TEMPLATE_TEST_CASE("rows of an array, as a matrix and as elements, are the same elements, without gaps", "", double,
                   float) {
  for (const std::int64_t rows : {0, 1, 7, 20}) {
    for (const std::int64_t columns : {0, 1, 6, 33}) {
      const HostArray<TestType> original(rows, columns);
      HostArray<TestType> array;
      CHECK(array.row_count() == 0);
      array = original;
      CHECK(array.elements(0, rows).data() == original.elements(0, rows).data());
      CHECK(array.row_count() == rows);
      const auto all = array.elements(0, rows);
      REQUIRE(all.size() == static_cast<std::size_t>(rows * columns));
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<TestType>(i);
      for (std::int64_t first = 0; first <= rows; ++first) {
        for (const std::int64_t count : {std::int64_t{0}, (rows - first) / 2, rows - first}) {
          const auto matrix = array.rows(first, count);
          REQUIRE(static_cast<std::int64_t>(matrix.extent(0)) == count);
          REQUIRE(static_cast<std::int64_t>(matrix.extent(1)) == columns);
          REQUIRE(array.elements(first, count).size() == static_cast<std::size_t>(count * columns));
          for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
              REQUIRE(&matrix(i, j) == &all[static_cast<std::size_t>((first + i) * columns + j)]);
              REQUIRE(matrix(i, j) == static_cast<TestType>((first + i) * columns + j));
            }
          }
        }
      }
    }
  }
}

}  // namespace steelyard::test_arrays
