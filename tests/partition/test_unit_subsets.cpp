#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "partition/unit_subsets.hpp"

namespace steelyard::test_unit_subsets {

using namespace steelyard::partition;

namespace {

struct LeftOutUnit {
  int unit;
  double gain_s;
};

struct Cost {
  double seconds = 0.0;
  std::vector<LeftOutUnit> left_out;
  double total_s() const { return seconds; }
};

}  // namespace

TEST_CASE("all subsets are all but the empty one, each once, everybody first") {
  for (std::size_t count = 1; count <= 8; ++count) {
    const std::vector<UnitSet> sets = all_subsets(count, 255);
    CHECK(sets.size() == (std::size_t{1} << count) - 1);
    CHECK(std::set<UnitSet>(sets.begin(), sets.end()).size() == sets.size());
    CHECK(sets.front().size() == count);
    for (const UnitSet& set : sets) CHECK(std::is_sorted(set.begin(), set.end()));
  }
  CHECK(all_subsets(9, 255).empty());
  CHECK(all_subsets(60, 1 << 30).empty());
}

TEST_CASE("taking a unit out and in again changes nothing") {
  const UnitSet set{1, 4, 7};
  CHECK(without(set, 4) == UnitSet{1, 7});
  CHECK(with(without(set, 4), 4) == set);
  CHECK(with(set, 7) == set);
  CHECK(without(set, 5) == set);
}

TEST_CASE("the best subset is found exhaustively and greedily, and says what the others would cost") {
  const std::vector<double> weight{5.0, -1.0, 2.0, -3.0};
  const auto cost = [&](const UnitSet& set) {
    Cost result{100.0, {}};
    for (const std::size_t unit : set) result.seconds -= weight[unit];
    return result;
  };
  for (const int most : {0, 100}) {
    const Cost best = best_subset<Cost>(
        4, most, [](const UnitSet&) { return true; }, cost);
    CHECK(best.seconds == 93.0);
    REQUIRE(best.left_out.size() == 2);
    CHECK(best.left_out[0].unit == 1);
    CHECK(best.left_out[0].gain_s == 1.0);
    CHECK(best.left_out[1].unit == 3);
    CHECK(best.left_out[1].gain_s == 3.0);
  }
}

TEST_CASE("sets that cannot do the work are not asked") {
  const auto feasible = [](const UnitSet& set) { return set.size() > 1; };
  const Cost best = best_subset<Cost>(3, 100, feasible, [&](const UnitSet& set) {
    CHECK(feasible(set));
    return Cost{static_cast<double>(set.size()), {}};
  });
  CHECK(best.seconds == 2.0);
}

}  // namespace steelyard::test_unit_subsets
