#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <tuple>
#include <vector>

#include "miniapps/cavity/host_row.hpp"
#include "miniapps/cavity/momentum_operator.hpp"
#include "miniapps/cavity/pressure_operator.hpp"
#include "miniapps/cavity/reading.hpp"

namespace steelyard::test_reading {

using namespace steelyard::cavity;

namespace {

constexpr std::int64_t row = 3, pitch = 160;

/// Rows of a field with both components, or one.
template <int Components>
struct Rows {
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(8 * pitch * Components), 1.0);

  RowAccess<Components> access() { return {values.data(), pitch}; }
};

/// Where the rows begin that a body of one component reads for the first time in a row.
template <int Component, class Field>
std::vector<const double*> rows_read(const Field& field) {
  std::vector<const double*> rows;
  detail::each_row_read<Component>(field, row, [&](const double* place) { rows.push_back(place); });
  return rows;
}

using Places = std::vector<const double*>;

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
  Rows<2> velocity;
  MomentumOperator momentum;
  momentum.convecting = velocity.access();
  const auto w = momentum.convecting;
  CHECK(rows_read<0>(momentum) == Places{&w(0, row + 1, 0), &w(1, row + 1, 0)});
  CHECK(rows_read<1>(momentum).empty());
  CHECK(rows_read<0>(PressureOperator{}).empty());
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
    const RowAccess<2> elsewhere{&value, pitch};
    MomentumOperator momentum;
    momentum.convecting = elsewhere;
    const auto expected = sums_of(plain, [](const auto& body) { return body; });
    const auto sums = sums_of(other, [&](const auto& body) {
      return reading(fields(elsewhere, around_cells(other.access()), momentum), body);
    });
    CAPTURE(columns);
    CHECK(sums == expected);
    CHECK(other.values == plain.values);
  }
}

}  // namespace steelyard::test_reading
