#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "miniapps/cavity/host_row.hpp"
#include "miniapps/cavity/reading.hpp"
#include "miniapps/cavity/storing.hpp"

namespace steelyard::test_storing {

using namespace steelyard::cavity;

namespace {

constexpr std::int64_t row = 2, pitch = 152, most_columns = 140;

/// A whole number, for sums to be exact.
double number(int c, std::int64_t j, std::int64_t i) { return static_cast<double>((1 + 1000 * c) * (3 * j + i)); }

/// Fields of zeros that begin so many elements behind a cache line.
template <int Components>
struct Field {
  explicit Field(std::size_t offset) : values(4 * pitch * Components + 16, 0.0) {
    std::size_t first = 0;
    while (!steelyard::begins_cache_line(values.data() + first)) ++first;
    access = {values.data() + first + offset, pitch};
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
        CHECK(std::equal(field.access.origin, field.access.origin + 4 * pitch * Components, expected.access.origin));
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
    const RowAccess<2> elsewhere{&value, pitch};
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

}  // namespace steelyard::test_storing
