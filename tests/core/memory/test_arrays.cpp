#include <complex>

#include "core/device/back_end.hpp"
#include "core/memory/host_copy.hpp"
#include "core/memory/matrix.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/spaces.hpp"
#include "tests/catch.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/unit_matrix.hpp"

namespace steelyard::test_arrays {

using namespace steelyard::tests;

namespace {

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

/// The last array that was made.
template <class Execution, class Element>
void expect_elements(Element* data, int elements) {
  if (elements == 0) return;
  CHECK(address(data) >= noted.begin);
  CHECK(address(data + elements) <= noted.end);
  const Execution space;
  Kokkos::parallel_for("number", Kokkos::RangePolicy<Execution>(space, 0, elements), Number<Element>{data});
  std::vector<Element> found(static_cast<std::size_t>(elements)), expected(found.size());
  copy_to_host(space, found.data(), static_cast<const Element*>(data), found.size());
  space.fence();
  for (int i = 0; i < elements; ++i) Number<Element>{expected.data()}(i);
  CHECK((found == expected));
}

constexpr int sizes[] = {0, 1, 1000, (1 << 17) - 1, 1 << 17, 1 << 18, (1 << 19) + 1};

}  // namespace

TEMPLATE_TEST_CASE("all elements are for use, in the memory of that label, pinned ones by the host", "", HostExecution,
                   CompanionExecution) {
  using Memory = typename TestType::memory_space;
  for (const int elements : sizes) {
    CAPTURE(elements);
    const auto count = static_cast<std::size_t>(elements);
    const Noting noting;
    const UntouchedArray<double, Memory> array(TestType(), label, count);
    expect_elements<TestType>(array.data(), elements);
    const UntouchedArray<float, Memory> without_queue(label, count);
    expect_elements<TestType>(without_queue.data(), elements);
    const UntouchedArray<double, PinnedMemory> pinned(label, count);
    expect_elements<HostExecution>(pinned.data(), elements);
  }
}

TEST_CASE("host arrays from half a huge page on begin with one, and all of their last one is theirs") {
  for (const int elements : sizes) {
    CAPTURE(elements);
    const Noting noting;
    const UntouchedArray<double, Kokkos::HostSpace> array(label, static_cast<std::size_t>(elements));
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
  CHECK(HostArray<TestType>().row_count() == 0);
  for (const std::int64_t rows : {0, 1, 7, 20}) {
    for (const std::int64_t columns : {0, 1, 6, 33}) {
      const HostArray<TestType> original(rows, columns), array = original;
      CHECK(array.row_count() == rows);
      const auto all = original.elements(0, rows);
      REQUIRE(all.size() == static_cast<std::size_t>(rows * columns));
      for (std::int64_t first = 0; first <= rows; ++first) {
        for (const std::int64_t count : {std::int64_t{0}, (rows - first) / 2, rows - first}) {
          const auto part = array.elements(first, count);
          REQUIRE(part.size() == static_cast<std::size_t>(count * columns));
          CHECK(part.data() == all.data() + first * columns);
          const auto matrix = array.rows(first, count);
          REQUIRE(static_cast<std::int64_t>(matrix.extent(0)) == count);
          REQUIRE(static_cast<std::int64_t>(matrix.extent(1)) == columns);
          for (std::int64_t i = 0; i < count; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
              REQUIRE(&matrix(i, j) == &all[static_cast<std::size_t>((first + i) * columns + j)]);
            }
          }
        }
      }
    }
  }
}

namespace {

using Random = std::mt19937_64;

std::int64_t any_of(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

}  // namespace

TEST_CASE("a block shares its elements and its leading dimension with its matrix, and so do blocks of it") {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t rows = any_of(random, 0, 9), columns = any_of(random, 0, 9);
    const std::int64_t leading = columns + any_of(random, 0, 3);
    std::vector<double> data(static_cast<std::size_t>(rows * leading) + 1);
    auto block = matrix_at<HostExecution>(data.data(), rows, columns, leading);
    std::int64_t row = 0, column = 0;
    for (int depth = 0; depth < 3; ++depth) {
      const auto block_rows = static_cast<std::int64_t>(block.extent(0));
      const auto block_columns = static_cast<std::int64_t>(block.extent(1));
      CAPTURE(rows, columns, leading, row, block_rows, column, block_columns);
      // Nothing has no leading dimension in Kokkos 5.
      if (block.size() == 0) break;
      CHECK(static_cast<std::int64_t>(block.stride(0)) == leading);
      for (std::int64_t i = 0; i < block_rows; ++i) {
        for (std::int64_t j = 0; j < block_columns; ++j) {
          REQUIRE(&block(i, j) == data.data() + (row + i) * leading + column + j);
        }
      }
      const std::int64_t first_row = any_of(random, 0, block_rows), first_column = any_of(random, 0, block_columns);
      const std::int64_t part_rows = any_of(random, 0, block_rows - first_row);
      const std::int64_t part_columns = any_of(random, 0, block_columns - first_column);
      block = matrix_block(block, first_row, part_rows, first_column, part_columns);
      REQUIRE(static_cast<std::int64_t>(block.extent(0)) == part_rows);
      REQUIRE(static_cast<std::int64_t>(block.extent(1)) == part_columns);
      row += first_row;
      column += first_column;
    }
  }
}

namespace {

/// To a unit, within it and back, between matrices with any room between their rows.
template <class Execution, class Scalar>
void check_copies(Random& random, std::int64_t rows, std::int64_t columns) {
  using Unit = UnitMatrix<Execution, Scalar>;
  const auto space = Execution();
  const auto made = [&] { return Unit(rows, columns, columns + std::max<std::int64_t>(0, any_of(random, -4, 9))); };
  const Unit sent = made(), first = made(), second = made(), found = made();
  const auto number = [&](std::int64_t i, std::int64_t j) { return static_cast<Scalar>(i * columns + j + 1); };
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) sent.at(i, j) = number(i, j);
  }
  first.send();
  second.send();
  copy_matrix_from_host<Execution, Scalar>(space, first.view(), sent.host());
  copy_matrix_within<Execution, Scalar>(space, second.view(), first.view());
  copy_matrix_to_host<Execution, Scalar>(space, found.host(), second.view());
  space.fence();
  first.fetch();
  second.fetch();
  int wrong = 0;
  for (const Unit* matrix : {&sent, &first, &second, &found}) {
    wrong += matrix->untouched_between_rows() ? 0 : 1;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) wrong += matrix->at(i, j) == number(i, j) ? 0 : 1;
    }
  }
  CAPTURE(rows, columns, sent.leading(), first.leading(), second.leading(), found.leading());
  CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("a copied matrix is the other one, to a unit, from it and within it, and nothing around changes", "",
                   HostExecution, CompanionExecution) {
  Random random(1);
  for (int trial = 0; trial < 600; ++trial) {
    // Some have long rows or many.
    const std::int64_t rows = any_of(random, 0, trial % 50 == 0 ? 1000 : 20);
    const std::int64_t columns = any_of(random, 0, trial % 75 == 0 ? 1000 : 20);
    check_copies<TestType, double>(random, rows, columns);
    check_copies<TestType, float>(random, rows, columns);
  }
  // Matrices without elements may have no memory.
  const TestType space;
  const Matrix<TestType, double> own;
  const Matrix<HostExecution, double> host;
  CHECK_NOTHROW(copy_matrix_from_host<TestType, double>(space, own, host));
  CHECK_NOTHROW(copy_matrix_to_host<TestType, double>(space, host, own));
  CHECK_NOTHROW(copy_matrix_within<TestType, double>(space, own, own));
  space.fence();
}

namespace {

template <class Element>
void check_pitches() {
  constexpr auto line = static_cast<std::int64_t>(64 / sizeof(Element));
  for (std::int64_t length = 0; length < 5000; ++length) {
    const std::int64_t pitch = padded_pitch<Element>(length);
    REQUIRE(pitch >= length);
    REQUIRE(pitch < length + 2 * line);
    REQUIRE(pitch % line == 0);
    if (length >= 8 * line) REQUIRE(pitch / line % 2 == 1);
  }
}

}  // namespace

TEST_CASE("padded rows are whole cache lines, of long rows an odd number, and never two lines longer") {
  check_pitches<std::complex<double>>();
  check_pitches<std::complex<float>>();
  check_pitches<double>();
  check_pitches<std::byte>();
}

}  // namespace steelyard::test_arrays
