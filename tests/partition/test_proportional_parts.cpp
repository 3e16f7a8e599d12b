#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "partition/proportional.hpp"
#include "partition/rectangles/rectangle.hpp"
#include "tests/partition/random_areas.hpp"

namespace steelyard::test_proportional_parts {

using namespace steelyard::partition;
using tests::Random;
using tests::whole;
using Parts = std::vector<std::int64_t>;

namespace {

std::vector<double> random_seconds(Random& random, std::size_t count) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < count; ++i) seconds.push_back(std::exp(tests::uniform(random, -2, 2)));
  return seconds;
}

double longest(const Parts& parts, const std::vector<double>& seconds) {
  double time_s = 0.0;
  for (std::size_t i = 0; i < parts.size(); ++i) time_s = std::max(time_s, static_cast<double>(parts[i]) * seconds[i]);
  return time_s;
}

}  // namespace

TEST_CASE("proportional parts sum exactly to the total and lie within one of their quotas") {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<double> shares = tests::random_areas(random, whole(random, 1, 40));
    const std::int64_t total = trial % 2 == 0 ? whole(random, 0, 100) : whole(random, 0, 2000000000);
    const Parts parts = proportional_parts(total, shares, random_seconds(random, shares.size()));
    REQUIRE(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}) == total);
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const double quota = static_cast<double>(total) * shares[i] / sum;
      REQUIRE(std::abs(static_cast<double>(parts[i]) - quota) < 1.0 + 1e-11 * quota);
      if (shares[i] == 0.0) REQUIRE(parts[i] == 0);
    }
  }
}

TEST_CASE("no other rounding of the quotas ends earlier") {
  Random random(2);
  for (int trial = 0; trial < 400; ++trial) {
    const std::vector<double> shares = tests::random_areas(random, whole(random, 1, 8));
    const std::vector<double> seconds = random_seconds(random, shares.size());
    const std::int64_t total = whole(random, 1, 50);
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    double least = std::numeric_limits<double>::infinity();
    Parts parts(shares.size());
    const std::function<void(std::size_t, std::int64_t)> place = [&](std::size_t i, std::int64_t left) {
      if (i == parts.size()) {
        if (left == 0) least = std::min(least, longest(parts, seconds));
        return;
      }
      const double quota = static_cast<double>(total) * shares[i] / sum;
      for (parts[i] = static_cast<std::int64_t>(std::floor(quota + 1e-9)); static_cast<double>(parts[i]) < quota + 1;
           ++parts[i]) {
        if (shares[i] > 0.0 || parts[i] == 0) place(i + 1, left - parts[i]);
      }
    };
    place(0, total);
    REQUIRE(longest(proportional_parts(total, shares, seconds), seconds) <= least);
  }
}

TEST_CASE("whole quotas are met exactly") {
  Random random(3);
  for (int trial = 0; trial < 1000; ++trial) {
    Parts wanted;
    std::vector<double> shares;
    for (int i = whole(random, 1, 30); i > 0; --i) {
      wanted.push_back(whole(random, 1, 1000000));
      shares.push_back(static_cast<double>(wanted.back()) * 0.1);
    }
    const std::int64_t total = std::accumulate(wanted.begin(), wanted.end(), std::int64_t{0});
    REQUIRE(proportional_parts(total, shares, random_seconds(random, shares.size())) == wanted);
  }
}

TEST_CASE("equal shares differ by one at most, the lower index first") {
  CHECK(proportional_parts(8, std::vector<double>(3, 0.2), std::vector<double>(3, 5.0)) == Parts{3, 3, 2});
}

}  // namespace steelyard::test_proportional_parts
