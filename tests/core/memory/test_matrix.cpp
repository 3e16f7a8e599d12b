#include <complex>

#include "core/memory/host_copy.hpp"
#include "core/memory/matrix.hpp"
#include "core/memory/untouched_array.hpp"
#include "tests/catch.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_matrix {

TEST_CASE("whole matrices and their blocks convert to matrices") {
  const Kokkos::View<float**, Kokkos::LayoutRight, DeviceOf<HostExecution>> whole("whole", 6, 5);
  const ConstMatrix<HostExecution, float> all = whole;
  CHECK(all.stride(0) == 5);
  CHECK(all.data() == whole.data());
  const Matrix<HostExecution, float> block = Kokkos::subview(whole, Kokkos::make_pair(2, 5), Kokkos::make_pair(1, 3));
  CHECK(block.extent(0) == 3);
  CHECK(block.extent(1) == 2);
  CHECK(block.stride(0) == 5);
  CHECK(block.data() == &whole(2, 1));
}

TEST_CASE("a block shares its elements and its leading dimension with its matrix, and so do blocks of it") {
  std::mt19937_64 random(1);
  const auto up_to = [&random](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t rows = up_to(9), columns = up_to(9), leading = columns + up_to(3);
    std::vector<double> data(static_cast<std::size_t>(rows * leading) + 1);
    const auto matrix = matrix_at<HostExecution>(data.data(), rows, columns, leading);
    CHECK(matrix_block(matrix, 0, rows, 0, columns) == matrix);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) REQUIRE(&matrix(i, j) == data.data() + leading * i + j);
    }

    const std::int64_t first_row = up_to(rows), first_column = up_to(columns);
    const std::int64_t block_rows = up_to(rows - first_row), block_columns = up_to(columns - first_column);
    const auto block = matrix_block(matrix, first_row, block_rows, first_column, block_columns);
    CAPTURE(rows, columns, leading, first_row, block_rows, first_column, block_columns);
    REQUIRE(static_cast<std::int64_t>(block.extent(0)) == block_rows);
    REQUIRE(static_cast<std::int64_t>(block.extent(1)) == block_columns);
    // Nothing has no leading dimension in Kokkos 5.
    if (block.size() == 0) continue;
    CHECK(static_cast<std::int64_t>(block.stride(0)) == leading);
    for (std::int64_t i = 0; i < block_rows; ++i) {
      for (std::int64_t j = 0; j < block_columns; ++j) {
        CHECK(&block(i, j) == &matrix(first_row + i, first_column + j));
      }
    }

    const std::int64_t inner_row = up_to(block_rows), inner_column = up_to(block_columns);
    const std::int64_t inner_rows = up_to(block_rows - inner_row), inner_columns = up_to(block_columns - inner_column);
    if (inner_rows == 0 || inner_columns == 0) continue;
    CHECK(matrix_block(block, inner_row, inner_rows, inner_column, inner_columns) ==
          matrix_block(matrix, first_row + inner_row, inner_rows, first_column + inner_column, inner_columns));
  }
}

namespace {

using Random = std::mt19937_64;

std::int64_t any_of(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// A block of a larger array: `first` elements before it, `leading` from row to row.
struct Place {
  std::int64_t rows, columns, leading, first;

  std::size_t elements() const { return static_cast<std::size_t>(first + rows * leading + 2); }
  bool holds(std::size_t element) const {
    const std::int64_t behind = static_cast<std::int64_t>(element) - first;
    return behind >= 0 && leading > 0 && behind / leading < rows && behind % leading < columns;
  }
};

Place random_place(Random& random, std::int64_t rows, std::int64_t columns) {
  const bool has_room = any_of(random, 0, 2) > 0;
  return {rows, columns, columns + (has_room ? any_of(random, 1, 9) : 0), any_of(random, 0, 5)};
}

/// An array in pinned host memory and one in a unit's own, whose elements all differ.
template <class Execution, class Scalar>
class Arrays {
 public:
  Arrays(const Place& host, const Place& own)
      : host_place_(host),
        own_place_(own),
        pinned_("host", host.elements()),
        host_(pinned_.data(), host.elements()),
        own_(Kokkos::view_alloc(tests::unit_space<Execution>(), "own"), own.elements()),
        own_on_host_(Kokkos::create_mirror_view(own_)) {
    for (std::size_t i = 0; i < host_.size(); ++i) host_(i) = host_value(i);
    for (std::size_t i = 0; i < own_on_host_.size(); ++i) own_on_host_(i) = own_value(i);
    Kokkos::deep_copy(own_, own_on_host_);
    Kokkos::fence();
  }

  Matrix<HostExecution, Scalar> host() const {
    return matrix_at<HostExecution>(host_.data() + host_place_.first, host_place_.rows, host_place_.columns,
                                    host_place_.leading);
  }
  Matrix<Execution, Scalar> own() const {
    return matrix_at<Execution>(own_.data() + own_place_.first, own_place_.rows, own_place_.columns,
                                own_place_.leading);
  }
  void check_only_own_changed() const {
    Kokkos::deep_copy(own_on_host_, own_);
    check(host_, host_place_, own_on_host_, own_place_, host_value, own_value);
  }
  void check_only_host_changed() const {
    Kokkos::deep_copy(own_on_host_, own_);
    check(own_on_host_, own_place_, host_, host_place_, own_value, host_value);
  }

 private:
  static Scalar host_value(std::size_t i) { return static_cast<Scalar>(i + 1); }
  static Scalar own_value(std::size_t i) { return -static_cast<Scalar>(i + 1); }

  /// `from` is as it was, and so is `to` but for the matrix in it, which is that of `from`.
  template <class From, class To, class Value>
  static void check(const From& from, const Place& from_place, const To& to, const Place& to_place,
                    const Value& from_value, const Value& to_value) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < from.size(); ++i) wrong += from(i) == from_value(i) ? 0 : 1;
    for (std::size_t i = 0; i < to.size(); ++i) wrong += to_place.holds(i) || to(i) == to_value(i) ? 0 : 1;
    for (std::int64_t i = 0; i < from_place.rows; ++i) {
      for (std::int64_t j = 0; j < from_place.columns; ++j) {
        const auto source = static_cast<std::size_t>(from_place.first + i * from_place.leading + j);
        const auto target = static_cast<std::size_t>(to_place.first + i * to_place.leading + j);
        wrong += to(target) == from_value(source) ? 0 : 1;
      }
    }
    CAPTURE(from_place.rows, from_place.columns, from_place.leading, to_place.leading);
    CHECK(wrong == 0);
  }

  Place host_place_, own_place_;
  UntouchedArray<Scalar, PinnedMemory> pinned_;
  Kokkos::View<Scalar*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host_;
  using Own = Kokkos::View<Scalar*, DeviceOf<Execution>>;
  Own own_;
  decltype(Kokkos::create_mirror_view(std::declval<Own>())) own_on_host_;
};

template <class Execution, class Scalar>
void check_copies(const Place& host, const Place& own) {
  const auto space = tests::unit_space<Execution>();
  const Arrays<Execution, Scalar> sent(host, own);
  copy_matrix_from_host<Execution, Scalar>(space, sent.own(), sent.host());
  space.fence();
  sent.check_only_own_changed();

  const Arrays<Execution, Scalar> fetched(host, own);
  copy_matrix_to_host<Execution, Scalar>(space, fetched.host(), fetched.own());
  space.fence();
  fetched.check_only_host_changed();

  // By way of an array of the unit's own that lies as the host's does.
  const Arrays<Execution, Scalar> arrays(host, own);
  const Kokkos::View<Scalar*, DeviceOf<Execution>> other(Kokkos::view_alloc(space, "other"), host.elements());
  const auto there = matrix_at<Execution>(other.data() + host.first, host.rows, host.columns, host.leading);
  copy_matrix_from_host<Execution, Scalar>(space, there, arrays.host());
  copy_matrix_within<Execution, Scalar>(space, arrays.own(), there);
  space.fence();
  arrays.check_only_own_changed();
}

}  // namespace

TEMPLATE_TEST_CASE("a copied matrix is the other one, to a unit, from it and within it, and nothing around changes", "",
                   HostExecution, CompanionExecution) {
  Random random(1);
  std::vector<Place> places = {{1, 1000, 1000, 0}, {1, 1000, 1003, 1}, {1000, 1, 1, 0},
                               {1000, 1, 7, 2},    {300, 311, 311, 0}, {300, 311, 320, 5}};
  for (int trial = 0; trial < 300; ++trial) {
    places.push_back(random_place(random, any_of(random, 0, 20), any_of(random, 0, 20)));
  }
  for (const Place& host : places) {
    for (const Place& own :
         {random_place(random, host.rows, host.columns), Place{host.rows, host.columns, host.columns, 0}}) {
      check_copies<TestType, double>(host, own);
      check_copies<TestType, float>(host, own);
    }
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

}  // namespace steelyard::test_matrix
