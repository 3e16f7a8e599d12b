#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <map>
#include <numeric>

#include "core/base/errors.hpp"
#include "partition/exact.hpp"
#include "partition/geometric.hpp"
#include "partition/hpopta.hpp"
#include "partition/proportional.hpp"
#include "tests/partition/random_tables.hpp"

namespace steelyard::test_exact {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;
using tests::Random;
using tests::uniform;
using tests::whole;

namespace {

/// Sums to the total, uses listed sizes only, and predicts what the tables say.
void require_split(const ExactResult& result, std::int64_t total, TimeTables tables) {
  const auto& units = result.distribution.units;
  REQUIRE(units.size() == tables.size());
  REQUIRE(std::accumulate(units.begin(), units.end(), std::int64_t{0}) == total);
  for (std::size_t i = 0; i < units.size(); ++i) {
    REQUIRE(units[i] >= 0);
    REQUIRE(result.distribution.predicted_s[i] == tables[i].time_s(units[i]));
    REQUIRE(std::isfinite(result.distribution.predicted_s[i]));
  }
  REQUIRE(result.makespan_s == result.distribution.makespan_s());
  REQUIRE(result.total_time_excess_s >= 0.0);
  REQUIRE((!result.total_time_is_least || result.total_time_excess_s == 0.0));
}

}  // namespace

TEST_CASE("exact, hpopta and brute force agree on the least makespan, or that there is no split") {
  Random random(1);
  int splits = 0;
  for (int trial = 0; trial < 10000; ++trial) {
    const int most = whole(random, 1, 9);
    const auto tables = tests::random_tables(random, whole(random, 1, 4), most, uniform(random, 0.2, 1.2));
    const std::int64_t total = whole(random, 0, most * static_cast<int>(tables.size()));
    const double least = tests::least_makespan_s(total, tables);
    INFO("trial " << trial << ", total " << total << " over " << tables.size());
    if (std::isinf(least)) {
      REQUIRE_THROWS_AS(exact(total, tables), InvalidArgument);
      REQUIRE_THROWS_AS(hpopta(total, tables), InvalidArgument);
      continue;
    }
    ++splits;
    const ExactResult result = exact(total, tables);
    require_split(result, total, tables);
    REQUIRE(result.makespan_s == least);
    const HpoptaResult published = hpopta(total, tables);
    REQUIRE(published.distribution.makespan_s() == least);
    REQUIRE(published.solutions.back().time_s == least);
  }
  CHECK(splits > 5000);
  CHECK(splits < 9500);
}

TEST_CASE("exact and hpopta agree on larger tables") {
  Random random(2);
  for (int trial = 0; trial < 1000; ++trial) {
    const int count = whole(random, 2, 4);
    const int most = whole(random, 20, count == 4 ? 40 : 80);
    const auto tables = tests::random_tables(random, count, most, uniform(random, 0.5, 1.2));
    const std::int64_t total = whole(random, 1, most * count / 2);
    INFO("trial " << trial << ", total " << total << " over " << count);
    bool possible = true;
    double makespan_s = 0.0;
    try {
      const ExactResult result = exact(total, tables);
      require_split(result, total, tables);
      makespan_s = result.makespan_s;
    } catch (const InvalidArgument&) {
      possible = false;
    }
    if (possible) {
      REQUIRE(hpopta(total, tables).distribution.makespan_s() == makespan_s);
    } else {
      REQUIRE_THROWS_AS(hpopta(total, tables), InvalidArgument);
    }
  }
}

TEST_CASE("of the fastest splits exact takes the one of least total time, then the lexicographically greatest") {
  Random random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    const int most = whole(random, 2, 10);
    const int count = whole(random, 1, 4);
    std::vector<TimeTable> tables(static_cast<std::size_t>(count));
    // Whole seconds up to few, so that sums are exact and tie.
    for (TimeTable& table : tables) {
      const int longest = whole(random, 1, 12);
      for (int units = 1; units <= most; ++units) {
        if (whole(random, 0, 4) > 0) {
          table.entries.push_back({units, static_cast<double>(whole(random, 0, longest))});
        }
      }
    }
    const std::int64_t total = whole(random, 0, most * count / 2);
    double least_s = std::numeric_limits<double>::infinity();
    double least_sum_s = least_s;
    std::vector<std::int64_t> best;
    tests::for_each_split(total, tables, [&](const std::vector<std::int64_t>& units, double makespan_s) {
      double sum_s = 0.0;
      for (std::size_t i = 0; i < units.size(); ++i) sum_s += tables[i].time_s(units[i]);
      if (std::tie(makespan_s, sum_s, best) < std::tie(least_s, least_sum_s, units)) {
        std::tie(least_s, least_sum_s, best) = std::tie(makespan_s, sum_s, units);
      }
    });
    if (best.empty()) continue;
    const ExactResult result = exact(total, tables);
    INFO("trial " << trial << ", total " << total << " over " << count);
    REQUIRE(result.total_time_is_least);
    REQUIRE(result.total_time_s == least_sum_s);
    REQUIRE(result.distribution.units == best);
  }
}

TEST_CASE("exact's total time is the least, or within the bound that it reports") {
  Random random(4);
  int bounded = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const int most = whole(random, 2, 10);
    const auto tables = tests::random_tables(random, whole(random, 1, 4), most);
    const std::int64_t total = whole(random, 0, most);
    const double least_s = tests::least_makespan_s(total, tables);
    if (std::isinf(least_s)) continue;
    double least_sum_s = std::numeric_limits<double>::infinity();
    tests::for_each_split(total, tables, [&](const std::vector<std::int64_t>& units, double makespan_s) {
      if (makespan_s > least_s) return;
      double sum_s = 0.0;
      for (std::size_t i = 0; i < units.size(); ++i) sum_s += tables[i].time_s(units[i]);
      least_sum_s = std::min(least_sum_s, sum_s);
    });
    const ExactResult proven = exact(total, tables);
    REQUIRE(proven.total_time_is_least);
    REQUIRE(proven.total_time_s <= least_sum_s * (1.0 + 1e-10) + 1e-10 * least_s);
    const ExactResult hurried = exact(total, tables, {1, 0});
    REQUIRE(hurried.makespan_s == least_s);
    REQUIRE(hurried.total_time_s - hurried.total_time_excess_s <= least_sum_s * (1.0 + 1e-10) + 1e-10 * least_s);
    bounded += hurried.total_time_is_least ? 0 : 1;
  }
  CHECK(bounded > 10);
}

TEST_CASE("an exact split is never slower than an even one that the tables allow, nor than a geometric one") {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    tests::Units units;
    for (int i = whole(random, 1, 12); i > 0; --i) {
      units.add(random_model(random, static_cast<tests::Kind>(whole(random, 0, 2)), 300.0));
    }
    const int total = whole(random, 0, 300);
    const double makespan_s = exact(total, units.models).makespan_s();
    REQUIRE(makespan_s <= even(total, units.models).makespan_s());
    REQUIRE(makespan_s <= geometric(total, units.models).makespan_s());
  }
}

TEST_CASE("an exact split does not depend on the clock's unit, on what was asked before or on sizes beyond the total") {
  Random random(6);
  for (int trial = 0; trial < 300; ++trial) {
    auto tables = tests::random_tables(random, whole(random, 1, 8), whole(random, 5, 60));
    std::int64_t total = 0;
    for (const TimeTable& table : tables)
      total += table.entries.empty() ? 0 : table.entries[table.entries.size() / 2].units;
    const auto units = exact(total, tables).distribution.units;
    REQUIRE(exact(total, tables).distribution.units == units);
    for (TimeTable& table : tables) {
      for (auto& entry : table.entries) entry.time_s *= 1024.0;
    }
    REQUIRE(exact(total, tables).distribution.units == units);
  }
}

TEST_CASE("with a granularity all slices are multiples of it and none other would be faster") {
  Random random(7);
  for (int trial = 0; trial < 500; ++trial) {
    const int granularity = whole(random, 1, 4);
    auto tables = tests::random_tables(random, whole(random, 1, 3), 12);
    const std::int64_t total = std::int64_t{granularity} * whole(random, 0, 36 / granularity);
    const auto ask = [&] { return exact(total, tables, {granularity, 1'000'000}); };
    auto coarse = tables;
    for (TimeTable& table : coarse) {
      std::erase_if(table.entries, [&](const auto& entry) { return entry.units % granularity != 0; });
    }
    const double least_s = tests::least_makespan_s(total, coarse);
    if (std::isinf(least_s)) {
      REQUIRE_THROWS_AS(ask(), InvalidArgument);
      continue;
    }
    const ExactResult result = ask();
    require_split(result, total, tables);
    REQUIRE(result.makespan_s == least_s);
    for (const std::int64_t units : result.distribution.units) REQUIRE(units % granularity == 0);
  }
}

TEST_CASE("a granularity that does not divide the total is refused") {
  const std::vector<TimeTable> tables{{{{1, 1.0}, {4, 2.0}, {8, 3.0}}}};
  CHECK(exact(8, tables, {4, 1}).distribution.units == std::vector<std::int64_t>{8});
  CHECK_THROWS_MATCHES(exact(6, tables, {4, 1}), InvalidArgument,
                       MessageMatches(ContainsSubstring("granularity 4") && ContainsSubstring(" 6 ")));
  CHECK_THROWS_AS(exact(8, tables, {0, 1}), InvalidArgument);
}

TEST_CASE("a total that no sum of sizes reaches is refused with its value") {
  const std::vector<TimeTable> even_sizes{{{{2, 1.0}, {4, 2.0}, {6, 3.0}}}, {{{2, 1.0}, {8, 3.0}}}};
  CHECK_THROWS_MATCHES(exact(7, even_sizes), InvalidArgument, MessageMatches(ContainsSubstring("is 7")));
  CHECK_THROWS_MATCHES(hpopta(7, even_sizes), InvalidArgument, MessageMatches(ContainsSubstring("is 7")));
  CHECK(exact(14, even_sizes).distribution.units == std::vector<std::int64_t>{6, 8});
}

TEST_CASE("a single odd size among many even ones is found where the total is odd") {
  // Every bound and divisor but the right one calls this impossible, or possible too early.
  Random random(8);
  std::vector<TimeTable> tables(40);
  for (TimeTable& table : tables) {
    for (int units = 2; units <= 400; units += 2) {
      if (whole(random, 0, 1) == 0) table.entries.push_back({units, uniform(random, 1.0, 2.0)});
    }
  }
  tables[17].entries = {{2, 1.0}, {333, 50.0}};
  const ExactResult odd = exact(4001, tables);
  require_split(odd, 4001, tables);
  CHECK(odd.distribution.units[17] == 333);
  CHECK(odd.makespan_s == 50.0);
  CHECK(exact(4000, tables).makespan_s < 2.0);
}

TEST_CASE("a thousand units with a thousand sizes each are split within seconds") {
  Random random(9);
  std::vector<TimeTable> tables(1000);
  for (TimeTable& table : tables) {
    const double pace_s = uniform(random, 0.5, 2.0);
    for (int units = 1; units <= 1000; ++units) {
      table.entries.push_back({units, units * pace_s * uniform(random, 0.5, 1.5)});
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  const ExactResult result = exact(500000, tables);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  require_split(result, 500000, tables);
  CHECK(result.total_time_is_least);
  CHECK(elapsed.count() < 20.0);  // 2 s are asked of an idle machine's optimised build; see steelyard-exact-speed
}

}  // namespace steelyard::test_exact
