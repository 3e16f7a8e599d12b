#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <numeric>
#include <random>

#include "core/base/errors.hpp"
#include "partition/slices.hpp"

namespace steelyard::test_slices {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using namespace steelyard::partition;
using Counts = std::vector<std::int64_t>;

namespace {

/// Many of them empty, so that neighbours have to be looked for.
Counts random_counts(std::mt19937_64& random) {
  Counts counts(std::uniform_int_distribution<std::size_t>(0, 12)(random));
  for (auto& count : counts) {
    count = std::max<std::int64_t>(0, std::uniform_int_distribution<std::int64_t>(-4, 5)(random));
  }
  return counts;
}

}  // namespace

TEST_CASE("slices lie one after the other without gaps and cover the total") {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 500; ++trial) {
    const Counts counts = random_counts(random);
    const auto slices = make_slices(counts);
    REQUIRE(slices.size() == counts.size());
    std::int64_t next = 0;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      REQUIRE(slices[i].first == next);
      REQUIRE(slices[i].count == counts[i]);
      REQUIRE(slices[i].end() == slices[i].first + slices[i].count);
      next = slices[i].end();
    }
    REQUIRE(next == std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  }
}

TEST_CASE("a neighbour is the nearest slice that is not empty") {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const Counts counts = random_counts(random);
    const auto slices = make_slices(counts);
    const int count = static_cast<int>(counts.size());
    const auto nearest = [&](int from, int step) {
      for (int i = from + step; i >= 0 && i < count; i += step) {
        if (counts[static_cast<std::size_t>(i)] > 0) return i;
      }
      return -1;
    };
    for (int i = 0; i < count; ++i) {
      const Slice& slice = slices[static_cast<std::size_t>(i)];
      REQUIRE(slice.above == (slice.count > 0 ? nearest(i, -1) : -1));
      REQUIRE(slice.below == (slice.count > 0 ? nearest(i, 1) : -1));
    }
  }
}

TEST_CASE("a slice is the neighbour of its neighbours and touches them") {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 500; ++trial) {
    const auto slices = make_slices(random_counts(random));
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (slices[i].below >= 0) {
        const Slice& below = slices[static_cast<std::size_t>(slices[i].below)];
        REQUIRE(below.above == static_cast<int>(i));
        REQUIRE(below.first == slices[i].end());
      }
      if (slices[i].above >= 0) {
        REQUIRE(slices[static_cast<std::size_t>(slices[i].above)].below == static_cast<int>(i));
      }
    }
  }
}

TEST_CASE("empty slices have no neighbours and are nobody's") {
  const auto slices = make_slices(Counts{0, 3, 0, 0, 2, 0});
  for (const std::size_t empty : {0U, 2U, 3U, 5U}) {
    CHECK(slices[empty].above == -1);
    CHECK(slices[empty].below == -1);
  }
  CHECK(slices[1].above == -1);
  CHECK(slices[1].below == 4);
  CHECK(slices[4].above == 1);
  CHECK(slices[4].below == -1);
}

TEST_CASE("no slices or one slice have no neighbours") {
  CHECK(make_slices({}).empty());
  const auto slices = make_slices(Counts{5});
  REQUIRE(slices.size() == 1);
  CHECK(slices[0].above == -1);
  CHECK(slices[0].below == -1);
  CHECK(slices[0].end() == 5);
}

TEST_CASE("a negative count is refused with its index and value") {
  CHECK_THROWS_MATCHES(make_slices(Counts{1, 2, -7}), InvalidArgument,
                       MessageMatches(ContainsSubstring("slice 2") && ContainsSubstring("-7")));
}

}  // namespace steelyard::test_slices
