// Algorithms on tables of times: exact, hpopta and, for identical processors, popta.
#include <functional>
#include <iterator>

#include "partition/algorithms.hpp"
#include "partition/time_table.hpp"
#include "tests/catch.hpp"
#include "tests/partition/brute_force.hpp"

namespace steelyard::test_exact {

using namespace steelyard::partition;
using namespace steelyard::tests;
using Units = std::vector<std::int64_t>;

namespace {

/// Sums to the total, uses listed sizes only, and predicts what the tables say.
void require_split(const Distribution& split, std::int64_t total, TimeTables tables) {
  REQUIRE(split.units.size() == tables.size());
  REQUIRE(sum(split.units) == total);
  for (std::size_t i = 0; i < split.units.size(); ++i) {
    REQUIRE(split.predicted_s[i] == tables[i].time_s(split.units[i]));
    REQUIRE(std::isfinite(split.predicted_s[i]));
  }
}

/// Of the splits within a makespan one of least total time, of several the greatest; by what is left from each unit on.
Units least_total(std::int64_t total, TimeTables tables, double makespan_s) {
  const auto choices = [&](std::size_t i) {
    std::vector<TimeTable::Entry> entries{{0, 0.0}};
    std::ranges::copy_if(tables[i].entries, std::back_inserter(entries),
                         [&](const auto& entry) { return entry.time_s <= makespan_s; });
    return entries;
  };
  const auto size = static_cast<std::size_t>(total) + 1;
  std::vector<std::vector<double>> least_s(tables.size() + 1, std::vector<double>(size, infinity));
  least_s.back()[0] = 0.0;
  for (std::size_t i = tables.size(); i-- > 0;) {
    for (const TimeTable::Entry& entry : choices(i)) {
      for (auto units = static_cast<std::size_t>(entry.units); units < size; ++units) {
        const double rest_s = least_s[i + 1][units - static_cast<std::size_t>(entry.units)];
        least_s[i][units] = std::min(least_s[i][units], entry.time_s + rest_s);
      }
    }
  }
  Units split;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto left_after = [&](const TimeTable::Entry& entry) {
      return static_cast<std::size_t>(total - entry.units);
    };
    const double wanted_s = least_s[i][static_cast<std::size_t>(total)];
    const auto entries = choices(i);
    const auto chosen = std::ranges::find_if(entries.rbegin(), entries.rend(), [&](const auto& entry) {
      return entry.units <= total && entry.time_s + least_s[i + 1][left_after(entry)] == wanted_s;
    });
    split.push_back(chosen->units);
    total -= chosen->units;
  }
  return split;
}

/// Takes as long as a table says, and forever for other sizes.
class TabulatedModel : public models::SpeedModel {
 public:
  explicit TabulatedModel(TimeTable table) : SpeedModel(infinity), table_(std::move(table)) {}
  std::string kind() const override { return "tabulated"; }

 private:
  double fitted_speed(double units) const override { return units / table_.time_s(static_cast<std::int64_t>(units)); }
  TimeTable table_;
};

TimeTable table(const std::vector<std::int64_t>& sizes, const std::vector<double>& times) {
  TimeTable result;
  for (std::size_t i = 0; i < sizes.size(); ++i) result.entries.push_back({sizes[i], times[i]});
  std::ranges::sort(result.entries, {}, &TimeTable::Entry::units);
  return result;
}

/// Figure 5, in its order.
std::vector<TimeTable> figure_5() {
  return {table({8, 3, 12, 9, 15, 10, 14, 1, 16, 13, 4, 2, 7, 5, 6, 11},
                {1, 2, 2, 3, 3, 4, 5, 6, 10, 11, 12, 13, 13, 14, 14, 20}),
          table({8, 9, 5, 6, 4, 3, 7, 2, 1, 11, 12, 10, 13, 16, 14, 15},
                {1, 3, 4, 4, 6, 7, 8, 10, 12, 13, 13, 16, 16, 17, 18, 20}),
          table({1, 7, 3, 4, 2, 5, 6, 9, 8, 10, 12, 15, 13, 14, 11, 16},
                {1, 1, 4, 4, 7, 8, 9, 13, 14, 14, 15, 16, 18, 18, 19, 19}),
          table({6, 2, 5, 3, 4, 1, 7, 8, 9, 11, 10, 15, 12, 14, 13, 16},
                {2, 3, 3, 4, 4, 6, 7, 9, 13, 13, 14, 15, 16, 17, 19, 20})};
}

}  // namespace

TEST_CASE("exact and hpopta find the least makespan of any tables, exact the greatest split of least total time") {
  Random random(1);
  int bounded = 0, splits = 0;
  constexpr int trials = 10000;
  for (int trial = 0; trial < trials; ++trial) {
    const bool many = trial % 40 == 0, large = trial % 10 == 1;
    const int count = many ? whole(random, 5, 25) : whole(random, 1, 4);
    const int most = many ? whole(random, 10, 30) : large ? whole(random, 20, 160 / count) : whole(random, 1, 10);
    auto tables = tests::random_tables(random, count, most, uniform(random, 0.2, 1.2));
    const bool whole_ticks = trial % 3 > 0;  // sums are exact and tie
    const int longest = whole(random, 0, 1) == 0 ? whole(random, 1, 12) : 1000;
    const double tick_s = std::ldexp(1.0, whole(random, -60, 60));
    // Mostly multiples of one number; now and then sizes that are not, which decide on residues.
    const int common = many ? whole(random, 1, 7) : 1;
    for (TimeTable& table : tables) {
      const int offset = whole(random, 0, 9) == 0 ? whole(random, 0, 5) : 0;
      for (auto& entry : table.entries) {
        entry.units = common * entry.units + offset;
        entry.time_s = tick_s * (whole_ticks ? whole(random, 0, longest) : entry.time_s);
      }
    }
    const std::int64_t total = whole(random, 0, common * most * count / (many || large ? 2 : 1));
    const double least_s = tests::least_makespan_s(total, tables);
    INFO("trial " << trial << ", total " << total << " over " << count);
    if (std::isinf(least_s)) {
      REQUIRE_THROWS_AS(exact(total, tables), InvalidArgument);
      if (!many) REQUIRE_THROWS_AS(hpopta(total, tables), InvalidArgument);
      continue;
    }
    ++splits;
    const Units best = least_total(total, tables, least_s);
    double least_sum_s = 0.0;
    for (const double time_s : predict(best, tables).predicted_s) least_sum_s += time_s;
    const double rounding_s = 1e-10 * (least_sum_s + least_s);
    const ExactResult proven = exact(total, tables);
    require_split(proven.distribution, total, tables);
    REQUIRE(proven.distribution.makespan_s() == least_s);
    REQUIRE(proven.total_time_is_least);
    REQUIRE(proven.total_time_excess_s == 0.0);
    REQUIRE(proven.total_time_s <= least_sum_s + (whole_ticks ? 0.0 : rounding_s));
    if (whole_ticks) REQUIRE(proven.distribution.units == best);
    const ExactResult hurried = exact(total, tables, whole(random, 0, 3) * (many ? 3000 : 40));
    require_split(hurried.distribution, total, tables);
    REQUIRE(hurried.distribution.makespan_s() == least_s);
    REQUIRE(hurried.total_time_s - hurried.total_time_excess_s <= least_sum_s + rounding_s);
    if (whole_ticks && hurried.total_time_is_least) REQUIRE(hurried.distribution.units == best);
    bounded += hurried.total_time_is_least ? 0 : 1;
    if (many) continue;
    const HpoptaResult published = hpopta(total, tables);
    require_split(published.distribution, total, tables);
    REQUIRE(published.distribution.makespan_s() == least_s);
  }
  CHECK(bounded > 10);
  CHECK(splits > trials / 2);
  CHECK(splits < trials - trials / 20);
}

TEST_CASE("a thousand units with a thousand sizes each are split by proof") {
  Random random(6);
  std::vector<TimeTable> tables(1000);
  for (TimeTable& table : tables) {
    const double pace_s = uniform(random, 0.5, 2.0);
    for (int units = 1; units <= 1000; ++units) {
      table.entries.push_back({units, units * pace_s * uniform(random, 0.5, 1.5)});
    }
  }
  const ExactResult result = exact(500000, tables);
  require_split(result.distribution, 500000, tables);
  CHECK(result.total_time_is_least);
}

TEST_CASE("popta finds the least makespan of identical processors with any times, or that there is none") {
  Random random(7);
  const auto compare = [&](int processors, int most_units, int trials) {
    for (int trial = 0; trial < trials; ++trial) {
      const int most = whole(random, 1, most_units);
      const double share_of_sizes = trial % 2 == 0 ? 1.0 : uniform(random, 0.1, 1.0);
      const TabulatedModel model(tests::random_table(random, most, share_of_sizes));
      const int total = whole(random, 0, most_units * processors);
      const std::vector<const models::SpeedModel*> models(static_cast<std::size_t>(processors), &model);
      const std::vector<TimeTable> tables = tabulate(models, total);
      const double least_s = tests::least_makespan_s(total, tables);
      INFO("total " << total << " over " << processors << ", trial " << trial);
      if (std::isinf(least_s)) {
        REQUIRE_THROWS_AS(popta(total, models), InvalidArgument);
        continue;
      }
      const Distribution split = popta(total, models);
      require_split(split, total, tables);
      REQUIRE(split.makespan_s() == least_s);
      REQUIRE(std::ranges::is_sorted(split.units, std::greater<>()));
    }
  };
  for (const int processors : {1, 2, 3, 4, 5, 6, 7, 11}) {
    compare(processors, 12, 400);
    compare(processors, 90, 40);
  }
  for (const int processors : {63, 64, 65}) compare(processors, 7, 40);
}

TEST_CASE("the paper's example visits the nodes of figures 8 to 12 and finds their solution") {
  const HpoptaResult result = hpopta(16, figure_5());
  CHECK(result.complete);
  CHECK(result.distribution.units == Units{8, 8, 0, 0});
  CHECK(result.distribution.makespan_s() == 1.0);
  // Level 0: 16. Level 1: 16, 8. Level 2: 16 (cut, figure 8), 8 (figure 9), 7 (figure 11), 8 (memory, figure 12).
  // Level 3: 8, 7, 1, 5 under the first 8; 7 (cut, figure 11) and 6 under 7.
  CHECK(result.nodes == 1 + 2 + 4 + 6);
}

TEST_CASE("hpopta that runs out of nodes says so and keeps the best it has found") {
  const HpoptaResult result = hpopta(16, figure_5(), 5);
  CHECK_FALSE(result.complete);
  CHECK(result.nodes == 5);
  CHECK(result.distribution.makespan_s() < 12.0);
  auto tables = figure_5();
  tables[0].entries.erase(tables[0].entries.begin() + 3);  // size 4: no load-equal distribution
  CHECK_THROWS_AS(hpopta(16, tables, 2), RuntimeFailure);
}

}  // namespace steelyard::test_exact
