#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "partition/rectangles/column.hpp"
#include "partition/rectangles/communication_aware.hpp"
#include "tests/catch.hpp"
#include "tests/partition/brute_force.hpp"
#include "tests/partition/random_areas.hpp"

namespace steelyard::test_column {

using namespace steelyard::partition;
using namespace steelyard::tests;
using Areas = std::vector<double>;
using Blocks = std::vector<std::int64_t>;

namespace {

/// Every set partition of the units with work into columns.
void for_each_arrangement(const Areas& areas, const std::function<void(const Arrangement&)>& visit) {
  Arrangement arrangement;
  const std::function<void(int)> place = [&](int unit) {
    if (unit == static_cast<int>(areas.size())) return visit(arrangement);
    if (areas[static_cast<std::size_t>(unit)] == 0.0) return place(unit + 1);
    // Not a range: the recursion adds columns and takes them away again.
    for (std::size_t column = 0; column < arrangement.size(); ++column) {
      arrangement[column].push_back(unit);
      place(unit + 1);
      arrangement[column].pop_back();
    }
    arrangement.push_back({unit});
    place(unit + 1);
    arrangement.pop_back();
  };
  place(0);
}

/// Areas divided by their sum, which need not be finite.
Areas relative_areas(Areas areas) {
  const double largest = *std::ranges::max_element(areas);
  for (double& area : areas) area /= largest;
  const double sum = std::accumulate(areas.begin(), areas.end(), 0.0);
  for (double& area : areas) area /= sum;
  return areas;
}

/// Relative area of a column; 0 for one without units.
double share(const std::vector<int>& units, const Areas& relative) {
  return std::accumulate(units.begin(), units.end(), 0.0,
                         [&](double sum, int unit) { return sum + relative[static_cast<std::size_t>(unit)]; });
}

/// Sum of half-perimeters before rounding to blocks. Source: 004, section III, figure 2.
double half_perimeters(const Areas& areas, const Arrangement& arrangement, const Extents& extents) {
  const Areas relative = relative_areas(areas);
  double sum = 0.0;
  for (const std::vector<int>& units : arrangement) {
    sum += static_cast<double>(extents.rows) +
           static_cast<double>(extents.columns) * static_cast<double>(units.size()) * share(units, relative);
  }
  return sum;
}

/// Columns from left to right, each full of its units' rectangles from top to bottom: every block has one owner.
void require_tiling(const ColumnPartition& partition) {
  std::int64_t first = 0, units = 0;
  for (const Column& column : partition.columns) {
    REQUIRE(column.first == first);
    REQUIRE(column.count >= 1);
    std::int64_t row = 0;
    for (const int unit : column.units) {
      const Rectangle& rectangle = partition.rectangles[static_cast<std::size_t>(unit)];
      REQUIRE(rectangle == Rectangle{row, first, rectangle.rows, column.count});
      REQUIRE(rectangle.rows >= 1);
      row = rectangle.end_row();
      ++units;
    }
    REQUIRE(row == partition.extents.rows);
    first += column.count;
  }
  REQUIRE(first == partition.extents.columns);
  // All others are empty.
  REQUIRE(std::ranges::count(partition.rectangles, Rectangle{}) + units ==
          static_cast<std::int64_t>(partition.rectangles.size()));
}

/// Every way to round the parts of `total` in proportion to `shares` down or up.
void for_each_rounding(std::int64_t total, const Areas& shares,
                       const std::function<void(const std::vector<std::int64_t>&)>& visit) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (std::size_t up = 0; up < std::size_t{1} << shares.size(); ++up) {
    std::vector<std::int64_t> parts;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const double quota = static_cast<double>(total) * shares[i] / sum;
      const bool is_whole = std::abs(quota - std::round(quota)) < 1e-9;
      parts.push_back(static_cast<std::int64_t>(is_whole ? std::round(quota) : std::floor(quota)));
      if ((up >> i & 1U) != 0 && !is_whole) ++parts.back();
    }
    if (std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == total) visit(parts);
  }
}

/// A wire to each unit that has work: latency, and time per block of its half-perimeter.
RectangleCost wires(std::vector<double> latency_s, double block_s = 0.0) {
  return [=](const ColumnPartition& partition) {
    std::vector<double> cost_s;
    for (const Rectangle& rectangle : partition.rectangles) {
      const double latency = rectangle.empty() ? 0.0 : latency_s[cost_s.size()];
      cost_s.push_back(latency + block_s * static_cast<double>(rectangle.half_perimeter()));
    }
    return cost_s;
  };
}

Blocks blocks_of(const ColumnPartition& partition) {
  Blocks blocks;
  for (const Rectangle& rectangle : partition.rectangles) blocks.push_back(rectangle.area());
  return blocks;
}

double total_s(const ColumnPartition& partition, Models models, const RectangleCost& cost) {
  const std::vector<double> cost_s = cost(partition);
  const Blocks blocks = blocks_of(partition);
  double longest_s = 0.0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    longest_s = std::max(longest_s, models[i]->time_s(static_cast<double>(blocks[i])) + cost_s[i]);
  }
  return longest_s;
}

/// The least total of the algorithm's areas in any number of columns.
double least_total_s(const Extents& extents, Models models, const Algorithm& algorithm, const RectangleCost& cost) {
  const Distribution blind = algorithm.distribute(extents.rows * extents.columns, models);
  const Areas areas(blind.units.begin(), blind.units.end());
  const auto working = std::count_if(areas.begin(), areas.end(), [](double area) { return area > 0.0; });
  double least_s = infinity;
  for (std::int64_t columns = 1; columns <= std::min<std::int64_t>(working, extents.columns); ++columns) {
    least_s = std::min(least_s, total_s(column(areas, extents, static_cast<int>(columns)), models, cost));
  }
  return least_s;
}

}  // namespace

TEST_CASE("no arrangement in columns has a smaller sum of half-perimeters, for any number of columns and any sets") {
  Random random(1);
  const auto compare = [&](int count, int trials) {
    for (int trial = 0; trial < trials; ++trial) {
      const Areas areas = tests::random_areas(random, count);
      const Extents extents = trial % 3 == 0 ? Extents{24, 24} : Extents{whole(random, 1, 40), whole(random, 1, 30)};
      INFO(count << " units, trial " << trial << ", " << extents.rows << " x " << extents.columns);
      std::map<std::size_t, double> least;
      for_each_arrangement(areas, [&](const Arrangement& arrangement) {
        if (arrangement.size() > static_cast<std::size_t>(extents.columns)) return;
        const double sum = half_perimeters(areas, arrangement, extents);
        const auto entry = least.emplace(arrangement.size(), sum).first;
        entry->second = std::min(entry->second, sum);
      });
      double best = infinity;
      for (const auto& [columns, sum] : least) {
        const Arrangement arrangement = best_arrangement(areas, extents, static_cast<int>(columns));
        REQUIRE(arrangement.size() == columns);
        REQUIRE_THAT(half_perimeters(areas, arrangement, extents), WithinRel(sum, 1e-12));
        best = std::min(best, sum);
      }
      const Arrangement arrangement = best_arrangement(areas, extents);
      REQUIRE(arrangement.size() <= static_cast<std::size_t>(extents.columns));
      REQUIRE_THAT(half_perimeters(areas, arrangement, extents), WithinRel(best, 1e-11));
    }
  };
  for (int count = 1; count <= 6; ++count) compare(count, 60);
  compare(7, 12);
  compare(8, 20);
}

TEST_CASE("004, figure 2: eight nodes stand in columns of width 0.5, 0.32 and 0.18 over 100 x 100 blocks") {
  // The caption lists seven speeds of eight, 0.9 together. That the speeds sum to 1 and the columns to the widths it
  // gives leaves one way to complete them: a second 0.1, in the second column.
  const Areas speeds = {0.3, 0.2, 0.12, 0.1, 0.1, 0.08, 0.05, 0.05};
  const Arrangement columns = {{0, 1}, {2, 3, 4}, {5, 6, 7}};
  const Extents square{100, 100};
  CHECK(best_arrangement(speeds, square) == columns);
  CHECK_THAT(half_perimeters(speeds, columns, square), WithinRel(550.0, 1e-12));
  const ColumnPartition partition = column(speeds, square);
  CHECK(partition.columns == std::vector<Column>{{0, 50, {0, 1}}, {50, 32, {2, 3, 4}}, {82, 18, {5, 6, 7}}});
  CHECK(partition.rectangles[0] == Rectangle{0, 0, 60, 50});
  CHECK(partition.rectangles[1] == Rectangle{60, 0, 40, 50});
  CHECK(partition.half_perimeters() == 550);
}

TEST_CASE("areas count relative to each other only, and units without work stand nowhere") {
  Random random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 30));
    const Extents extents{whole(random, 1, 40), whole(random, 8, 40)};
    const Arrangement expected = best_arrangement(areas, extents);
    for (const std::vector<int>& units : expected) {
      for (const int unit : units) REQUIRE(areas[static_cast<std::size_t>(unit)] > 0.0);
    }
    for (const double factor : {0x1p-1000, 0x1p-30, 0x1p1018}) {
      Areas scaled = areas;
      for (double& area : scaled) area *= factor;
      REQUIRE(best_arrangement(scaled, extents) == expected);
    }
  }
}

TEST_CASE("of equal sums the one of fewer columns is taken, so that few slices of a row-major field are in pieces") {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    // In one column two units of a square have half-perimeters of 1 + 2, in two 2 + 1.
    const std::int64_t side = whole(random, 2, 1000);
    const Areas two = {uniform(random, 0.1, 1.0), uniform(random, 0.1, 1.0)};
    REQUIRE(best_arrangement(two, {side, side}).size() == 1);
  }
}

TEST_CASE("every block has one owner, in any number of columns, and units stand as they are arranged") {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 25));
    const Extents extents = trial % 9 == 0 ? Extents{most_blocks_per_side, most_blocks_per_side}
                                           : tests::random_extents(random, trial % 4 == 0 ? 5 : 60);
    const int most = static_cast<int>(best_arrangement(areas, extents).size());
    INFO("trial " << trial << ": " << areas.size() << " units, " << extents.rows << " x " << extents.columns);
    for (const std::optional<int> columns : {std::optional<int>(), std::optional(whole(random, 1, most))}) {
      const ColumnPartition partition = column(areas, extents, columns);
      REQUIRE(partition.extents == extents);
      REQUIRE(partition.rectangles.size() == areas.size());
      require_tiling(partition);
      // Rounding leaves out units and columns, no more.
      Arrangement arranged = best_arrangement(areas, extents, columns);
      for (std::vector<int>& units : arranged) {
        std::erase_if(units, [&](int unit) { return partition.rectangles[static_cast<std::size_t>(unit)].empty(); });
      }
      std::erase_if(arranged, [](const std::vector<int>& units) { return units.empty(); });
      Arrangement found;
      for (const Column& each : partition.columns) found.push_back(each.units);
      REQUIRE(found == arranged);
    }
  }
  for (const Areas& areas : {Areas{5e-324, 1.0, 1e308}, Areas{5e-324, 5e-324, 1e-320}, Areas{1e308, 1e308, 1e308}}) {
    require_tiling(column(areas, {9, 9}));
  }
  require_tiling(column(tests::random_areas(random, 1000), {4096, 4096}));
}

TEST_CASE("widths and heights are rounded down or up to whole numbers such that the longest time is least") {
  Random random(6);
  for (int trial = 0; trial < 100; ++trial) {
    const Areas areas = tests::random_areas(random, whole(random, 1, 7));
    const Extents extents = tests::random_extents(random, 12);
    const Arrangement arrangement = best_arrangement(areas, extents);
    double longest = 0.0;
    const ColumnPartition partition = column(areas, extents);
    for (std::size_t i = 0; i < areas.size(); ++i) {
      if (areas[i] > 0.0) longest = std::max(longest, static_cast<double>(partition.rectangles[i].area()) / areas[i]);
    }
    Areas widths;
    for (const std::vector<int>& units : arrangement) widths.push_back(share(units, relative_areas(areas)));
    double least = infinity;
    for_each_rounding(extents.columns, widths, [&](const std::vector<std::int64_t>& columns) {
      double of_all = 0.0;
      for (std::size_t c = 0; c < arrangement.size(); ++c) {
        Areas parts;
        for (const int unit : arrangement[c]) parts.push_back(areas[static_cast<std::size_t>(unit)]);
        double of_column = infinity;
        for_each_rounding(extents.rows, parts, [&](const std::vector<std::int64_t>& rows) {
          double time = 0.0;
          for (std::size_t i = 0; i < parts.size(); ++i) {
            time = std::max(time, static_cast<double>(rows[i] * columns[c]) / parts[i]);
          }
          of_column = std::min(of_column, time);
        });
        of_all = std::max(of_all, of_column);
      }
      least = std::min(least, of_all);
    });
    REQUIRE_THAT(longest, WithinRel(least, 1e-12));
  }
}

TEST_CASE("rectangles tile the matrix, and take no longer than without a thought for communication") {
  Random random(1);
  const Algorithm& algorithm = find_algorithm("geometric");
  for (int trial = 0; trial < 100; ++trial) {
    const Extents extents{whole(random, 1, 20), whole(random, 1, 20)};
    const int most_subsets = trial % 2 == 0 ? 0 : 256;
    tests::Units units;
    std::vector<double> latency_s;
    for (int i = whole(random, 1, 5); i > 0; --i) {
      units.add(tests::random_model(random, tests::Kind::constant, 400.0));
      latency_s.push_back(uniform(random, 0.0, 1.0) * units.models.back()->time_s(100.0));
    }
    const RectangleCost cost = wires(latency_s, trial % 3 == 0 ? 0.0 : 0.1 * latency_s.front());
    const CostedColumns found = communication_aware(extents, units.models, algorithm, cost, most_subsets);
    CAPTURE(trial, extents.rows, extents.columns, units.models.size());
    REQUIRE(tests::sum(blocks_of(found.partition)) == extents.rows * extents.columns);
    REQUIRE(found.total_s() == total_s(found.partition, units.models, cost));
    REQUIRE(found.total_s() <= least_total_s(extents, units.models, algorithm, cost));
    // Without costs it is the algorithm itself.
    const RectangleCost free = wires(std::vector<double>(units.models.size(), 0.0));
    REQUIRE(communication_aware(extents, units.models, algorithm, free).total_s() <=
            least_total_s(extents, units.models, algorithm, free));
  }
}

TEST_CASE("a unit is left out where its communication costs more than it gains, by an exhaustive search and a greedy") {
  tests::Units units;
  for (const double speed : {100.0, 100.0, 50.0}) units.add(std::make_unique<models::ConstantModel>(speed));
  const int most_subsets = GENERATE(0, 256);
  // 30 x 40 blocks take 6 s by two units, 4.8 s by three.
  for (const auto& [latency_s, takes_part] : {std::pair{0.5, true}, {2.0, true}, {20.0, false}}) {
    CAPTURE(latency_s, most_subsets);
    const CostedColumns found = communication_aware({30, 40}, units.models, find_algorithm("geometric"),
                                                    wires({0.0, 0.0, latency_s}), most_subsets);
    CHECK((found.communication_s[2] > 0.0) == takes_part);
    if (!takes_part) CHECK(blocks_of(found.partition) == Blocks{600, 600, 0});
    CHECK(found.total_s() <= 6.0);
  }
}

TEST_CASE("limits are kept, and units that the others cannot do without stay") {
  tests::Units units;
  units.add(std::make_unique<models::ConstantModel>(100.0, 60.0));
  units.add(std::make_unique<models::ConstantModel>(1.0));
  const CostedColumns found =
      communication_aware({10, 10}, units.models, find_algorithm("geometric"), wires({0.0, 1e6}));
  CHECK(blocks_of(found.partition)[0] <= 60);
  CHECK(blocks_of(found.partition)[1] > 0);
}

}  // namespace steelyard::test_column
