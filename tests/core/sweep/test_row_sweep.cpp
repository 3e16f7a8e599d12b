#include <initializer_list>
#include <numeric>

#include "core/sweep/row_field.hpp"
#include "core/sweep/row_sweep.hpp"
#include "core/sweep/sweep_body.hpp"
#include "tests/catch.hpp"
#include "tests/core/sweep/unit_values.hpp"
#if defined(STEELYARD_EMULATED_DEVICE)
#include "tests/device/emulated/facts.hpp"
#include "tests/device/emulated/queue.hpp"
#endif

namespace steelyard::test_row_sweep {

using namespace steelyard::tests;

namespace {

/// Sums of a unit's rows, of three terms: in one sweep, and row by row from the last to the first.
template <class Execution>
std::array<std::array<double, 3>, 2> sums_of(const Execution& space, RowRange rows, std::int64_t columns) {
  const CellSums<Execution> sums(space, rows);
  const auto body = KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
    const double value = cell_value(0, j, i);
    return Terms<3>{{value, value * value, 1.0}};
  };
  const auto total = [&] {
    const Sums<3> of_rows = sums.template total<3>(space, columns);
    return std::array{of_rows[0].value(), of_rows[1].value(), of_rows[2].value()};
  };
  sums.template sweep<3>(space, "at once", {rows, {}}, columns, body);
  const auto at_once = total();
  for (std::int64_t j = rows.end; j-- > rows.begin;) {
    sums.template sweep<3>(space, "by rows", {{j, j + 1}, {}}, columns, body);
  }
  return {at_once, total()};
}

}  // namespace

TEST_CASE("sums over cells are the same bits at once and row by row, on hosts and devices, for all widths") {
  for (std::int64_t columns = 1; columns <= 40; ++columns) {
    const RowRange rows{3, 3 + columns % 5 + 1};
    double sum = 0.0, squares = 0.0;
    for (std::int64_t j = rows.begin; j < rows.end; ++j) {
      for (std::int64_t i = 0; i < columns; ++i) {
        const double value = cell_value(0, j, i);
        sum += value;
        squares += value * value;
      }
    }
    const auto on_host = sums_of(HostExecution(), rows, columns);
    CAPTURE(columns);
    CHECK(on_host[0] == on_host[1]);
    CHECK(on_host == sums_of(CompanionExecution(), rows, columns));
    CHECK(std::abs(on_host[0][0] - sum) <= 1e-12 * std::sqrt(squares));
    CHECK_THAT(on_host[0][1], WithinRel(squares, 1e-13));
    CHECK(on_host[0][2] == static_cast<double>(rows.count() * columns));
  }
}

TEST_CASE("chunks of rows follow one another, of two rows at least where there is more than one") {
  for (std::int64_t count = 0; count <= 20; ++count) {
    for (int threads = 1; threads <= 8; ++threads) {
      const detail::RowChunks chunks({5, 5 + count}, threads);
      CAPTURE(count, threads);
      REQUIRE((chunks.count >= 1 && chunks.count <= threads));
      CHECK((chunks[0].begin == 5 && chunks[chunks.count - 1].end == 5 + count));
      for (std::int64_t chunk = 0; chunk < chunks.count; ++chunk) {
        if (chunk > 0) CHECK(chunks[chunk].begin == chunks[chunk - 1].end);
        if (chunks.count > 1) CHECK(chunks[chunk].count() >= 2);
      }
    }
  }
}

namespace {

/// The largest magnitude of a value and of its double, in all cells but one, where it is `odd`.
template <class Execution>
std::array<double, 2> maxima_with(const Execution& space, RowRange rows, std::int64_t columns, std::int64_t odd_j,
                                  std::int64_t odd_i, double odd) {
  return CellSums<Execution>(space, rows)
      .template maxima<2>(
          space, "maxima", columns, KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
            const double value = j == odd_j && i == odd_i ? odd : std::fabs(cell_value(0, j, i));
            return Terms<2>{{value, 2.0 * cell_value(0, j, i) * cell_value(0, j, i)}};
          });
}

}  // namespace

TEST_CASE("the largest terms are found in whatever cell they are, and what is not a number counts as infinite") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (std::int64_t columns : {1, 7, 8, 9, 16, 21}) {
    const RowRange rows{2, 4};
    double largest = 0.0, largest_square = 0.0;
    for (std::int64_t j = rows.begin; j < rows.end; ++j) {
      for (std::int64_t i = 0; i < columns; ++i) {
        largest = std::max(largest, std::fabs(cell_value(0, j, i)));
        largest_square = std::max(largest_square, 2.0 * cell_value(0, j, i) * cell_value(0, j, i));
      }
    }
    const double larger = 2.0 * largest + 1.0;
    int wrong = 0;
    on_both_units([&](const auto& space) {
      const auto expect = [&](std::int64_t odd_j, std::int64_t odd_i, double odd, double expected) {
        wrong += maxima_with(space, rows, columns, odd_j, odd_i, odd) == std::array{expected, largest_square} ? 0 : 1;
      };
      expect(-1, -1, 0.0, largest);
      for (std::int64_t j = rows.begin; j < rows.end; ++j) {
        for (std::int64_t i = 0; i < columns; ++i) {
          expect(j, i, larger, larger);
          expect(j, i, std::nan(""), infinity);
        }
      }
      wrong += maxima_with(space, RowRange{2, 2}, columns, -1, -1, 0.0) == std::array{0.0, 0.0} ? 0 : 1;
      wrong += maxima_with(space, rows, 0, -1, -1, 0.0) == std::array{0.0, 0.0} ? 0 : 1;
    });
    CAPTURE(columns);
    CHECK(wrong == 0);
  }
}

namespace {

/// A whole number, for sums to be exact.
KOKKOS_INLINE_FUNCTION double number(const int c, const std::int64_t j, const std::int64_t i) {
  return static_cast<double>((1 + 1000 * c) * (3 * j + i + 1));
}

/// What the memory of a field has where `value(c, j, i)` stands in the cells of some of its rows, and 0 elsewhere.
template <int Components, class Value>
std::vector<double> memory_with(RowRange held, RowRange rows, std::int64_t columns, const Value& value) {
  using Field = RowField<HostExecution, Components>;
  const std::int64_t pitch = Field::pitch_of(columns), first = held.begin - Field::ghost_rows;
  std::vector<double> memory(static_cast<std::size_t>((held.count() + 2 * Field::ghost_rows) * Components * pitch));
  for (std::int64_t j = rows.begin; j < rows.end; ++j) {
    for (int c = 0; c < Components; ++c) {
      for (std::int64_t i = 0; i < columns; ++i) {
        memory[static_cast<std::size_t>(((j - first) * Components + c) * pitch + 8 + i)] = value(c, j, i);
      }
    }
  }
  return memory;
}

/// How bodies are handed over and called: after updates in one sweep or behind them, saying what they read or not.
struct Way {
  bool at_once, reads;
};

/// Sweeps that update a field and sum up around each cell.
template <int Components, class Execution>
void check_updates(const Execution& space, RowRange rows, std::int64_t columns, Way way) {
  const RowField<Execution, Components> values(space, rows, columns), counts(space, rows, columns);
  const auto u = values.access(), count = counts.access();
  // A cell of an inner column may be counted as one.
  const auto update = each_component<Components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) {
    u(c, j, i) += number(c, j, i);
    count(c, j, i) += i.is_inner() && (i == 0 || i == columns - 1) ? 100.0 : 1.0;
  });
  const auto body = each_component<Components>(KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) {
    count(c, j, i) += i.is_inner() && (i == 0 || i == columns - 1) ? 1000.0 : 10.0;
    return Terms<4>{{u(c, j - 1, i), u(c, j + 1, i), u(c, j, i - 1) + u(c, j, i + 1), 1.0}};
  });
  const CellSums<Execution> sums(space, rows);
  for (const RowRange& beside : {RowRange{rows.begin - 1, rows.begin}, RowRange{rows.end, rows.end + 1}}) {
    if (!rows.empty()) for_cells(space, "update", beside, columns, update);
  }
  const auto sweep = [&](const auto& first, const auto& second) {
    if (way.at_once) {
      sums.template sweep_after<4>(space, "update", first, "sum up", rows, columns, second);
    } else {
      for_cells(space, "update", rows, columns, first);
      sums.template sweep<4>(space, "sum up", {rows, {}}, columns, second);
    }
  };
  if (way.reads) {
    sweep(reading(fields(around_cells(u)), update), reading(fields(u, around_cells(count)), body));
  } else {
    sweep(update, body);
  }
  std::array<double, 4> expected = {}, found = {};
  for (std::int64_t j = rows.begin; j < rows.end; ++j) {
    for (int c = 0; c < Components; ++c) {
      for (std::int64_t i = 0; i < columns; ++i) {
        expected[0] += number(c, j - 1, i);
        expected[1] += number(c, j + 1, i);
        expected[2] += (i > 0 ? number(c, j, i - 1) : 0.0) + (i + 1 < columns ? number(c, j, i + 1) : 0.0);
        expected[3] += 1.0;
      }
    }
  }
  const Sums<4> total = sums.template total<4>(space, columns);
  for (std::size_t k = 0; k < 4; ++k) found[k] = total[k].value();
  CHECK(found == expected);
  const RowRange updated = rows.empty() ? rows : RowRange{rows.begin - 1, rows.end + 1};
  CHECK(memory_of(space, values) == memory_with<Components>(rows, updated, columns, number));
  CHECK(memory_of(space, counts) ==
        memory_with<Components>(rows, updated, columns, [&](int, std::int64_t j, std::int64_t) {
          return j >= rows.begin && j < rows.end ? 11.0 : 1.0;
        }));
}

/// Sweeps whose bodies return values to be stored.
template <int Components, class Execution>
void check_stored(const Execution& space, RowRange rows, std::int64_t columns, Way way, bool past_caches) {
  const RowField<Execution, Components> values(space, rows, columns);
  const auto value = KOKKOS_LAMBDA(const int c, const std::int64_t j, const Column i) {
    return ValueAndTerms<2>{number(c, j, i), {{number(c, j, i), 1.0}}};
  };
  const auto storing_body =
      each_component<Components>(Storing<Components, decltype(value)>{values.access(), past_caches, value});
  const auto nothing = each_component<Components>(KOKKOS_LAMBDA(const int, const std::int64_t, const Column){});
  const CellSums<Execution> sums(space, rows);
  const auto sweep = [&](const auto& body) {
    if (way.at_once) {
      sums.template sweep_after<2>(space, "nothing", nothing, "store", rows, columns, body);
    } else {
      sums.template sweep<2>(space, "store", {rows, {}}, columns, body);
    }
  };
  if (way.reads) {
    sweep(reading(fields(values.access()), storing_body));
  } else {
    sweep(storing_body);
  }
  const std::vector<double> expected = memory_with<Components>(rows, rows, columns, number);
  CHECK(memory_of(space, values) == expected);
  const Sums<2> total = sums.template total<2>(space, columns);
  CHECK(total[0].value() == std::accumulate(expected.begin(), expected.end(), 0.0));
  CHECK(total[1].value() == static_cast<double>(Components * rows.count() * columns));
}

}  // namespace

TEST_CASE("sweeps come to each cell once, write nothing else, and sum up what stands in and around cells") {
  for (std::int64_t columns = 0; columns <= 140; ++columns) {
    const RowRange rows{3, 3 + columns % 6};
    for (const bool at_once : {false, true}) {
      for (const bool reads : {false, true}) {
        const Way way{at_once, reads};
        CAPTURE(columns, at_once, reads);
        on_both_units([&](const auto& space) {
          check_updates<1>(space, rows, columns, way);
          check_updates<2>(space, rows, columns, way);
          for (const bool past_caches : {false, true}) {
            check_stored<1>(space, rows, columns, way, past_caches);
            check_stored<2>(space, rows, columns, way, past_caches);
          }
        });
      }
    }
  }
}

TEST_CASE("rows of a field begin on a cache line, hold a ghost column on both sides and are not a page apart") {
  for (std::int64_t columns = 1; columns < 3000; ++columns) {
    const std::int64_t pitch = RowField<HostExecution>::pitch_of(columns);
    CHECK((pitch % 8 == 0 && pitch % 512 != 0 && pitch >= columns + 9));
  }
}

TEST_CASE("a factor of 0 leaves nothing of any number") {
  for (const double x : {3.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CHECK(scaled_or_zero(0.0, x) == 0.0);
  }
  CHECK(scaled_or_zero(-2.0, 3.0) == -6.0);
}

TEST_CASE("a table has its values in the unit's memory, and copies of the first and the last one as padding") {
  const std::vector<std::int32_t> values{7, -3, 5};
  for (const std::size_t padding : {0, 1, 4}) {
    std::vector<std::int32_t> expected(padding, 7);
    expected.insert(expected.end(), values.begin(), values.end());
    expected.resize(expected.size() + padding, 5);
    on_both_units([&]<class Execution>(const Execution& space) {
      const UnitTable<Execution, std::int32_t> table(space, values, padding);
      std::vector<std::int32_t> found(expected.size());
      copy_to_host(space, found.data(), &table.data()[-static_cast<std::int64_t>(padding)], found.size());
      space.fence();
      CHECK(found == expected);
    });
  }
}

#if defined(STEELYARD_EMULATED_DEVICE)

namespace {

/// How often sums ask the device for launches of this label, launches of any and copies to the host.
template <class Reduce>
std::array<int, 3> asked_by(const Reduce& reduce) {
  emulated::recorded_operations();
  reduce();
  std::array<int, 3> asked{};
  for (const emulated::Order& order : emulated::recorded_operations()) {
    if (order.kind != emulated::Order::Kind::work) continue;
    asked[0] += order.label == "sums" ? 1 : 0;
    asked[1] += order.label != emulated::copy_to_host && order.label != emulated::copy_to_device ? 1 : 0;
    asked[2] += order.label == emulated::copy_to_host ? 1 : 0;
  }
  return asked;
}

}  // namespace

TEST_CASE("a device sums up in one launch and one copy, and rows in two pieces in a launch of their own") {
  const std::int64_t columns = 20;
  for (const std::int64_t count : {1, 8, 100}) {
    const CompanionExecution space;
    const RowRange rows{3, 3 + count};
    const CellSums<CompanionExecution> sums(space, rows);
    const RowField<CompanionExecution> field(space, rows, columns);
    const auto access = field.access();
    const auto body = KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
      return Terms<2>{{access(j, i), 1.0}};
    };
    const auto sum_up = [&](std::initializer_list<RowPieces> sweeps) {
      for (const RowPieces& pieces : sweeps) sums.sweep<2>(space, "sums", pieces, columns, body);
      CHECK(sums.total<2>(space, columns)[1].value() == static_cast<double>(count * columns));
    };
    CAPTURE(count);
    const auto at_once = asked_by([&] { sum_up({{rows, {}}}); });
    CHECK(at_once == std::array{1, 1, 1});
    const RowPieces ends{{3, 4}, {std::max<std::int64_t>(4, 2 + count), 3 + count}};
    const auto after_halo = asked_by([&] { sum_up({{{ends.first.end, ends.second.begin}, {}}, ends}); });
    CHECK((after_halo[0] <= 2 && after_halo[1] <= 2 && after_halo[2] == 1));
  }
}

#endif

}  // namespace steelyard::test_row_sweep
