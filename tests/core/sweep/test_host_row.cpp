#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <vector>

#include "core/sweep/host_row.hpp"

namespace steelyard::test_host_row {

namespace {

/// What a sweep says of a row's columns: how often it comes to each of them, and whether that was an inner one.
struct Visits {
  std::vector<int> times;
  std::vector<char> inner;

  explicit Visits(std::int64_t columns)
      : times(static_cast<std::size_t>(columns), 0), inner(static_cast<std::size_t>(columns), 0) {}
  void add(Column i) {
    ++times[static_cast<std::size_t>(i)];
    inner[static_cast<std::size_t>(i)] = i.is_inner() ? 1 : 0;
  }
};

/// Each column once, and neither the first nor the last as an inner one.
void check(const Visits& visits, std::int64_t columns) {
  CAPTURE(columns);
  CHECK(visits.times == std::vector<int>(static_cast<std::size_t>(columns), 1));
  CHECK_FALSE(visits.inner.front());
  CHECK_FALSE(visits.inner.back());
}

/// More than half of the columns of a long row are known to be inner ones.
bool mostly_inner(const Visits& visits) {
  std::int64_t inner = 0;
  for (const char is_inner : visits.inner) inner += is_inner;
  return 2 * inner > static_cast<std::int64_t>(visits.inner.size());
}

constexpr std::int64_t most_columns = 140, row = 5;

/// Component c of column i of a row: sums of these are exact.
double number(int c, std::int64_t j, std::int64_t i) { return static_cast<double>((1 + 1000 * c) * (3 * j + i)); }

}  // namespace

TEST_CASE("a loop over columns comes to each of them once, and to none where there are none") {
  std::array<int, 20> counts{};
  for (const std::int64_t columns : {0, 17})
    for_columns(columns, [&](std::int64_t i) { ++counts[static_cast<std::size_t>(i)]; });
  for (std::size_t i = 0; i < counts.size(); ++i) CHECK(counts[i] == (i < 17 ? 1 : 0));
}

TEST_CASE("a sweep over a row comes to each column once, and knows the inner ones") {
  for (std::int64_t columns = 1; columns <= most_columns; ++columns) {
    Visits visits(columns);
    detail::host_row([&](std::int64_t, Column i) { visits.add(i); }, row, columns);
    check(visits, columns);
    if (columns == most_columns) CHECK(mostly_inner(visits));
  }
}

TEST_CASE("a row's sums are those of its columns, and of both components") {
  for (std::int64_t columns = 1; columns <= most_columns; ++columns) {
    std::array<Visits, 2> visits{Visits(columns), Visits(columns)};
    const auto body = each_component<2>([&](int c, std::int64_t j, Column i) {
      visits[static_cast<std::size_t>(c)].add(i);
      return Terms<2>{{number(c, j, i), 1.0}};
    });
    std::array<double, 2> sums = {}, expected = {};
    detail::host_row_terms<2>(body, row, columns, sums.data());
    for (std::int64_t i = 0; i < columns; ++i) {
      expected[0] += number(0, row, i) + number(1, row, i);
      expected[1] += 2.0;
    }
    check(visits[0], columns);
    check(visits[1], columns);
    CHECK(sums == expected);
  }
}

TEST_CASE("sums a row behind updates see them in their own component, up to a column ahead") {
  for (std::int64_t columns = 1; columns <= most_columns; ++columns) {
    std::array<Visits, 2> updates{Visits(columns), Visits(columns)}, visits = updates;
    // Rows j and j + 1, with a column of zeros at the end.
    std::vector<double> values(static_cast<std::size_t>(4 * (columns + 1)), 0.0);
    const auto at = [&](int c, std::int64_t j, std::int64_t i) -> double& {
      return values[static_cast<std::size_t>(((j - row) * 2 + c) * (columns + 1) + i)];
    };
    const auto update = each_component<2>([&](int c, std::int64_t j, Column i) {
      updates[static_cast<std::size_t>(c)].add(i);
      at(c, j, i) = number(c, j, i);
    });
    const auto body = each_component<2>([&](int c, std::int64_t j, Column i) {
      visits[static_cast<std::size_t>(c)].add(i);
      return Terms<2>{{at(c, j + 1, i), at(c, j + 1, i + 1)}};
    });
    std::array<double, 2> sums = {}, expected = {};
    detail::host_row_terms_behind<2>(update, body, row, columns, sums.data());
    for (int c = 0; c < 2; ++c) {
      for (std::int64_t i = 0; i < columns; ++i) {
        expected[0] += number(c, row + 1, i);
        if (i > 0) expected[1] += number(c, row + 1, i);
      }
      check(updates[static_cast<std::size_t>(c)], columns);
      check(visits[static_cast<std::size_t>(c)], columns);
    }
    CHECK(sums == expected);
    if (columns == most_columns) CHECK(mostly_inner(visits[1]));
  }
}

}  // namespace steelyard::test_host_row
