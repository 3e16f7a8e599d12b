#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

#include "core/memory/matrix_copy.hpp"
#include "core/memory/untouched_array.hpp"
#include "tests/core/unit_space.hpp"

namespace steelyard::test_matrix_copy {

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
}

template <class Scalar>
void check_row_copies(const Place& host, const Place& own) {
  const auto space = tests::unit_space<CompanionExecution>();
  const Arrays<CompanionExecution, Scalar> sent(host, own);
  copy_rows_to_device(space, detail::row_copy(sent.own(), sent.host()));
  space.fence();
  sent.check_only_own_changed();

  const Arrays<CompanionExecution, Scalar> fetched(host, own);
  copy_rows_to_host(space, detail::row_copy(fetched.host(), fetched.own()));
  space.fence();
  fetched.check_only_host_changed();
}

}  // namespace

TEMPLATE_TEST_CASE("a copied matrix is the other one, and nothing around either changes", "", HostExecution,
                   CompanionExecution) {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t rows = any_of(random, 0, 20), columns = any_of(random, 0, 20);
    const Place host = random_place(random, rows, columns), own = random_place(random, rows, columns);
    check_copies<TestType, double>(host, own);
    check_copies<TestType, float>(host, own);
  }
}

TEMPLATE_TEST_CASE("matrices of a row, of a column, without gaps and of many elements are copied as others are", "",
                   HostExecution, CompanionExecution) {
  for (const Place& host : {Place{1, 1000, 1000, 0}, Place{1, 1000, 1003, 1}, Place{1000, 1, 1, 0},
                            Place{1000, 1, 7, 2}, Place{300, 311, 311, 0}, Place{300, 311, 320, 5}}) {
    for (const std::int64_t room : {0, 1, 9}) {
      const Place own{host.rows, host.columns, host.columns + room, room};
      check_copies<TestType, double>(host, own);
      check_copies<TestType, float>(host, own);
    }
  }
}

TEMPLATE_TEST_CASE("a matrix is copied within a unit's memory, and nothing around the copy changes", "", HostExecution,
                   CompanionExecution) {
  const auto space = tests::unit_space<TestType>();
  Random random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t rows = any_of(random, 0, 12), columns = any_of(random, 0, 12);
    const Place host = random_place(random, rows, columns), own = random_place(random, rows, columns);
    const Arrays<TestType, double> arrays(host, own);
    // By way of an array of the unit's own that lies as the host's does.
    const Kokkos::View<double*, DeviceOf<TestType>> other(Kokkos::view_alloc(space, "other"), host.elements());
    const auto there = matrix_at<TestType>(other.data() + host.first, rows, columns, host.leading);
    copy_matrix_from_host<TestType, double>(space, there, arrays.host());
    copy_matrix_within<TestType, double>(space, arrays.own(), there);
    space.fence();
    arrays.check_only_own_changed();
  }
}

TEST_CASE("rows that a queue of the companion copies arrive, and nothing around them changes") {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t rows = any_of(random, 1, 12), columns = any_of(random, 1, 12);
    const Place host = random_place(random, rows, columns), own = random_place(random, rows, columns);
    check_row_copies<double>(host, own);
    check_row_copies<float>(host, own);
  }
}

TEMPLATE_TEST_CASE("a matrix comes back from a unit as it went there, block by block", "", HostExecution,
                   CompanionExecution) {
  constexpr std::int64_t rows = 23, columns = 31, height = 5, width = 7;
  const auto space = tests::unit_space<TestType>();
  const Place host{rows, columns, columns + 2, 0}, own{rows, columns, columns + 4, 0};
  const Arrays<TestType, double> arrays(host, own), back(host, own);
  for (std::int64_t i = 0; i < rows; i += height) {
    for (std::int64_t j = 0; j < columns; j += width) {
      const std::int64_t high = std::min(height, rows - i), wide = std::min(width, columns - j);
      const Matrix<TestType, double> block = matrix_block(arrays.own(), i, high, j, wide);
      copy_matrix_from_host<TestType, double>(space, block, matrix_block(arrays.host(), i, high, j, wide));
      copy_matrix_to_host<TestType, double>(space, matrix_block(back.host(), i, high, j, wide), block);
    }
  }
  space.fence();
  arrays.check_only_own_changed();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) wrong += back.host()(i, j) == arrays.host()(i, j) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("matrices without elements may have no memory", "", HostExecution, CompanionExecution) {
  const auto space = tests::unit_space<TestType>();
  const Matrix<TestType, double> own;
  const Matrix<HostExecution, double> host;
  CHECK_NOTHROW(copy_matrix_from_host<TestType, double>(space, own, host));
  CHECK_NOTHROW(copy_matrix_to_host<TestType, double>(space, host, own));
  CHECK_NOTHROW(copy_matrix_within<TestType, double>(space, own, own));
  space.fence();
}

}  // namespace steelyard::test_matrix_copy
