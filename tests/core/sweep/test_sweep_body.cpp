#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include "core/sweep/host_row.hpp"
#include "core/sweep/sweep_body.hpp"

namespace steelyard::test_sweep_body {

namespace {

constexpr std::int64_t row = 3, pitch = 160;

/// Rows of a field with both components, or one.
template <int Components>
struct Rows {
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(8 * pitch * Components), 1.0);

  RowAccess<Components> access() { return {values.data(), pitch, {0, 8}, pitch}; }
};

/// Where the rows begin that a body of one component reads for the first time in a row.
template <int Component, class Read>
std::vector<const double*> rows_read(const Read& field) {
  std::vector<const double*> rows;
  detail::each_row_read<Component>(field, row, [&](const double* place) { rows.push_back(place); });
  return rows;
}

using Places = std::vector<const double*>;

/// A matrix that reads a field of its own.
struct Matrix {
  RowAccess<2> own;

  std::tuple<RowAccess<2>> fields() const { return {own}; }
};
/// One that has coefficients only.
struct Coefficients {
  std::tuple<> fields() const { return {}; }
};

}  // namespace

TEST_CASE("a body reads its own component's row of a field, and comes to the next row first where it reads around") {
  Rows<1> one;
  Rows<2> two;
  const auto p = one.access();
  const auto u = two.access();
  CHECK(rows_read<0>(p) == Places{&p(row, 0)});
  CHECK(rows_read<1>(p).empty());
  CHECK(rows_read<0>(u) == Places{&u(0, row, 0)});
  CHECK(rows_read<1>(u) == Places{&u(1, row, 0)});
  CHECK(rows_read<0>(around_cells(p)) == Places{&p(row + 1, 0)});
  CHECK(rows_read<0>(around_cells(u)) == Places{&u(0, row + 1, 0)});
  CHECK(rows_read<1>(around_cells(u)) == Places{&u(1, row + 1, 0)});
}

TEST_CASE("all that an operator reads of its own is asked for with the first component") {
  Rows<2> field;
  const auto own = field.access();
  CHECK(rows_read<0>(Matrix{own}) == Places{&own(0, row + 1, 0), &own(1, row + 1, 0)});
  CHECK(rows_read<1>(Matrix{own}).empty());
  CHECK(rows_read<0>(Coefficients{}).empty());
}

TEST_CASE("sweeps compute the same whatever their bodies say that they read, at any place") {
  for (std::int64_t columns = 1; columns <= 140; ++columns) {
    Rows<2> plain, other;
    const auto sums_of = [&](Rows<2>& rows, const auto& reads) {
      const auto u = rows.access();
      const auto update = [=](int c, std::int64_t j, Column i) { u(c, j, i) = static_cast<double>(j + 2 * i + c); };
      const auto body = [=](int c, std::int64_t j, Column i) {
        return Terms<2>{{u(c, j, i), u(c, j, i) * u(c, j + 1, i)}};
      };
      std::array<double, 4> sums = {};
      detail::host_row(reads(each_component<2>(update)), row, columns);
      detail::host_row_terms_behind<2>(reads(each_component<2>(update)), reads(each_component<2>(body)), row, columns,
                                       sums.data());
      detail::host_row_terms<2>(reads(each_component<2>(body)), row, columns, sums.data() + 2);
      return sums;
    };
    double value = 0.0;
    const RowAccess<2> elsewhere(&value, pitch, {}, 0);
    const auto expected = sums_of(plain, [](const auto& body) { return body; });
    const auto sums = sums_of(other, [&](const auto& body) {
      return reading(fields(elsewhere, around_cells(other.access()), Matrix{elsewhere}), body);
    });
    CAPTURE(columns);
    CHECK(sums == expected);
    CHECK(other.values == plain.values);
  }
}

namespace {

constexpr std::int64_t most_columns = 140;

/// A whole number, for sums to be exact.
double number(int c, std::int64_t j, std::int64_t i) { return static_cast<double>((1 + 1000 * c) * (3 * j + i)); }

/// Fields of zeros that begin so many elements behind a cache line.
template <int Components>
struct Field {
  explicit Field(std::size_t offset) : values(5 * pitch * Components + 16, 0.0) {
    std::size_t first = 0;
    while (!begins_cache_line(values.data() + first)) ++first;
    access = {values.data() + first + offset, pitch, {0, 5}, pitch};
  }

  std::vector<double> values;
  RowAccess<Components> access;
};

/// All components of a row get their numbers, nothing else is written, and the sums are those of the numbers.
template <int Components, class Sweep>
void check(const Sweep& sweep) {
  for (std::int64_t columns = 1; columns <= most_columns; ++columns) {
    for (const bool past_caches : {false, true}) {
      for (const std::size_t offset : {0, 3}) {
        Field<Components> field(offset), expected(offset);
        std::array<double, 2> sums = {}, expected_sums = {};
        for (int c = 0; c < Components; ++c) {
          for (std::int64_t i = 0; i < columns; ++i) {
            expected.access(c, row, i) = number(c, row, i);
            expected_sums[0] += number(c, row, i);
            expected_sums[1] += 1.0;
          }
        }
        const auto body = [](int c, std::int64_t j, Column i) {
          return ValueAndTerms<2>{number(c, j, i), {{number(c, j, i), 1.0}}};
        };
        sweep(each_component<Components>(Storing<Components, decltype(body)>{field.access, past_caches, body}), columns,
              sums);
        CAPTURE(columns, past_caches, offset);
        CHECK(sums == expected_sums);
        const double* const written = field.access.place(0, 0, 0);
        CHECK(std::equal(written, written + 5 * pitch * Components, expected.access.place(0, 0, 0)));
      }
    }
  }
}

/// Checks a sweep for both numbers of components.
template <class Sweep>
void check_both(const Sweep& sweep) {
  check<1>(sweep);
  check<2>(sweep);
}

}  // namespace

TEST_CASE("a sweep over a row stores values, past the caches or not, and adds up their terms") {
  check_both([](const auto& body, std::int64_t columns, std::array<double, 2>& sums) {
    detail::host_row_terms<2>(body, row, columns, sums.data());
  });
}

TEST_CASE("so does one behind updates, and one that says what it reads") {
  check_both([](const auto& body, std::int64_t columns, std::array<double, 2>& sums) {
    double value = 0.0;
    const RowAccess<2> elsewhere(&value, pitch, {}, 0);
    constexpr int components = components_of<std::decay_t<decltype(body)>>;
    const auto nothing = each_component<components>([](int, std::int64_t, Column) {});
    detail::host_row_terms_behind<2>(nothing, reading(fields(elsewhere), body), row, columns, sums.data());
  });
}

TEST_CASE("cell by cell a body stores the same values and returns the same terms") {
  check_both([](const auto& body, std::int64_t columns, std::array<double, 2>& sums) {
    Terms<2> all;
    for (std::int64_t i = 0; i < columns; ++i) all += body(row, i);
    sums = {all.of[0], all.of[1]};
  });
}

}  // namespace steelyard::test_sweep_body
