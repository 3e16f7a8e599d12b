#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <numeric>

#include "partition/numerical.hpp"
#include "tests/models/random_models.hpp"

namespace steelyard::test_common_time {

using namespace steelyard::partition;
using tests::Kind;
using tests::Random;
using tests::whole;

namespace {

struct Problem {
  tests::Units units;
  std::vector<TimeProfile> owned;
  std::vector<const TimeProfile*> profiles;
  double longest_s = 0.0;
  int total;

  Problem(Random& random, Kind kind) : total(whole(random, 1, 400)) {
    const int count = whole(random, 1, 8);
    owned.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      units.add(random_model(random, kind, 1.5 * total / count));
      profiles.push_back(&owned.emplace_back(*units.models.back(), total));
      longest_s = std::max(longest_s, owned.back().longest_s());
    }
  }

  std::int64_t sum_within(double time_s) const {
    std::int64_t sum = 0;
    for (const TimeProfile* profile : profiles) sum += profile->largest_within(time_s, 0, profile->capacity());
    return sum;
  }
};

}  // namespace

TEST_CASE("the common time lies between neighbouring numbers or where the sizes sum to the total") {
  Random random(1);
  for (int trial = 0; trial < 300; ++trial) {
    const Problem problem(random, trial % 2 == 0 ? Kind::increasing_time : Kind::as_measured);
    const auto solved = solve_common_time(problem.total, problem.profiles, problem.longest_s);
    REQUIRE(solved);
    const auto sum = std::accumulate(solved->units.begin(), solved->units.end(), std::int64_t{0});
    REQUIRE(sum == problem.sum_within(solved->time_s));
    REQUIRE(sum >= problem.total);
    if (sum == problem.total) continue;
    REQUIRE(std::nextafter(solved->before_s, solved->time_s) == solved->time_s);
    REQUIRE(problem.sum_within(solved->before_s) < problem.total);
  }
}

TEST_CASE("there is no common time within one that does not suffice") {
  Random random(2);
  for (int trial = 0; trial < 100; ++trial) {
    const Problem problem(random, Kind::increasing_time);
    const auto solved = solve_common_time(problem.total, problem.profiles, problem.longest_s);
    double makespan_s = 0.0;
    for (std::size_t i = 0; i < solved->units.size(); ++i) {
      makespan_s = std::max(makespan_s, problem.profiles[i]->time_s(solved->units[i]));
    }
    CHECK(solve_common_time(problem.total, problem.profiles, makespan_s));
    CHECK_FALSE(solve_common_time(problem.total, problem.profiles, std::nextafter(makespan_s, 0.0)));
  }
}

TEST_CASE("a split by common times is as fast as its bound wherever there is one") {
  Random random(3);
  int found = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const Problem problem(random, Kind::as_measured);
    double least_s = 0.0;
    const auto split = split_by_common_times(problem.total, problem.profiles, problem.longest_s, least_s);
    if (!split) continue;
    ++found;
    REQUIRE(std::accumulate(split->begin(), split->end(), std::int64_t{0}) == problem.total);
    for (std::size_t i = 0; i < split->size(); ++i) REQUIRE(problem.profiles[i]->time_s((*split)[i]) <= least_s);
  }
  CHECK(found > 200);
}

}  // namespace steelyard::test_common_time
